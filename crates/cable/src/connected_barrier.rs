//! `ConnectedBarrier`: how many users are up, round by round, and how many sockets are open: what the users of all workers share.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use stdx::Nanos;

/// How many users are up.
#[derive(Debug)]
pub(crate) struct ConnectedBarrier {
    users: u32,
    /// Users of other machines come up as well: when all are, others say.
    is_shared: bool,
    /// Rounds in which all our users were up.
    reached: AtomicU32,
    rounds: Box<[Round]>,
    open: AtomicU32,
    open_most: AtomicU32,
}

#[derive(Debug)]
struct Round {
    /// Users that are up, or were given up.
    settled: AtomicU32,
    /// When the last was; [`Nanos::MAX`] before.
    up_at: AtomicU64,
}

impl ConnectedBarrier {
    /// A barrier with no user connected.
    pub(crate) fn new(users: u32, rounds: u32, is_shared: bool) -> Self {
        let round = |_| Round { settled: AtomicU32::new(0), up_at: AtomicU64::new(u64::MAX) };
        Self {
            users,
            is_shared,
            reached: AtomicU32::new(0),
            rounds: (0..rounds).map(round).collect(),
            open: AtomicU32::new(0),
            open_most: AtomicU32::new(0),
        }
    }

    /// How many rounds there are.
    pub(crate) fn rounds(&self) -> u32 {
        self.rounds.len() as u32
    }

    /// A user is up in a round, or given up; called once for each user and round.
    pub(crate) fn settle(&self, round: u32, now: Nanos) {
        let settled = &self.rounds[round as usize].settled;
        if settled.fetch_add(1, Ordering::Relaxed) + 1 < self.users {
            return;
        }
        self.reached.fetch_max(round + 1, Ordering::Release);
        if !self.is_shared {
            self.pass(round, now);
        }
    }

    /// All users are up in a round, those of other machines too.
    pub(crate) fn pass(&self, round: u32, at: Nanos) {
        if let Some(round) = self.rounds.get(round as usize) {
            round.up_at.store(at.0, Ordering::Release);
        }
    }

    /// Rounds in which all our users were up.
    pub(crate) fn reached(&self) -> u32 {
        self.reached.load(Ordering::Acquire)
    }

    /// Whether our users are up in a round and others may not be.
    pub(crate) fn is_waiting(&self, round: u32) -> bool {
        self.is_shared && self.reached() > round && self.up_at(round).is_none()
    }

    /// When the last user of a round was up.
    pub(crate) fn up_at(&self, round: u32) -> Option<Nanos> {
        let at = self.rounds[round as usize].up_at.load(Ordering::Acquire);
        (at != u64::MAX).then_some(Nanos(at))
    }

    /// A socket is open.
    pub(crate) fn note_open(&self) {
        let open = self.open.fetch_add(1, Ordering::Relaxed) + 1;
        self.open_most.fetch_max(open, Ordering::Relaxed);
    }

    /// A socket is open no more.
    pub(crate) fn note_closed(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    /// Sockets open now.
    pub(crate) fn open(&self) -> u32 {
        self.open.load(Ordering::Relaxed)
    }

    /// The most sockets open at once.
    pub(crate) fn open_most(&self) -> u32 {
        self.open_most.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_to_settle_says_when() {
        let barrier = ConnectedBarrier::new(2, 2, false);
        barrier.settle(0, Nanos(5));
        assert_eq!(barrier.up_at(0), None);
        barrier.settle(0, Nanos(9));
        assert_eq!((barrier.up_at(0), barrier.up_at(1)), (Some(Nanos(9)), None));
    }

    #[test]
    fn a_shared_barrier_waits_for_other_machines() {
        let barrier = ConnectedBarrier::new(1, 2, true);
        assert!(!barrier.is_waiting(0));
        barrier.settle(0, Nanos(5));
        assert_eq!((barrier.reached(), barrier.up_at(0), barrier.is_waiting(0)), (1, None, true));
        barrier.pass(0, Nanos(77));
        assert_eq!((barrier.up_at(0), barrier.is_waiting(0)), (Some(Nanos(77)), false));
        barrier.pass(9, Nanos(1));
    }

    #[test]
    fn open_sockets_are_counted() {
        let barrier = ConnectedBarrier::new(3, 1, false);
        barrier.note_open();
        barrier.note_open();
        barrier.note_closed();
        assert_eq!((barrier.open(), barrier.open_most()), (1, 2));
    }
}
