//! `EventQueue`: what is going to happen in a world, in order of time; what falls on one instant keeps its order of entry.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::IpAddr;

use stdx::Nanos;

use crate::{IoFailure, Key};

/// A connection's number; it is its [`crate::Sock`]'s as well and never used twice.
pub(super) type ConnId = u64;

/// Something that happens at a time of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SimEvent {
    /// The server takes a connection.
    Accepted(ConnId),
    /// The worker's kernel learns that a connection is established.
    Connected(ConnId),
    /// The worker's kernel gives up a connection attempt.
    Refused(ConnId, Fault),
    /// The first segment under way arrives at the peer.
    ToPeer(ConnId),
    /// The first segment under way arrives at the worker.
    ToWorker(ConnId),
    /// The network has taken all that the peer gave for a connection.
    Drained(ConnId),
    /// The peer learns that a connection was reset.
    PeerLost(ConnId),
    /// A name is resolved, or not.
    Resolved(Key, Result<Vec<IpAddr>, String>),
    /// Another thread calls the waker.
    Woken,
}

/// Why a connection attempt fails in a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    Refused,
    TimedOut,
}

impl From<Fault> for IoFailure {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Refused => Self::Refused,
            Fault::TimedOut => Self::TimedOut,
        }
    }
}

/// What is going to happen. Each connection has at most a few entries: one per link, and what its opening needs.
#[derive(Debug, Default)]
pub(super) struct EventQueue {
    entries: BinaryHeap<Reverse<(Nanos, u64, SimEvent)>>,
    entered: u64,
}

impl EventQueue {
    /// Enters what happens at `at`, after all that was entered for the same time.
    pub(super) fn enter(&mut self, at: Nanos, event: SimEvent) {
        self.entered += 1;
        self.entries.push(Reverse((at, self.entered, event)));
    }

    /// When the next thing happens.
    pub(super) fn next_at(&self) -> Option<Nanos> {
        self.entries.peek().map(|entry| entry.0.0)
    }

    /// Takes the next thing.
    pub(super) fn take(&mut self) -> Option<(Nanos, SimEvent)> {
        self.entries.pop().map(|Reverse((at, _, event))| (at, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_then_entry_orders() {
        let mut event_queue = EventQueue::default();
        event_queue.enter(Nanos(2), SimEvent::Woken);
        event_queue.enter(Nanos(1), SimEvent::ToWorker(1));
        event_queue.enter(Nanos(1), SimEvent::Accepted(2));
        assert_eq!(event_queue.next_at(), Some(Nanos(1)));
        let order: Vec<_> = std::iter::from_fn(|| event_queue.take()).collect();
        let expect = [
            (Nanos(1), SimEvent::ToWorker(1)),
            (Nanos(1), SimEvent::Accepted(2)),
            (Nanos(2), SimEvent::Woken),
        ];
        assert_eq!(order, expect);
    }
}
