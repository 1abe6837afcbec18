//! `Conn`: both ends of one simulated connection and the links between them.

use std::collections::VecDeque;

use stdx::Nanos;

use super::link::{Link, Toward};
use crate::{IoFailure, Key, Ready};

/// How far the worker's end is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// No answer yet.
    Connecting,
    /// It failed; the worker has not been notified yet.
    Refused,
    /// It stands.
    Open,
    /// The worker closed it, or was notified that it was refused.
    Closed,
}

/// How far the peer's end is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PeerEnd {
    /// The peer knows nothing of it yet.
    Unknown,
    /// The peer has it under this number.
    Open(Key),
    /// The peer closed it or knows that it is closed.
    Closed,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Conn {
    pub(super) key: Key,
    pub(super) stage: Stage,
    /// Which host of the world it leads to.
    pub(super) host: usize,
    pub(super) peer_end: PeerEnd,
    /// From the worker to the peer.
    pub(super) up: Link,
    /// From the peer to the worker.
    pub(super) down: Link,
    /// Arrived at the worker, not yet read.
    pub(super) inbox: VecDeque<u8>,
    /// When the last of the inbox arrived.
    pub(super) arrived: Nanos,
    /// The peer's end has arrived; it follows the inbox.
    pub(super) ended: bool,
    /// The connection failed.
    pub(super) failure: Option<IoFailure>,
    /// A `send` found too little room: report when there is some.
    pub(super) wants_room: bool,
    /// What the worker does not know yet; `Some` while a notice of it is waiting.
    pub(super) untold: Option<Ready>,
}

impl Conn {
    /// A connection that has just been asked for.
    pub(super) fn new(key: Key, host: usize) -> Self {
        Self {
            key,
            stage: Stage::Connecting,
            host,
            peer_end: PeerEnd::Unknown,
            up: Link::new(Toward::Peer, Nanos::ZERO),
            down: Link::new(Toward::Worker, Nanos::ZERO),
            inbox: VecDeque::new(),
            arrived: Nanos::ZERO,
            ended: false,
            failure: None,
            wants_room: false,
            untold: None,
        }
    }

    /// Whether the worker holds a descriptor for it.
    pub(super) fn is_held(&self) -> bool {
        self.stage != Stage::Closed
    }

    /// Whether no event of it can follow.
    pub(super) fn is_forgotten(&self) -> bool {
        self.stage == Stage::Closed && self.peer_end == PeerEnd::Closed
    }

    /// Bytes that the peer may still send under this window.
    pub(super) fn receive_room(&self, window: usize) -> usize {
        window.saturating_sub(self.inbox.len() + self.down.bytes_under_way())
    }

    /// Bytes that the worker may still send under this window.
    pub(super) fn send_room(&self, window: usize) -> usize {
        window.saturating_sub(self.up.bytes_under_way() + self.up.bytes_unsent())
    }
}
