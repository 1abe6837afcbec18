//! `Clock`: the virtual time of the worker, which advances only by calls.

use stdx::Nanos;

use super::fault::{Span, end_of};

/// The worker's virtual time. It never shows a time within a stall: a worker that reads it later has slept through the stall.
#[derive(Debug)]
pub(super) struct Clock {
    now: Nanos,
    stalls: Vec<Span>,
}

impl Clock {
    /// A clock at 0 (or at the end of a stall that begins there).
    pub(super) fn new(stalls: Vec<Span>) -> Self {
        let now = end_of(&stalls, Nanos::ZERO);
        Self { now, stalls }
    }

    /// The time, without moving it.
    pub(super) const fn now(&self) -> Nanos {
        self.now
    }

    /// Goes on by the cost of a call. A stall that begins meanwhile freezes the worker in the middle of it.
    pub(super) fn spend(&mut self, cost: Nanos) {
        let ends = self.now.saturating_add(cost);
        let caught = self.stalls.iter().filter(|s| s.from > self.now && s.from <= ends);
        let lost = caught.fold(Nanos::ZERO, |sum, s| sum.saturating_add(s.len()));
        self.now = end_of(&self.stalls, ends.saturating_add(lost));
    }

    /// Sleeps until `at`; past times change nothing. A stall matters only if the worker wakes in it.
    pub(super) fn sleep_until(&mut self, at: Nanos) {
        self.now = end_of(&self.stalls, self.now.max(at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Nanos {
        Nanos::from_millis(n)
    }

    #[test]
    fn stalls_freeze_who_runs_and_who_wakes() {
        let stall = vec![Span { from: ms(10), to: ms(30) }];
        let mut asleep = Clock::new(stall.clone());
        asleep.sleep_until(ms(20));
        assert_eq!(asleep.now(), ms(30), "woken in the stall, up after it");
        let mut through = Clock::new(stall.clone());
        through.sleep_until(ms(40));
        assert_eq!(through.now(), ms(40), "slept through it");
        let mut busy = Clock::new(stall.clone());
        busy.sleep_until(ms(9));
        busy.spend(ms(2));
        assert_eq!(busy.now(), ms(31), "frozen in the middle of 2 ms of work");
        busy.sleep_until(ms(1));
        assert_eq!(busy.now(), ms(31), "time does not go back");
        assert_eq!(Clock::new(vec![Span { from: ms(0), to: ms(5) }]).now(), ms(5));
    }
}
