//! `AgentHandle`: how the load generator of an agent is given its work, and says what it measured.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Instant;

use fleet::{Counts, Share};

/// Orders and reports that may wait; the load never waits for either.
const WAITING_MAX: usize = 256;

/// An agent's work, its files fetched and their hashes checked.
#[derive(Clone, Debug)]
pub struct Work {
    /// What to run, in the form that the command of the coordinator gave it.
    pub archive: Vec<u8>,
    /// What `setup()` returned, where there was one.
    pub setup: Option<Vec<u8>>,
    /// The part of the load.
    pub share: Share,
}

/// What the load generator is to do.
#[derive(Clone, Debug)]
pub enum AgentOrder {
    /// Make ready, then report [`AgentReport::Prepared`].
    Prepare(Box<Work>),
    /// Start the load at this instant; it may have passed by up to 5 ms.
    Start(Instant),
    /// The process stood still: requests that fell due before this instant are not sent, and counted as such.
    SkipOverdue(Instant),
    /// All agents have reached this barrier, from 1: go on from this instant, which may have passed.
    Pass {
        /// The barrier.
        barrier: u32,
        /// The common instant.
        at: Instant,
    },
    /// End the load, with the reason: no new request; what is under way may end.
    Stop(String),
    /// The agent's part is over, or it was refused, with the reason.
    Leave(Result<(), String>),
}

/// What the load generator says.
#[derive(Clone, Debug)]
pub enum AgentReport {
    /// The work is ready, or cannot be done, with the reason.
    Prepared(Result<(), String>),
    /// What was measured in a stretch of time.
    Measured {
        /// Its begin and end.
        interval: (Instant, Instant),
        /// What became of requests in it.
        counts: Counts,
        /// Histograms and rows for the merge, at most [`fleet::PAYLOAD_MAX`] bytes.
        payload: Vec<u8>,
    },
    /// The load waits at its barrier of this number, from 1, for the other agents.
    AtBarrier(u32),
    /// The load ended: nothing more is measured.
    Ended,
    /// The whole run is to end, with the reason.
    Abort(String),
}

/// The load generator's end.
#[derive(Debug)]
pub struct AgentHandle {
    /// What to do; it is closed when the control plane ended.
    pub orders: Receiver<AgentOrder>,
    /// What was done. Use `try_send` while the load is on.
    pub reports: SyncSender<AgentReport>,
}

/// The control plane's end.
#[derive(Debug)]
pub struct AgentHostEnd {
    /// What to do.
    pub orders: SyncSender<AgentOrder>,
    /// What was done.
    pub reports: Receiver<AgentReport>,
}

/// Both ends.
#[must_use]
pub fn agent_channels() -> (AgentHandle, AgentHostEnd) {
    let (order_sender, orders) = sync_channel(WAITING_MAX);
    let (reports, report_receiver) = sync_channel(WAITING_MAX);
    let host = AgentHostEnd { orders: order_sender, reports: report_receiver };
    (AgentHandle { orders, reports }, host)
}
