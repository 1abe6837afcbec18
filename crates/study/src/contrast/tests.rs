//! Simulated truths: how often equal variants are called different, and how often known changes are found.

use stdx::{Nanos, Prng, mix};

use super::*;

/// A run of `requests`: log-normal times of 10 ms, with a level of its own (`noise` between runs), and slow and quick
/// stretches, so that its requests depend on one another.
fn run(seed: u64, requests: u64, noise: f64, slower: f64) -> Run {
    let mut rng = Prng::new(seed);
    let level = 1e7 * (1.0 + slower) * (noise * rng.normal()).exp();
    let mut times = Histogram::default();
    let mut mood = 1.0;
    for request in 0..requests {
        if request % 50 == 0 {
            mood = (0.05 * rng.normal()).exp();
        }
        times.record(Nanos((level * mood * (0.3 * rng.normal()).exp()) as u64));
    }
    // A closed loop of eight users.
    let throughput_per_s = 8e9 / (times.sum() as f64 / requests as f64);
    Run { times, throughput_per_s, ..Run::default() }
}

/// `count` runs with 1.5 % of noise between runs.
fn runs(seed: u64, count: u64, slower: f64) -> Vec<Run> {
    (0..count).map(|n| run(mix(seed, n), 2000, 0.015, slower)).collect()
}

fn finding(found: &Contrast, measure: Measure) -> Finding {
    found.changes.iter().find(|change| change.measure == measure).unwrap().finding
}

/// The finding for each measure, without the shift of each quantile and the distances, which take most of the time.
fn compare_runs(a: &[Run], b: &[Run]) -> Vec<Change> {
    let rules = Rules::default();
    changes(a, b, &rules).unwrap()
}

fn is_called_different(found: &[Change]) -> bool {
    let different = |change: &Change| matches!(change.finding, Finding::Better | Finding::Worse);
    found.iter().any(different)
}

/// Of 100 pairs of equal variants at most 5 % differ in any measure. If every change mattered, however small, 5 % would be
/// expected, and a test that keeps its level gives more than 10 of 100 for one seed of a hundred.
#[test]
fn equal_variants_are_hardly_ever_called_different() {
    for count in [3, 5, 10] {
        let (mut alarms, mut beyond_chance) = (0, 0);
        for pair in 0..100u64 {
            let variant = |at: u64| runs(mix(count, 2 * pair + at), count, 0.0);
            let found = compare_runs(&variant(0), &variant(1));
            alarms += u32::from(is_called_different(&found));
            beyond_chance += u32::from(found.iter().any(|change| change.p_family <= LEVEL));
        }
        assert!(alarms <= 5, "{count} runs: {alarms} of 100");
        assert!(beyond_chance <= 10, "{count} runs: {beyond_chance} of 100");
    }
}

/// Ten repeats with 1.5 % of log-normal noise between runs: 5 % is found in 95 of 100 pairs, 10 % in 99, in mean, median, 90th
/// percentile and throughput. The 99th percentile of 2000 requests is noisier by itself: in three of four, and in 99.
#[test]
fn known_changes_are_found() {
    for (slower, least, least_p99) in [(0.05, 95, 75), (0.10, 99, 99), (-0.05, 95, 75)] {
        let mut found = [0; 5];
        for pair in 0..100 {
            let (a, b) =
                (runs(mix(91, 2 * pair), 10, 0.0), runs(mix(91, 2 * pair + 1), 10, slower));
            let seen = compare_runs(&a, &b);
            let expect = if slower > 0.0 { Finding::Worse } else { Finding::Better };
            for (count, change) in found.iter_mut().zip(&seen) {
                *count += u32::from(change.finding == expect);
            }
        }
        let [mean, p50, p90, p99, throughput] = found;
        let enough = [mean, p50, p90, throughput].iter().all(|count| *count >= least);
        assert!(enough && p99 >= least_p99, "{slower}: {found:?} of 100");
    }
}

