//! `CoordinatorHandle`: how the command that the user started follows its fleet, and ends it.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use fleet::{AgentState, Delta, Name, Offset, Outcome, Phase};

/// What a fleet is doing.
#[derive(Clone, Debug)]
pub enum CoordinatorEvent {
    /// The run entered this phase.
    Phase(Phase),
    /// All agents start at this instant of this machine; where a process took over, they may have.
    Start {
        /// The instant; the process's begin where it lies before.
        at: Instant,
        /// The same as Unix time, in nanoseconds.
        unix_ns: i64,
    },
    /// All agents: first of all where a process took over, and once a second.
    Agents(Vec<AgentView>),
    /// An agent that waited cannot take part, with the reason; said once for each process.
    Refused(Name, String),
    /// What an agent measured; each comes once, in its agent's order.
    Merge(Name, Box<Delta>),
    /// The run is over; nothing follows.
    Over(Box<Outcome>),
    /// The control plane cannot go on, with the reason; nothing follows.
    Failed(String),
}

/// An agent, as the coordinator sees it.
#[derive(Clone, Debug)]
pub struct AgentView {
    /// Its name.
    pub name: Name,
    /// Its cores.
    pub cores: u32,
    /// How far it is.
    pub state: AgentState,
    /// Its clock, once it was compared.
    pub offset: Option<Offset>,
    /// Why it was given up.
    pub lost: Option<String>,
}

/// What a fleet is to do.
#[derive(Clone, Debug)]
pub enum CoordinatorOrder {
    /// End the load, with the reason.
    Abort(String),
}

/// The command's end.
#[derive(Debug)]
pub struct CoordinatorHandle {
    /// What happens.
    pub events: Receiver<CoordinatorEvent>,
    /// What is to happen.
    pub orders: Sender<CoordinatorOrder>,
}

/// The control plane's end.
#[derive(Debug)]
pub struct CoordinatorHostEnd {
    /// What happens.
    pub events: Sender<CoordinatorEvent>,
    /// What is to happen.
    pub orders: Receiver<CoordinatorOrder>,
}

/// Both ends. Events are not bounded here: the coordinator takes no more deltas than are on its disk.
#[must_use]
pub fn coordinator_channels() -> (CoordinatorHandle, CoordinatorHostEnd) {
    let (event_sender, events) = channel();
    let (orders, order_receiver) = channel();
    let host = CoordinatorHostEnd { events: event_sender, orders: order_receiver };
    (CoordinatorHandle { events, orders }, host)
}
