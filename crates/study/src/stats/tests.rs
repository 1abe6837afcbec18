//! Known tables, simulated truths, and how often the tests cry wolf.

use metrics::Histogram;
use proptest::prelude::*;
use stdx::{Nanos, Prng};

use super::*;

fn tally(values: &[f64]) -> Tally {
    Tally::of_values(values)
}

fn p(a: &[f64], b: &[f64]) -> f64 {
    mann_whitney(&tally(a), &tally(b)).unwrap().p
}

/// The first `count` whole numbers from `from`.
fn row(from: u32, count: u32) -> Vec<f64> {
    (from..from + count).map(f64::from).collect()
}

#[test]
fn exact_p_values_of_full_separation() {
    // Two of C(m + n, m) ways are as far apart: 2/20, 2/70, 2/252.
    for (size, ways) in [(3, 20.0), (4, 70.0), (5, 252.0)] {
        let found = p(&row(0, size), &row(100, size));
        assert!((found - 2.0 / ways).abs() < 1e-12, "{size}: {found}");
    }
    assert!((p(&[1.0, 2.0, 3.0, 4.0], &[3.5, 5.0, 6.0, 7.0]) - 4.0 / 70.0).abs() < 1e-12);
}

#[test]
fn critical_values_of_the_table() {
    // Two-sided 5 % critical values of U: 8 for 7 and 7 values, 23 for 10 and 10, 127 for 20 and 20.
    for (size, critical) in [(7u32, 8u32), (10, 23), (20, 127)] {
        let at = |u: u32| {
            // b is below all of a but for its last values, which make up exactly u pairs.
            let a: Vec<f64> = row(0, size).iter().map(|v| v * 10.0).collect();
            let (full, rest) = (u / size, u % size);
            let b = (0..size).map(|k| match k.cmp(&full) {
                std::cmp::Ordering::Less => 1e6 + f64::from(k),
                std::cmp::Ordering::Equal if rest > 0 => f64::from(rest) * 10.0 - 5.0,
                _ => -1.0 - f64::from(k),
            });
            let b: Vec<f64> = b.collect();
            let test = mann_whitney(&tally(&a), &tally(&b)).unwrap();
            assert_eq!((test.u, test.exact), (f64::from(u), true));
            test.p
        };
        assert!(at(critical) <= 0.05, "{size}: {}", at(critical));
        assert!(at(critical + 1) > 0.05, "{size}: {}", at(critical + 1));
    }
}

#[test]
fn ties_are_counted_by_half() {
    let test = mann_whitney(&tally(&[1.0, 2.0, 2.0]), &tally(&[2.0, 2.0, 3.0])).unwrap();
    assert_eq!((test.u, test.superiority), (7.0, 7.0 / 9.0));
    let by_force = brute_force(&[1.0, 2.0, 2.0, 2.0, 2.0, 3.0], 3, 7.0);
    assert!((test.p - by_force).abs() < 1e-12, "{} {by_force}", test.p);
    let same = tally(&[5.0; 40]);
    assert_eq!(mann_whitney(&same, &same).unwrap().p, 1.0);
}

/// Tries every way to choose `m` of the values for the first sample.
fn brute_force(values: &[f64], m: u32, u: f64) -> f64 {
    let count = values.len() as u32;
    let middle = f64::from(m * (count - m)) / 2.0;
    let (mut far, mut all) = (0.0, 0.0);
    for mask in (0u32..1 << count).filter(|mask| mask.count_ones() == m) {
        let of = |set: bool| {
            let chosen = (0..count).filter(move |at| (mask >> at & 1 == 1) == set);
            chosen.map(|at| values[at as usize]).collect::<Vec<f64>>()
        };
        let (a, b) = (of(true), of(false));
        let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (x, y)));
        let found: f64 = pairs
            .map(|(x, y)| {
                if y > x {
                    1.0
                } else if y == x {
                    0.5
                } else {
                    0.0
                }
            })
            .sum();
        all += 1.0;
        far += f64::from(u8::from((found - middle).abs() >= (u - middle).abs() - 1e-9));
    }
    far / all
}

#[test]
fn kolmogorovs_table() {
    for (x, share) in [(1.224, 0.10), (1.358, 0.05), (1.628, 0.01), (0.828, 0.4995)] {
        assert!((smirnov::tail(x) - share).abs() < 5e-4, "{x}: {}", smirnov::tail(x));
    }
    let (below, above) = (smirnov::tail(1.179_999), smirnov::tail(1.180_001));
    assert!((below - above).abs() < 1e-5, "the two series meet: {below} {above}");
    let apart = smirnov(&tally(&row(0, 30)), &tally(&row(100, 30))).unwrap();
    assert!(apart.distance == 1.0 && apart.p < 1e-10);
}

#[test]
fn shifts_of_small_samples() {
    let shift = hodges_lehmann(&tally(&[1.0, 2.0, 3.0]), &tally(&[11.0, 12.0, 14.0])).unwrap();
    assert_eq!((shift.estimate, shift.interval), (10.0, None));
    // U of 4 and 4 is 0 in one of 70 ways, 1.4 %: the interval is of all differences.
    let shift = hodges_lehmann(&tally(&row(0, 4)), &tally(&row(10, 4))).unwrap();
    assert!((shift.estimate - 10.0).abs() < 1e-9);
    let (low, high) = shift.interval.unwrap();
    assert!((low - 7.0).abs() < 1e-9 && (high - 13.0).abs() < 1e-9, "{low} {high}");
    assert_eq!(hodges_lehmann(&tally(&[]), &tally(&[1.0])), None);
}

/// A sample of response times: exponential, `shift` later.
fn sample(rng: &mut Prng, count: usize, shift: f64) -> Vec<f64> {
    (0..count).map(|_| rng.exponential() + shift).collect()
}

