//! Two labelled results against each other: is one slower, by how much, and may chance be ruled out?

use metrics::Histogram;

use crate::contrast::{Change, Measure, Rules, Run, changes, exclude};
use crate::stats::{Shift, Smirnov, Tally, hodges_lehmann, mann_whitney, smirnov};

/// What the shift and the ranks are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Each request, since there is one run of either or of both. Requests of one run depend on one another, so they do not
    /// say whether chance may be ruled out.
    Request,
    /// Each run, by its median.
    Run,
}

/// How `b` compares with `a`. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// What the ranks and the shift are of.
    pub unit: Unit,
    /// Values of that unit in `a` and in `b`.
    pub counts: (u64, u64),
    /// Pairs of a value of `a` and a value of `b` in which the one of `b` is greater; ties count by half.
    pub u: f64,
    /// The chance that a value of `b` is greater than one of `a`, 0 to 1.
    pub superiority: f64,
    /// By how much `b` is slower. Its interval is that of a comparison's median; `None` below three runs of either.
    pub shift: Shift,
    /// The p of the medians on their own, and adjusted as a comparison adjusts it; `None` below three runs of either.
    pub p: Option<(f64, f64)>,
    /// How far apart the requests' distributions are, all runs of a label together. Its p-value is of requests, whatever
    /// the unit.
    pub distance: Smirnov,
}

/// Compares the runs of two labels, one histogram a run, as one of so many comparisons; runs without a hit are left out. `None`
/// where nothing is left of either.
#[must_use]
pub fn compare(a: &[Histogram], b: &[Histogram], comparisons: usize) -> Option<Comparison> {
    let (pooled_a, pooled_b) = (pooled(a), pooled(b));
    let (one, other) = (Tally::of_histogram(&pooled_a), Tally::of_histogram(&pooled_b));
    let distance = smirnov(&one, &other)?;
    let (medians_a, medians_b) = (medians(a), medians(b));
    let (runs_a, runs_b) = (Tally::of_values(&medians_a), Tally::of_values(&medians_b));
    let repeated = runs_a.count() > 1 && runs_b.count() > 1;
    let (unit, one, other) =
        if repeated { (Unit::Run, &runs_a, &runs_b) } else { (Unit::Request, &one, &other) };
    let (ranks, mut shift) = (mann_whitney(one, other)?, hodges_lehmann(one, other)?);
    let judged = median_change(a, b, comparisons)?;
    if repeated {
        // Changes are ratios: of what `a` has on average, they are times.
        shift.estimate = judged.change * judged.centres.0;
    }
    let time = |change: f64| change * judged.centres.0;
    shift.interval = judged.interval.map(|(low, high)| (time(low), time(high)));
    Some(Comparison {
        unit,
        counts: (one.count(), other.count()),
        u: ranks.u,
        superiority: ranks.superiority,
        shift,
        p: judged.interval.map(|_| (judged.p, judged.p_family)),
        distance,
    })
}

/// How the median changed, judged beside the other measures of response times: throughput and errors are not known here, and figures
/// that do not vary take no share of the level.
fn median_change(a: &[Histogram], b: &[Histogram], comparisons: usize) -> Option<Change> {
    let run =
        |times: &Histogram| Run { times: times.clone(), throughput_per_s: 1.0, ..Run::default() };
    let runs = |all: &[Histogram]| all.iter().map(run).collect::<Vec<_>>();
    let rules = Rules { comparisons, primary: Some(Measure::P50), ..Rules::default() };
    let mut both = [runs(a), runs(b)];
    exclude(&mut both);
    let changes = changes(&both[0], &both[1], &rules)?;
    changes.into_iter().find(|change| change.measure == Measure::P50)
}

/// All runs' hits together.
#[must_use]
pub fn pooled(runs: &[Histogram]) -> Histogram {
    let mut all = Histogram::default();
    runs.iter().for_each(|run| all.merge(run));
    all
}

