//! `BatchWait`: how long a wait gathers completions before it ends. To wake up costs about as much as a request, so many
//! completions in one wake-up are cheap; but the first of them is seen late by the time that it waited for the last. So a
//! wait gathers only where answers come so fast that it is over in a small part of the time that one answer takes:
//!
//! window = min(100 µs, round trip / share), round trip = awaited · spacing
//!
//! where `share` is the caller's choice, `awaited` is the number of sockets that wait for an answer, `spacing` the time between two answers, and the round
//! trip follows from both by Little's law.

use stdx::Nanos;

use super::ring::{AT_ONCE, WaitLimits};

/// The longest window.
const WINDOW_MAX: Nanos = Nanos::from_micros(100);
/// Answers expected within the window below which it is not worth its timer. So nothing is gathered where fewer than
/// `6 · share` are awaited.
const WANT_MIN: u64 = 6;
/// How long answers are counted before the time between them is known anew.
const COUNTED: Nanos = Nanos::MILLI;

/// How long waits gather completions.
#[derive(Debug)]
pub(super) struct BatchWait {
    /// The window is the round trip's part of one in so many; `None` gathers nothing.
    share: Option<u64>,
    /// The time between two answers, when last known.
    spacing: Nanos,
    /// Answers counted since then.
    answers: u64,
    since: Nanos,
}

impl BatchWait {
    pub(super) fn new(share: Option<u64>) -> Self {
        Self { share, spacing: Nanos::MAX, answers: 0, since: Nanos::ZERO }
    }

    /// An answer came.
    pub(super) fn count(&mut self) {
        self.answers += 1;
    }

    /// How to wait, at `now` and for `sleep` at most, while so many sockets await an answer.
    pub(super) fn wait_limits(
        &mut self,
        now: Nanos,
        sleep: Option<Nanos>,
        awaited: u32,
    ) -> WaitLimits {
        let Some(share) = self.share else { return AT_ONCE };
        let counted = now.saturating_sub(self.since);
        if counted >= COUNTED {
            self.spacing = counted / self.answers.max(1);
            (self.answers, self.since) = (0, now);
        }
        let round_trip = Nanos(self.spacing.0.saturating_mul(u64::from(awaited)));
        let window = WINDOW_MAX.min(round_trip / share);
        let want = window.0 / self.spacing.0.max(1);
        if want < WANT_MIN || sleep.is_some_and(|sleep| sleep <= window) {
            return AT_ONCE;
        }
        WaitLimits { want: want as u32, window }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a wait does after a millisecond with so many answers, while so many are awaited.
    fn check(answers: u64, awaited: u32, want: u32, window_us: u64) {
        let mut batch_wait = BatchWait::new(Some(8));
        (0..answers).for_each(|_| batch_wait.count());
        let gather = batch_wait.wait_limits(Nanos::MILLI, Some(Nanos::SECOND), awaited);
        let expected = WaitLimits { want, window: Nanos::from_micros(window_us) };
        assert_eq!(gather, expected, "{answers}/ms, {awaited} awaited");
    }

    #[test]
    fn only_a_flood_is_gathered() {
        check(0, 64, 1, 0);
        // A round trip of 64 ms has room enough, but one answer a millisecond is no flood.
        check(1, 64, 1, 0);
        check(20, 1, 1, 0);
        check(100, 8, 1, 0);
        check(55, 64, 1, 0);
        check(125, 64, 8, 64);
        check(125, 1_000, 12, 100);
        check(125, 15_000, 12, 100);
    }

    #[test]
    fn a_deadline_or_a_pace_is_more_urgent() {
        let mut batch_wait = BatchWait::new(Some(8));
        (0..125).for_each(|_| batch_wait.count());
        assert_eq!(batch_wait.wait_limits(Nanos::MILLI, Some(Nanos::from_micros(60)), 64), AT_ONCE);
        assert_ne!(batch_wait.wait_limits(Nanos::MILLI, None, 64), AT_ONCE);
        let mut never = BatchWait::new(None);
        (0..125).for_each(|_| never.count());
        assert_eq!(never.wait_limits(Nanos::MILLI, None, 64), AT_ONCE);
    }
}
