//! `WorkBudget`: limits the time spent on making and ending connections before events are handled. Without it, answers would wait
//! for thousands of dials in a row, and the loop would stall.
//!
//! ```text
//! look at events ─▶ dial, shake hands, cut: 1 ms ─▶ handle events: 0.5 ms at least, or all there are ─▶ dial … ─▶ look again
//! ```
//!
//! Dials therefore take at most two thirds of the time while there are events, and all of it while there are none.

use stdx::Nanos;

/// The longest time of making and ending connections without a break.
const SLICE: Nanos = Nanos::MILLI;
/// The time of handling events after it; less if all events were handled.
const REST: Nanos = Nanos::from_micros(500);
/// For how long nothing is dialled after the system had no descriptor or port left: else dials would fail at once and be
/// repeated at once.
const PAUSE: Nanos = Nanos::MILLI;

/// Decides which work is next: to make and end connections, or to handle events.
#[derive(Debug, Default)]
pub(crate) struct WorkBudget {
    slice: Slice,
    /// Nothing is dialled before.
    paused_until: Nanos,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Slice {
    /// It begins with the next that wants it.
    #[default]
    Ready,
    /// It lasts until then.
    Until(Nanos),
    /// It is over; the next one begins then.
    Rest(Nanos),
}

impl WorkBudget {
    /// Events have been looked for.
    pub(crate) fn renew(&mut self) {
        self.slice = Slice::Ready;
    }

    /// Whether a connection may be made or ended now.
    pub(crate) fn allows(&mut self, now: Nanos) -> bool {
        match self.slice {
            Slice::Until(end) if now < end => return true,
            Slice::Rest(end) if now < end => return false,
            // What was begun last may have taken long: the others' time counts from now on.
            Slice::Until(_) => {
                self.slice = Slice::Rest(now + REST);
                return false;
            }
            Slice::Ready | Slice::Rest(_) => self.slice = Slice::Until(now + SLICE),
        }
        true
    }

    /// Whether a connection may be dialled now.
    pub(crate) fn allows_dial(&mut self, now: Nanos) -> bool {
        !self.is_paused(now) && self.allows(now)
    }

    /// The system has no descriptor or port left; gives whether that is news.
    pub(crate) fn pause(&mut self, now: Nanos) -> bool {
        let is_new = now >= self.paused_until;
        self.paused_until = now + PAUSE;
        is_new
    }

    /// Whether dials pause because no descriptor or port was left.
    pub(crate) fn is_paused(&self, now: Nanos) -> bool {
        now < self.paused_until
    }

    /// When the next dial may be, once events have been looked for.
    pub(crate) fn next_dial(&self, now: Nanos) -> Nanos {
        self.paused_until.max(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Nanos = Nanos::from_micros(100);

    #[test]
    fn two_thirds_of_the_time_at_most() {
        let (mut work_budget, mut now, mut dials) = (WorkBudget::default(), Nanos::SECOND, 0);
        for _ in 0..1_500 {
            // Either a dial or an event, which takes as long.
            dials += u32::from(work_budget.allows(now));
            now += STEP;
        }
        assert!((950..=1_000).contains(&dials), "{dials}");
    }

    #[test]
    fn all_the_time_where_there_are_no_events() {
        let (mut work_budget, mut now) = (WorkBudget::default(), Nanos::SECOND);
        for _ in 0..1_500 {
            if !work_budget.allows(now) {
                work_budget.renew();
                assert!(work_budget.allows(now), "nobody else wants it");
            }
            now += STEP;
        }
    }

    #[test]
    fn one_long_dial_is_followed_by_a_rest() {
        let mut work_budget = WorkBudget::default();
        assert!(work_budget.allows(Nanos::ZERO));
        assert!(!work_budget.allows(Nanos::SECOND));
        assert!(!work_budget.allows(Nanos::SECOND + REST - Nanos(1)));
        assert!(work_budget.allows(Nanos::SECOND + REST));
    }

    #[test]
    fn what_fails_for_want_of_descriptors_is_not_tried_at_once() {
        let (mut work_budget, now) = (WorkBudget::default(), Nanos::SECOND);
        assert!(work_budget.allows_dial(now) && work_budget.pause(now));
        assert!(!work_budget.pause(now + STEP), "it is known");
        work_budget.renew();
        assert!(
            !work_budget.allows_dial(now + PAUSE) && work_budget.allows(now + PAUSE),
            "others go on"
        );
        let next = work_budget.next_dial(now + STEP);
        assert_eq!(next, now + STEP + PAUSE);
        assert!(work_budget.allows_dial(next));
    }
}