#[test]
fn a_change_comes_with_its_size_and_interval() {
    let found = contrast(&runs(1, 8, 0.0), &runs(2, 8, 0.08), &Rules::default()).unwrap();
    let mean = found.changes[0];
    let (low, high) = mean.interval.unwrap();
    assert!(low < 0.08 && 0.08 < high && low < mean.change && mean.change < high, "{mean:?}");
    assert!((0.005..0.04).contains(&mean.floor.unwrap()), "{mean:?}");
    assert_eq!(found.runs, (8, 8));
    let throughput = found.changes[4];
    assert!((throughput.change + 0.08 / 1.08).abs() < 0.02, "{throughput:?}");
    assert_eq!(throughput.finding, Finding::Worse);
    assert!(found.distance.p < 0.05 && found.spread.p > 0.01, "{found:?}");
    assert_eq!(found.shifts.len(), 20);
    for shift in &found.shifts {
        assert!((shift.change - 0.08).abs() < 0.04, "{shift:?}");
    }
}

#[test]
fn a_wider_spread_is_distinguished_from_a_later_level() {
    let wide = |seed: u64| {
        let mut times = Histogram::default();
        let mut rng = Prng::new(seed);
        (0..4000).for_each(|_| times.record(Nanos((1e7 * (0.4 * rng.normal()).exp()) as u64)));
        Run { times, throughput_per_s: 700.0, ..Run::default() }
    };
    let b: Vec<Run> = (0..8).map(wide).collect();
    let found = contrast(&runs(3, 8, 0.0), &b, &Rules::default()).unwrap();
    assert!(found.spread.p < 0.01 && found.spread.distance > 0.03, "{:?}", found.spread);
    let (first, last) = (found.shifts[0], found.shifts[19]);
    assert!(first.change < -0.05 && last.change > 0.05, "{first:?} {last:?}");
}

#[test]
fn steady_equal_runs_are_the_same() {
    let steady =
        |seed: u64| -> Vec<Run> { (0..10).map(|n| run(mix(seed, n), 2000, 0.002, 0.0)).collect() };
    let found = contrast(&steady(5), &steady(6), &Rules::default()).unwrap();
    for measure in [Measure::Mean, Measure::P50, Measure::Throughput, Measure::Errors] {
        assert_eq!(finding(&found, measure), Finding::Same, "{measure:?}: {found:?}");
    }
}

#[test]
fn single_runs_do_not_predict_the_next() {
    let found = contrast(&runs(1, 1, 0.0), &runs(2, 1, 3.0), &Rules::default()).unwrap();
    for change in &found.changes {
        assert_eq!((change.finding, change.interval), (Finding::CannotTell, None));
        assert_eq!((change.p, change.p_family), (1.0, 1.0));
        assert_eq!(change.floor, None);
    }
    assert!((found.changes[0].change - 3.0).abs() < 0.3);
    let three = contrast(&runs(1, 3, 0.0), &runs(2, 3, 3.0), &Rules::default()).unwrap();
    assert_eq!(
        finding(&three, Measure::Mean),
        Finding::Worse,
        "three of each show a change of 300 %"
    );
}

/// With one or two runs of either there is no interval, however large the change is.
#[test]
fn one_or_two_runs_of_either_are_not_judged() {
    let of = |a: u64, b: u64| contrast(&runs(1, a, 0.0), &runs(2, b, 3.0), &Rules::default());
    let cases =
        [((40, 1), false), ((8, 2), false), ((3, 3), true), ((5, 5), true), ((12, 3), true)];
    for ((a, b), expect) in cases {
        let found = of(a, b).unwrap();
        assert_eq!(found.is_enough(), expect, "{a} and {b}");
        let differs = finding(&found, Measure::Mean) == Finding::Worse;
        assert_eq!(differs, expect, "{a} and {b}: {found:?}");
        assert_eq!(found.changes[0].interval.is_some(), expect);
    }
}

/// Runs with such medians (ms), and errors in an order of their own.
fn runs_at(medians_ms: [f64; 4], errors: [f64; 4]) -> Vec<Run> {
    let run = |(median, errors): (f64, f64)| {
        let mut times = Histogram::default();
        times.record_n(Nanos((median * 1e6) as u64), 1000);
        Run { times, throughput_per_s: 50.0, errors, ..Run::default() }
    };
    medians_ms.into_iter().zip(errors).map(run).collect()
}

