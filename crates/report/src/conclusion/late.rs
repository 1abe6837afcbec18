//! `Late`: the requests that waited, where half of them did not: a server that takes some before others, or a part of it.

use metrics::Histogram;
use stdx::Nanos;

/// The 95th percentile is so many times the median, ...
const TIMES_MIN: u64 = 10;
/// ... and as long.
const LONG_MIN: Nanos = Nanos::SECOND;

/// Requests that took long.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Late {
    /// Longer than this.
    pub(super) than: Nanos,
    /// Their share of all.
    pub(super) share: f64,
}

impl Late {
    /// Those that took more than half of the 95th percentile; `None` where most take about as long.
    pub(super) fn of(response: &Histogram) -> Option<Self> {
        let [half, most] = [0.5, 0.95].map(|q| response.quantile(q));
        let than = Nanos(most.0 / 2);
        let slow = response.count() - response.count_below(than);
        let share = slow as f64 / response.count().max(1) as f64;
        (most >= LONG_MIN && most.0 / TIMES_MIN >= half.0).then_some(Self { than, share })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_wait_beside_quick_ones_are_late() {
        let late = |slow: u64| {
            let mut response = Histogram::new();
            for n in 0..100 {
                response.record(Nanos::from_millis(if n < slow { 10_000 + 200 * n } else { 100 }));
            }
            Late::of(&response)
        };
        let one = late(24).expect("some wait");
        assert!((one.share - 0.24).abs() < 1e-9 && one.than < Nanos::from_secs(8), "{one:?}");
        assert_eq!(late(3), None);
        assert_eq!(late(80), None, "most of them wait");
    }
}
