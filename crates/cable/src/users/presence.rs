//! `Presence`: how many of a worker's users are subscribed, and were at an earlier time.

use std::collections::VecDeque;

use stdx::Nanos;

/// The most times that are noted; with more of them each stands for a longer while.
const TIMES_MAX: usize = 4_096;
/// How long a time stands at least.
const WIDTH_MIN: Nanos = Nanos::from_millis(1);

/// How many users are subscribed.
#[derive(Debug)]
pub(super) struct Presence {
    live: u32,
    /// When those came that are there and came not long ago, in their order.
    recent: VecDeque<Nanos>,
    /// How many there were, from each time on.
    times: Vec<(Nanos, u32)>,
    width: Nanos,
}

impl Presence {
    /// No user has come yet.
    pub(super) fn new() -> Self {
        Self { live: 0, recent: VecDeque::new(), times: Vec::new(), width: WIDTH_MIN }
    }

    /// A user comes. Those that came before `old` are recent no more.
    pub(super) fn join(&mut self, now: Nanos, old: Nanos) {
        while self.recent.pop_front_if(|at| *at < old).is_some() {}
        self.recent.push_back(now);
        self.live += 1;
        self.note(now);
    }

    /// A user goes that came at `since`.
    pub(super) fn leave(&mut self, since: Nanos, now: Nanos) {
        let at = self.recent.partition_point(|came| *came < since);
        if self.recent.get(at) == Some(&since) {
            self.recent.remove(at);
        }
        self.live -= 1;
        self.note(now);
    }

    /// How many of those that are there came by this time, which is no older than what is recent.
    pub(super) fn since(&self, limit: Nanos) -> u32 {
        let later = self.recent.len() - self.recent.partition_point(|came| *came <= limit);
        self.live - later as u32
    }

    fn note(&mut self, now: Nanos) {
        if let Some((from, live)) = self.times.last_mut()
            && now < *from + self.width
        {
            *live = self.live;
            return;
        }
        if self.times.len() == TIMES_MAX {
            self.width = self.width * 2;
            let mut at = 0;
            self.times.retain(|_| {
                at += 1;
                at % 2 == 1
            });
        }
        self.times.push((now, self.live));
    }

    /// How many there were, from each time on.
    pub(super) fn take_times(&mut self) -> Vec<(Nanos, u32)> {
        std::mem::take(&mut self.times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn who_came_by_then_is_counted() {
        let mut presence = Presence::new();
        for at in [100, 200, 300] {
            presence.join(Nanos(at), Nanos::ZERO);
        }
        assert_eq!([50, 100, 250, 300].map(|at| presence.since(Nanos(at))), [0, 1, 2, 3]);
        presence.leave(Nanos(200), Nanos(310));
        assert_eq!([150, 250, 350].map(|at| presence.since(Nanos(at))), [1, 1, 2]);
        presence.join(Nanos(400), Nanos(350));
        assert_eq!(presence.since(Nanos(350)), 2, "those of before are there all the same");
        presence.leave(Nanos(100), Nanos(410));
        assert_eq!(presence.since(Nanos(400)), 2);
    }

    #[test]
    fn times_are_bounded() {
        let mut presence = Presence::new();
        for at in 0..20_000 {
            presence.join(Nanos(at * 200 * MS), Nanos(at * 200 * MS));
        }
        let times = presence.take_times();
        assert!(times.len() <= TIMES_MAX && times.len() > TIMES_MAX / 4, "{}", times.len());
        assert!(times.is_sorted());
        assert!(times.iter().all(|(from, live)| {
            let exact = from.0 / (200 * MS) + 1;
            u64::from(*live).abs_diff(exact) <= 64
        }));
    }
}
