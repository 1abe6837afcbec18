//! Two labelled results against each other: is one slower, by how much, and may chance be ruled out?

use metrics::Histogram;

use crate::stats::{MannWhitney, Shift, Smirnov, Tally, hodges_lehmann, mann_whitney, smirnov};

/// What was taken as drawn on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Each request, since there is one run of either or of both. Requests of one run depend on one another, so the p-values
    /// come out too small.
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
    /// Is `b` slower?
    pub ranks: MannWhitney,
    /// By how much.
    pub shift: Shift,
    /// How far apart the requests' distributions are, all runs of a label together. Its p-value is of requests, whatever
    /// the unit.
    pub distance: Smirnov,
}

/// Compares the runs of two labels, one histogram a run; runs without a hit are left out. `None` where nothing is left of
/// either.
#[must_use]
pub fn compare(a: &[Histogram], b: &[Histogram]) -> Option<Comparison> {
    let (pooled_a, pooled_b) = (pooled(a), pooled(b));
    let (one, other) = (Tally::of_histogram(&pooled_a), Tally::of_histogram(&pooled_b));
    let distance = smirnov(&one, &other)?;
    let (runs_a, runs_b) = (medians(a), medians(b));
    let repeated = runs_a.count() > 1 && runs_b.count() > 1;
    let (unit, a, b) =
        if repeated { (Unit::Run, &runs_a, &runs_b) } else { (Unit::Request, &one, &other) };
    let (ranks, shift) = (mann_whitney(a, b)?, hodges_lehmann(a, b)?);
    Some(Comparison { unit, counts: (a.count(), b.count()), ranks, shift, distance })
}

/// All runs' hits together.
#[must_use]
pub fn pooled(runs: &[Histogram]) -> Histogram {
    let mut all = Histogram::default();
    runs.iter().for_each(|run| all.merge(run));
    all
}

fn medians(runs: &[Histogram]) -> Tally {
    let filled = runs.iter().filter(|run| run.count() > 0);
    let medians: Vec<f64> = filled.map(|run| Tally::of_histogram(run).median()).collect();
    Tally::of_values(&medians)
}

impl Comparison {
    /// The least p-value that so many values can give at all, as the only comparison: above 0.05, no difference however large
    /// would be found.
    #[must_use]
    pub fn least_p(&self) -> f64 {
        least_p(self.counts)
    }
}

/// The least p-value that `m` values and `n` others can give: two of C(m + n, n) ways have all of one sample above all of the
/// other.
fn least_p((m, n): (u64, u64)) -> f64 {
    let ways = (1..=n).fold(1.0, |ways, k| ways * (m + k) as f64 / k as f64);
    (2.0 / ways).min(1.0)
}

/// The fewest runs of each label with which any of so many comparisons can give a p-value below 0.05, adjusted after Holm, and
/// the least it can be. Four for one comparison, five for two to six.
#[must_use]
pub fn runs_needed(comparisons: usize) -> (u64, f64) {
    let least = |runs: u64| (runs, least_p((runs, runs)) * comparisons as f64);
    // Each further run divides it by almost four.
    (2..).map(least).find(|(_, p)| *p < 0.05).expect("it goes to 0")
}

#[cfg(test)]
mod tests {
    use stdx::{Nanos, Prng};

    use super::*;

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
    fn repeats_are_what_makes_an_alarm_honest() {
        let (mut by_request, mut by_run) = (0, 0);
        for seed in 0..200 {
            let (a, b) = (runs(seed * 16, 6, 0), runs(seed * 16 + 8, 6, 0));
            let single = compare(&a[..1], &b[..1]).unwrap();
            let repeated = compare(&a, &b).unwrap();
            assert_eq!((single.unit, repeated.unit), (Unit::Request, Unit::Run));
            by_request += u32::from(single.ranks.p <= 0.05);
            by_run += u32::from(repeated.ranks.p <= 0.05);
        }
        assert!(by_request > 100, "one run's requests cry wolf: {by_request} of 200");
        assert!(by_run <= 20, "runs do not: {by_run} of 200, 8 expected");
    }

    #[test]
    fn a_slower_server_is_found_with_its_delay() {
        let found = compare(&runs(0, 6, 0), &runs(100, 6, 40)).unwrap();
        assert!(found.ranks.p < 0.01 && found.ranks.exact, "{found:?}");
        assert!((found.shift.estimate / 1e6 - 40.0).abs() < 6.0, "{found:?}");
        assert_eq!(found.counts, (6, 6));
    }

    #[test]
    fn too_few_runs_and_none() {
        let least = |count| compare(&runs(0, count, 0), &runs(9, count, 40)).unwrap().least_p();
        assert!((least(2) - 1.0 / 3.0).abs() < 1e-12 && (least(3) - 0.1).abs() < 1e-12);
        assert!((least(4) - 2.0 / 70.0).abs() < 1e-12);
        assert_eq!([1, 2, 6, 7].map(|comparisons| runs_needed(comparisons).0), [4, 5, 5, 6]);
        assert!((runs_needed(2).1 - 4.0 / 252.0).abs() < 1e-12);
        assert_eq!(compare(&runs(0, 1, 0), &[Histogram::new()]), None);
        assert_eq!(compare(&[], &[]), None);
    }
}