/// Four runs of each, 79 % apart, with a noise of 20 %: the interval says -85 to -69 %, and so does the verdict. Errors with an
/// order of their own are no reason to doubt the times.
#[test]
fn four_of_each_that_lie_far_apart_are_called_different() {
    let puma = runs_at([1.1, 0.9, 1.3, 1.0], [0.01, 0.03, 0.05, 0.07]);
    let nginx = runs_at([0.21, 0.28, 0.19, 0.25], [0.02, 0.04, 0.06, 0.08]);
    let found = contrast(&puma, &nginx, &Rules::default()).unwrap();
    let p50 = found.changes[1];
    assert_eq!(p50.finding, Finding::Better, "{p50:?}");
    let (low, high) = p50.interval.unwrap();
    assert!((-0.9..-0.7).contains(&low) && (-0.75..-0.5).contains(&high), "{p50:?}");
    assert_eq!(finding(&found, Measure::Errors), Finding::CannotTell);
}

/// Whatever the runs are, what excludes 0 and may matter is called different, what cannot matter the same, and nothing else either.
#[test]
fn the_verdict_never_contradicts_its_interval() {
    let rules = Rules::default();
    for pair in 0..200 {
        let count = 3 + pair % 6;
        let slower = [0.0, 0.02, 0.05, 0.3][pair as usize % 4];
        let noise = [0.002, 0.02, 0.1][pair as usize % 3];
        let side = |at: u64, slower| -> Vec<Run> {
            (0..count).map(|n| run(mix(mix(pair, at), n), 200, noise, slower)).collect()
        };
        for change in compare_runs(&side(0, 0.0), &side(1, slower)) {
            let (low, high) = change.interval.unwrap();
            let least = change.measure.least_change(&rules);
            let (inside, excludes_0) = (low >= -least && high <= least, low > 0.0 || high < 0.0);
            let expect = match (inside, excludes_0) {
                (true, _) => change.finding == Finding::Same,
                (false, true) => matches!(change.finding, Finding::Better | Finding::Worse),
                // What is equal in every run of both is the same.
                (false, false) if change.change == 0.0 && change.measure == Measure::Errors => {
                    change.finding == Finding::Same
                }
                (false, false) => change.finding == Finding::CannotTell,
            };
            assert!(expect, "{change:?}");
            if change.measure != Measure::Errors {
                assert_eq!(change.p_family <= LEVEL, excludes_0, "{change:?}");
            }
        }
    }
}

/// As many runs as were asked for decide in about half of the cases, and a quarter of them hardly ever.
#[test]
fn the_number_of_runs_that_are_missing_is_about_right() {
    let (a, b) = (runs(1, 4, 0.0), runs(2, 4, 0.015));
    let change = compare_runs(&a, &b)[1];
    assert_eq!(change.finding, Finding::CannotTell, "{change:?}");
    let needed = change.runs_needed.unwrap() as u64;
    assert!((5..40).contains(&needed), "{change:?}");
    let decided = |count: u64| {
        let one = |pair: &u64| {
            let (a, b) =
                (runs(mix(*pair, 1), count, 0.0), runs(mix(*pair, 2), count, change.change));
            compare_runs(&a, &b)[1].finding != Finding::CannotTell
        };
        (0..40u64).filter(one).count()
    };
    assert!(decided(2 * needed) >= 20, "{needed}: {} of 40", decided(2 * needed));
    assert!(decided((needed / 3).max(3)) <= 20, "{needed}");
    let clear = compare_runs(&runs(1, 4, 0.0), &runs(2, 4, 3.0))[1];
    assert_eq!((clear.finding, clear.runs_needed), (Finding::Worse, None));
    assert_eq!(compare_runs(&a[..1], &b)[1].runs_needed, None, "one run has no noise");
}

#[test]
fn errors_are_counted_by_their_difference() {
    let failing = |share: f64| move |run: Run| Run { errors: share, ..run };
    let with = |seed, share: f64| -> Vec<Run> {
        runs(seed, 6, 0.0).into_iter().map(failing(share)).collect()
    };
    let errors = |a: &[Run], b: &[Run]| contrast(a, b, &Rules::default()).unwrap().changes[5];
    let found = errors(&with(1, 0.0), &with(2, 0.02));
    assert_eq!(found.finding, Finding::Worse, "{found:?}");
    assert!((found.change - 0.02).abs() < 1e-12);
    assert_eq!(errors(&with(1, 0.02), &with(2, 0.0)).finding, Finding::Better);
    let clean = errors(&with(1, 0.0), &with(2, 0.0));
    assert_eq!(clean.finding, Finding::Same, "{clean:?}");
    let (low, high) = clean.interval.unwrap();
    assert!(low < 0.0 && (high - 3.0 / 12_000.0).abs() < 1e-9, "12,000 clean requests: {clean:?}");
}