/// The median of each run that has hits, as a comparison takes it.
fn medians(runs: &[Histogram]) -> Vec<f64> {
    let filled = runs.iter().filter(|run| run.count() > 0);
    filled.map(|run| run.quantile(0.5).0 as f64).collect()
}

#[cfg(test)]
mod tests {
    use stdx::{Nanos, Prng};

    use super::*;
    use crate::contrast;

    /// A run with slow and quick stretches: requests depend on one another.
    fn run(seed: u64, slower_ms: u64) -> Histogram {
        let mut rng = Prng::new(seed);
        let mut times = Histogram::new();
        for _ in 0..40 {
            let mood = rng.exponential() * 20e6;
            for _ in 0..50 {
                times
                    .record(Nanos((mood + rng.exponential() * 2e6) as u64 + slower_ms * 1_000_000));
            }
        }
        times
    }

    fn runs(from: u64, count: u64, slower_ms: u64) -> Vec<Histogram> {
        (from..from + count).map(|seed| run(stdx::mix(5, seed), slower_ms)).collect()
    }

    #[test]
    fn runs_are_what_makes_an_alarm_honest() {
        let mut alarms = 0;
        for seed in 0..200 {
            let (a, b) = (runs(seed * 16, 6, 0), runs(seed * 16 + 8, 6, 0));
            let single = compare(&a[..1], &b[..1], 1).unwrap();
            let repeated = compare(&a, &b, 1).unwrap();
            assert_eq!((single.unit, repeated.unit), (Unit::Request, Unit::Run));
            assert_eq!((single.p, single.shift.interval), (None, None));
            alarms += u32::from(repeated.p.unwrap().0 <= 0.05);
        }
        assert!((1..=20).contains(&alarms), "{alarms} of 200, 10 expected");
    }

    #[test]
    fn a_slower_server_is_found_with_its_delay() {
        let found = compare(&runs(0, 6, 0), &runs(100, 6, 40), 1).unwrap();
        assert!(found.p.unwrap().1 < 0.05, "{found:?}");
        assert!((found.shift.estimate / 1e6 - 40.0).abs() < 8.0, "{found:?}");
        let (low, high) = found.shift.interval.unwrap();
        assert!(0.0 < low && low < found.shift.estimate && found.shift.estimate < high);
        assert_eq!(found.counts, (6, 6));
    }

    /// The overlay and the comparison of the same runs give one p and one interval.
    #[test]
    fn it_agrees_with_the_comparison_of_all_measures() {
        let run = |times: &Histogram| contrast::Run {
            times: times.clone(),
            throughput_per_s: 10.0,
            ..contrast::Run::default()
        };
        for (count, slower) in [(3, 10), (4, 5), (8, 2)] {
            let (a, b) = (runs(0, count, 0), runs(100, count, slower));
            let found = compare(&a, &b, 2).unwrap();
            let (all_a, all_b): (Vec<_>, Vec<_>) =
                (a.iter().map(run).collect(), b.iter().map(run).collect());
            let primary = Some(Measure::P50);
            let rules = contrast::Rules { comparisons: 2, primary, ..contrast::Rules::default() };
            let all = contrast::contrast(&all_a, &all_b, &rules).unwrap();
            let p50 = all.changes[1];
            assert_eq!(found.p, Some((p50.p, p50.p_family)));
            let ratio = found.shift.interval.unwrap().0 / p50.centres.0;
            assert!((ratio - p50.interval.unwrap().0).abs() < 1e-9, "{found:?} {p50:?}");
        }
    }

    #[test]
    fn too_few_runs_and_none() {
        for count in [1, 2] {
            let found = compare(&runs(0, count, 0), &runs(9, count, 40), 1).unwrap();
            assert_eq!((found.p, found.shift.interval), (None, None), "{count}");
        }
        assert_eq!(compare(&runs(0, 1, 0), &[Histogram::new()], 1), None);
        assert_eq!(compare(&[], &[], 1), None);
    }
}
