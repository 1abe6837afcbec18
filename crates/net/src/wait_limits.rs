//! `WaitLimits`: how long one wait gathers events before it ends. To wake up costs about as much as a request, so many events in one
//! wake-up are cheap; but the first of them is seen late by the time that it waited for the last. Whether that may be is the
//! caller's decision.

use stdx::Nanos;

/// How long a wait that has to sleep gathers events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitLimits {
    /// So many events end the wait at once; at least 1.
    pub want: u32,
    /// After this time, from the begin of the wait, a single event ends it.
    pub window: Nanos,
}

impl WaitLimits {
    /// The first event ends the wait.
    pub const AT_ONCE: Self = Self { want: 1, window: Nanos::ZERO };

    /// The same for a wait of `sleep` at most, where `awaited` sockets can have an event: more are not waited for, and a deadline is
    /// more urgent than what could be gathered.
    pub(crate) fn within(self, sleep: Option<Nanos>, awaited: u32) -> Self {
        let want = self.want.min(awaited);
        if want <= 1 || sleep.is_some_and(|sleep| sleep <= self.window) {
            return Self::AT_ONCE;
        }
        Self { want, ..self }
    }

    /// Whether a wait may end that has lasted so long, with so many events.
    pub(crate) fn are_met(self, events: usize, waited: Nanos) -> bool {
        events >= self.want as usize || (events > 0 && waited >= self.window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: WaitLimits = WaitLimits { want: 32, window: Nanos::from_micros(500) };

    fn check(sleep_us: Option<u64>, awaited: u32, want: u32) {
        let limits = SOME.within(sleep_us.map(Nanos::from_micros), awaited);
        let expected = if want == 1 { WaitLimits::AT_ONCE } else { WaitLimits { want, ..SOME } };
        assert_eq!(limits, expected, "{sleep_us:?} {awaited}");
    }

    #[test]
    fn no_more_is_waited_for_than_can_come() {
        check(None, 64, 32);
        check(None, 8, 8);
        check(None, 1, 1);
        check(None, 0, 1);
        assert_eq!(WaitLimits::AT_ONCE.within(None, 64), WaitLimits::AT_ONCE);
    }

    #[test]
    fn a_wait_ends_with_enough_or_when_its_window_does() {
        let (window, before) = (SOME.window, SOME.window - Nanos(1));
        assert!(SOME.are_met(32, Nanos::ZERO) && !SOME.are_met(31, before));
        assert!(SOME.are_met(1, window) && !SOME.are_met(0, window));
        assert!(WaitLimits::AT_ONCE.are_met(1, Nanos::ZERO));
        assert!(!WaitLimits::AT_ONCE.are_met(0, Nanos::SECOND));
    }

    #[test]
    fn a_deadline_is_more_urgent() {
        check(Some(501), 64, 32);
        check(Some(500), 64, 1);
        check(Some(0), 64, 1);
    }
}