#[test]
fn runs_without_requests_do_not_count() {
    let mut a = runs(1, 4, 0.0);
    a.push(Run::default());
    let found = contrast(&a, &runs(2, 4, 0.0), &Rules::default()).unwrap();
    assert_eq!(found.runs, (4, 4));
    let mut instant = Histogram::default();
    instant.record(Nanos::ZERO);
    let instant = Run { times: instant, ..a[0].clone() };
    assert_eq!([&a[0], &a[4], &instant].map(Run::counts), [true, false, false]);
    let found = contrast(&[instant, a[0].clone()], &a, &Rules::default()).unwrap();
    assert_eq!(found.runs, (1, 4));
    assert_eq!(contrast(&[Run::default()], &a, &Rules::default()), None);
    assert_eq!(contrast(&[], &[], &Rules::default()), None);
    let stuck = Run { throughput_per_s: 0.0, errors: 1.0, ..a[0].clone() };
    let found = contrast(&vec![stuck; 5], &runs(2, 5, 0.0), &Rules::default()).unwrap();
    assert_eq!(finding(&found, Measure::Throughput), Finding::Better);
}

#[test]
fn the_same_runs_and_seed_give_the_same_answer() {
    let (a, b) = (runs(1, 12, 0.0), runs(2, 12, 0.01));
    let again = || contrast(&a, &b, &Rules::default());
    assert_eq!(again(), again());
}

/// A figure that runs have besides their results is judged by the same rules.
#[test]
fn other_figures_are_judged_too() {
    let rules = Rules::default();
    let one = |a: &[f64], b: &[f64], better| {
        let some = |values: &[f64]| values.iter().copied().map(Some).collect();
        let values = FigureValues { a: some(a), b: some(b), better, scale: Scale::Ratio };
        compare_figures(&[values], &rules)[0]
    };
    let judge = |a: &[f64], b: &[f64], better| one(a, b, better).map(|found| found.finding);
    let (low, high) = ([100.0, 101.0, 102.0, 103.0], [120.0, 121.0, 122.0, 123.0]);
    assert_eq!(judge(&low, &high, Better::More), Some(Finding::Better));
    assert_eq!(judge(&low, &high, Better::Less), Some(Finding::Worse));
    assert_eq!(judge(&high, &low, Better::More), Some(Finding::Worse));
    assert_eq!(judge(&low, &high, Better::Neither), Some(Finding::Differs));
    assert_eq!(judge(&high, &low, Better::Neither), Some(Finding::Differs));
    assert_eq!(judge(&low, &low, Better::Neither), Some(Finding::CannotTell));
    assert_eq!(judge(&low, &low, Better::Less), Some(Finding::CannotTell));
    assert_eq!(judge(&[100.0; 5], &[100.1; 5], Better::Less), Some(Finding::Same));
    assert_eq!(judge(&[100.0; 5], &[100.1; 5], Better::Neither), Some(Finding::Same));
    // Beyond chance, and too little to matter.
    let (before, after) = ([100.0, 100.1, 100.2, 100.3], [101.0, 101.1, 101.2, 101.3]);
    let slight = one(&before, &after, Better::Neither).unwrap();
    assert!(slight.p_family <= LEVEL && slight.interval.unwrap().0 > 0.0, "{slight:?}");
    assert_eq!(slight.finding, Finding::Same, "{slight:?}");
    assert_eq!(judge(&low[..2], &high[..2], Better::More), Some(Finding::CannotTell));
    assert_eq!(judge(&low, &[], Better::More), None);
    let found = one(&low, &high, Better::More).unwrap();
    // A reader with a calculator gets the change from the two figures beside it.
    let (before, after) = found.centres;
    assert!((after / before - 1.0 - found.change).abs() < 1e-12, "{found:?}");
    assert!((found.change - 0.197).abs() < 0.01 && found.interval.is_some(), "{found:?}");
}

