//! `GhzReport`: the figures of a run as ghz reports them.

use grpc::Code;
use stdx::Nanos;

use super::observer::{Calls, Latencies};

/// The percentiles that are reported.
const PERCENTILES: [u64; 7] = [10, 25, 50, 75, 90, 95, 99];
/// The steps of the histogram.
const STEPS: usize = 10;

/// A step of the histogram: latencies up to `mark` that are above the step before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bucket {
    pub(super) mark: Nanos,
    pub(super) count: u64,
}

/// The figures of a run.
#[derive(Debug)]
pub(super) struct GhzReport<'a> {
    pub(super) calls: &'a Calls,
    pub(super) average: Nanos,
    pub(super) fastest: Nanos,
    pub(super) slowest: Nanos,
    pub(super) total: Nanos,
    pub(super) rps: f64,
    /// Percentages and latencies; none where no call counts.
    pub(super) percentiles: Vec<(u64, Nanos)>,
    pub(super) buckets: Vec<Bucket>,
    /// Statuses by their names in Go.
    pub(super) statuses: Vec<(String, u64)>,
}

impl<'a> GhzReport<'a> {
    /// The figures of these calls.
    pub(super) fn new(calls: &'a Calls, counted: Latencies) -> Self {
        let mut latencies: Vec<u64> = calls
            .details
            .iter()
            .filter(|detail| counted.have(detail.error))
            .map(|detail| detail.latency.0)
            .collect();
        latencies.sort_unstable();
        // Beyond the listed calls the histogram has all, to three digits.
        let is_whole = latencies.len() as u64 == calls.latencies.count();
        let percentile = |percent: u64| match is_whole {
            true => nearest_rank(&latencies, percent),
            false => calls.latencies.quantile(percent as f64 / 100.0),
        };
        let has_any = calls.latencies.count() > 0;
        let percentages = PERCENTILES.into_iter().filter(|_| has_any);
        let total_s = calls.ended.0 as f64 / 1e9;
        Self {
            average: Nanos((calls.sum_ns / u128::from(calls.count.max(1))) as u64),
            fastest: if has_any { calls.fastest } else { Nanos::ZERO },
            slowest: calls.slowest,
            total: calls.ended,
            rps: if total_s > 0.0 { calls.count as f64 / total_s } else { 0.0 },
            percentiles: percentages.map(|percent| (percent, percentile(percent))).collect(),
            buckets: buckets(&latencies, (calls.fastest, calls.slowest)),
            statuses: calls
                .statuses
                .iter()
                .map(|(n, count)| (Code(*n).go_name(), *count))
                .collect(),
            calls,
        }
    }
}

/// The latency that so many per cent do not exceed: `sorted[ceil(p/100 * n) - 1]`.
fn nearest_rank(sorted: &[u64], percent: u64) -> Nanos {
    let rank = (sorted.len() as u64 * percent).div_ceil(100).max(1) as usize;
    Nanos(sorted.get(rank - 1).copied().unwrap_or_default())
}

/// Steps of equal width from the fastest to the slowest.
fn buckets(sorted: &[u64], (fastest, slowest): (Nanos, Nanos)) -> Vec<Bucket> {
    if sorted.is_empty() {
        return Vec::new();
    }
    let width = (slowest.0 - fastest.0) as f64 / STEPS as f64;
    let mark = |step: usize| match step {
        STEPS => slowest,
        step => Nanos(fastest.0 + (width * step as f64) as u64),
    };
    let mut before = 0;
    let one = |step: usize| {
        let upto = sorted.partition_point(|latency| *latency <= mark(step).0);
        let count = (upto - before) as u64;
        before = upto;
        Bucket { mark: mark(step), count }
    };
    (0..=STEPS).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_and_steps_are_those_of_the_latencies() {
        let sorted: Vec<u64> = (1..=200).collect();
        assert_eq!(nearest_rank(&sorted, 10), Nanos(20));
        assert_eq!(nearest_rank(&sorted, 99), Nanos(198));
        assert_eq!(nearest_rank(&[7], 10), Nanos(7));
        let steps = buckets(&sorted, (Nanos(1), Nanos(200)));
        assert_eq!(steps.len(), 11);
        assert_eq!(steps.iter().map(|step| step.count).sum::<u64>(), 200);
        assert_eq!(steps[0], Bucket { mark: Nanos(1), count: 1 });
        assert_eq!(steps[10].mark, Nanos(200));
        let same = buckets(&[5, 5], (Nanos(5), Nanos(5)));
        assert_eq!((same.len(), same[0].count), (11, 2));
    }
}