/// How many of `rounds` pairs of samples a test finds different at the 5 % level.
fn alarms(rounds: u64, sizes: (usize, usize), shift: f64, test: fn(&Tally, &Tally) -> f64) -> u64 {
    let mut found = 0;
    for seed in 0..rounds {
        let mut rng = Prng::new(stdx::mix(17, seed));
        let a = sample(&mut rng, sizes.0, 0.0);
        let b = sample(&mut rng, sizes.1, shift);
        found += u64::from(test(&tally(&a), &tally(&b)) <= 0.05);
    }
    found
}

fn by_ranks(a: &Tally, b: &Tally) -> f64 {
    mann_whitney(a, b).unwrap().p
}

fn by_distance(a: &Tally, b: &Tally) -> f64 {
    smirnov(a, b).unwrap().p
}

#[test]
fn false_alarms_are_as_frequent_as_stated() {
    // 1,000 pairs of one distribution each: 50 alarms are expected, with a deviation of 7.
    for (sizes, test) in
        [((300, 200), by_ranks as fn(&Tally, &Tally) -> f64), ((300, 200), by_distance)]
    {
        let found = alarms(1000, sizes, 0.0, test);
        assert!((26..=74).contains(&found), "{sizes:?}: {found} of 1,000");
    }
    // The exact test never cries wolf more often; of 5 and 5 runs its steps are coarse, 3.2 % at most.
    let found = alarms(1000, (5, 5), 0.0, by_ranks);
    assert!((12..=55).contains(&found), "{found} of 1,000");
}

#[test]
fn true_shifts_are_found() {
    assert!(alarms(200, (300, 300), 0.4, by_ranks) >= 195);
    assert!(alarms(200, (300, 300), 0.4, by_distance) >= 195);
    assert!(alarms(200, (6, 6), 5.0, by_ranks) >= 190);
}

#[test]
fn intervals_hold_the_true_shift() {
    for sizes in [(200, 150), (8, 8)] {
        let held = (0..500).filter(|&seed| {
            let mut rng = Prng::new(stdx::mix(23, seed));
            let a = sample(&mut rng, sizes.0, 0.0);
            let b = sample(&mut rng, sizes.1, 0.7);
            let shift = hodges_lehmann(&tally(&a), &tally(&b)).unwrap();
            shift.interval.is_some_and(|(low, high)| low <= 0.7 && 0.7 <= high)
        });
        let held = held.count();
        assert!((460..=495).contains(&held), "{sizes:?}: {held} of 500, 475 expected or more");
    }
}

#[test]
fn histograms_agree_with_their_values() {
    let mut rng = Prng::new(9);
    let mut draw = |shift: f64| {
        let values: Vec<f64> = sample(&mut rng, 3000, shift).iter().map(|v| v * 1e7).collect();
        let mut histogram = Histogram::new();
        values.iter().for_each(|&v| histogram.record(Nanos(v as u64)));
        (tally(&values), Tally::of_histogram(&histogram))
    };
    let ((a, ha), (b, hb)) = (draw(1.0), draw(1.03));
    let (exact, coarse) = (hodges_lehmann(&a, &b).unwrap(), hodges_lehmann(&ha, &hb).unwrap());
    assert!((exact.estimate - coarse.estimate).abs() < 2e4, "{exact:?} {coarse:?}");
    let (exact, coarse) = (mann_whitney(&a, &b).unwrap(), mann_whitney(&ha, &hb).unwrap());
    assert!((exact.superiority - coarse.superiority).abs() < 1e-3, "{exact:?} {coarse:?}");
    let (exact, coarse) = (smirnov(&a, &b).unwrap(), smirnov(&ha, &hb).unwrap());
    assert!((exact.distance - coarse.distance).abs() < 3e-3, "{exact:?} {coarse:?}");
    assert!((a.median() - ha.median()).abs() < 2e4);
}

proptest! {
    #[test]
    fn the_exact_test_is_that_of_brute_force(
        values in prop::collection::vec(0u8..6, 4..11),
        m in 1usize..4,
    ) {
        let values: Vec<f64> = values.into_iter().map(f64::from).collect();
        let (a, b) = values.split_at(m);
        let test = mann_whitney(&tally(a), &tally(b)).unwrap();
        prop_assert!((test.p - brute_force(&values, m as u32, test.u)).abs() < 1e-9);
    }

    #[test]
    fn changing_sides_changes_signs(
        a in prop::collection::vec(-50i32..50, 1..40),
        b in prop::collection::vec(-50i32..50, 1..40),
    ) {
        let (a, b) = (a.into_iter().map(f64::from), b.into_iter().map(f64::from));
        let (a, b) = (tally(&a.collect::<Vec<_>>()), tally(&b.collect::<Vec<_>>()));
        let (one, other) = (mann_whitney(&a, &b).unwrap(), mann_whitney(&b, &a).unwrap());
        prop_assert!((one.superiority + other.superiority - 1.0).abs() < 1e-9);
        prop_assert!((one.p - other.p).abs() < 1e-9 && (0.0..=1.0).contains(&one.p));
        let (one, other) = (hodges_lehmann(&a, &b).unwrap(), hodges_lehmann(&b, &a).unwrap());
        prop_assert!((one.estimate + other.estimate).abs() < 1e-9);
        let mut differences: Vec<f64> = Vec::new();
        for (x, m) in a.list() {
            for (y, n) in b.list() {
                differences.extend(std::iter::repeat_n(y - x, (m * n) as usize));
            }
        }
        prop_assert!((one.estimate - tally(&differences).median()).abs() < 1e-9);
    }
}