/// Twelve figures of equal variants: a difference that one figure on its own would show is not reported when all were compared.
#[test]
fn many_figures_make_chance_likelier() {
    let (mut apart_alone, mut apart_together, seeds) = (0, 0, 40);
    for seed in 0..seeds {
        let mut rng = Prng::new(seed);
        let mut values = || (0..6).map(|_| Some((0.1 * rng.normal()).exp())).collect();
        let mut figure = |_| FigureValues {
            a: values(),
            b: values(),
            better: Better::Less,
            scale: Scale::Ratio,
        };
        let figures: Vec<FigureValues> = (0..12).map(&mut figure).collect();
        let rules = Rules::default();
        let apart = |found: Option<FigureChange>| {
            matches!(found.unwrap().finding, Finding::Better | Finding::Worse)
        };
        apart_together += u64::from(compare_figures(&figures, &rules).into_iter().any(apart));
        let alone = |one: &FigureValues| compare_figures(std::slice::from_ref(one), &rules)[0];
        apart_alone += u64::from(figures.iter().map(alone).any(apart));
    }
    assert!(apart_together <= 5, "{apart_together} of {seeds}");
    assert!(apart_alone > 10, "{apart_alone} of {seeds}");
}

/// A run that lacks a figure does not count for it, and the others do.
#[test]
fn figures_that_some_runs_lack() {
    let some = |values: &[f64]| values.iter().copied().map(Some).collect::<Vec<_>>();
    let mut a = some(&[10.0, 10.1, 10.2, 10.3, 10.4]);
    let b = some(&[20.0, 20.1, 20.2, 20.3, 20.4]);
    a[1] = None;
    let values = |a, b| FigureValues { a, b, better: Better::Less, scale: Scale::Ratio };
    let silent = values(vec![None; 5], some(&[1.0; 5]));
    let found = compare_figures(&[values(a, b), silent], &Rules::default());
    let first = found[0].unwrap();
    assert!((first.centres.0 - 10.224).abs() < 0.001, "{first:?}");
    assert_eq!(first.finding, Finding::Worse);
    assert_eq!(found[1], None);
    assert!(compare_figures(&[], &Rules::default()).is_empty());
    let none = compare_figures(&[values(Vec::new(), some(&[1.0]))], &Rules::default());
    assert_eq!(none, [None]);
}

/// A figure that is 0, or any other number, in every run of both needs no more runs. How far it may be from that, the interval says.
#[test]
fn a_figure_that_is_equal_in_every_run_is_the_same() {
    let failing = |share: f64| move |run: Run| Run { errors: share, ..run };
    let with = |seed, (count, share): (u64, f64)| -> Vec<Run> {
        let runs = (0..count).map(|n| run(mix(seed, n), 40, 0.015, 0.0));
        runs.map(failing(share)).collect()
    };
    let rules = Rules { errors_min: 0.0002, ..Rules::default() };
    let errors = |a, b| changes(&with(1, a), &with(2, b), &rules).unwrap()[5];
    for share in [0.0, 0.25] {
        let found = errors((4, share), (6, share));
        assert_eq!((found.finding, found.runs_needed), (Finding::Same, None), "{found:?}");
    }
    let (low, high) = errors((4, 0.0), (4, 0.0)).interval.unwrap();
    assert!(low < -0.01 && high > 0.01, "120 clean requests leave room: {low} {high}");
    let few = errors((2, 0.0), (6, 0.0));
    assert_eq!(few.finding, Finding::CannotTell, "two runs decide nothing");
    assert_eq!(errors((6, 0.0), (6, 0.02)).finding, Finding::CannotTell, "one clean side has room");
}

/// One run that stands out tears means and medians apart: the percent is of the figures shown.
#[test]
fn changes_are_of_the_figures_beside_them() {
    let a = runs_at([10.0, 10.1, 10.2, 30.0], [0.0; 4]);
    let b = runs_at([11.0, 11.1, 50.0, 11.3], [0.0; 4]);
    let found = contrast(&a, &b, &Rules::default()).unwrap();
    let pairs = found.changes.iter().filter(|one| one.measure.scale() == Scale::Ratio);
    let pairs = pairs.map(|one| (one.centres, one.change));
    for (centres, change) in pairs.chain(found.shifts.iter().map(|one| (one.centres, one.change))) {
        assert!((centres.1 / centres.0 - 1.0 - change).abs() < 1e-9, "{centres:?} {change}");
    }
}
