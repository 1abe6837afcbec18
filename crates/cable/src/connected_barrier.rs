//! `ConnectedBarrier`: how many users are up, round by round, and how many sockets are open: what the users of all workers share.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use stdx::Nanos;

/// How many users are up.
#[derive(Debug)]
pub(crate) struct ConnectedBarrier {
    users: u32,
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
    pub(crate) fn new(users: u32, rounds: u32) -> Self {
        let round = |_| Round { settled: AtomicU32::new(0), up_at: AtomicU64::new(u64::MAX) };
        Self {
            users,
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
        let round = &self.rounds[round as usize];
        if round.settled.fetch_add(1, Ordering::Relaxed) + 1 == self.users {
            round.up_at.store(now.0, Ordering::Release);
        }
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
        let barrier = ConnectedBarrier::new(2, 2);
        barrier.settle(0, Nanos(5));
        assert_eq!(barrier.up_at(0), None);
        barrier.settle(0, Nanos(9));
        assert_eq!((barrier.up_at(0), barrier.up_at(1)), (Some(Nanos(9)), None));
    }

    #[test]
    fn open_sockets_are_counted() {
        let barrier = ConnectedBarrier::new(3, 1);
        barrier.note_open();
        barrier.note_open();
        barrier.note_closed();
        assert_eq!((barrier.open(), barrier.open_most()), (1, 2));
    }
}
