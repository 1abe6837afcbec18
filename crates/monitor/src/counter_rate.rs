//! `CounterRate`: a counter of the kernel's as a flow per second.

use stdx::Nanos;

/// A counter as it was last seen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CounterRate {
    last: Option<(u64, Nanos)>,
}

impl CounterRate {
    /// How much the counter grew per second since it was last seen. Nothing the first time, nor where it went backwards
    /// (it was reset, or it wrapped) or no time passed.
    pub(crate) fn per_s(&mut self, count: u64, now: Nanos) -> Option<f64> {
        let (before, then) = self.last.replace((count, now))?;
        let grown = count.checked_sub(before)?;
        let passed = now.saturating_sub(then).as_secs_f64();
        (passed > 0.0).then(|| grown as f64 / passed)
    }

    /// The same of a counter that may be missing.
    pub(crate) fn of(&mut self, count: Option<u64>, now: Nanos) -> Option<f64> {
        self.per_s(count?, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_needs_two_looks_and_time_between_them() {
        let mut rate = CounterRate::default();
        let cases = [
            (100, 1_000, None),
            (150, 1_500, Some(100.0)),
            (150, 1_500, None),
            (10, 2_000, None),
            (12, 4_000, Some(1.0)),
            (u64::MAX, 3_000, None),
        ];
        for (count, ms, expected) in cases {
            assert_eq!(rate.per_s(count, Nanos::from_millis(ms)), expected, "{count} at {ms}");
        }
        assert_eq!(rate.of(None, Nanos::from_secs(9)), None);
    }
}
