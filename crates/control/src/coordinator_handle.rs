//! `CoordinatorHandle`: how the command that the user started follows its fleet, and ends it.

use std::sync::mpsc::{Receiver, RecvError, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use fleet::{AgentState, Delta, Name, Offset, Outcome, Phase};

use crate::quota::Quotas;

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
    pub events: CoordinatorEvents,
    /// What is to happen.
    pub orders: Sender<CoordinatorOrder>,
}

/// What happens in a fleet, in its order. What an agent measured counts as waiting until it is taken from here: of an agent that is
/// faster than the command no more is taken than may wait.
#[derive(Debug)]
pub struct CoordinatorEvents {
    events: Receiver<CoordinatorEvent>,
    quotas: Quotas,
}

impl CoordinatorEvents {
    /// The next event, which may come within this time.
    ///
    /// # Errors
    /// None came, or the control plane has gone.
    pub fn recv_timeout(&self, within: Duration) -> Result<CoordinatorEvent, RecvTimeoutError> {
        self.events.recv_timeout(within).inspect(|event| self.note(event))
    }

    /// The next event, whenever it comes.
    ///
    /// # Errors
    /// The control plane has gone.
    pub fn recv(&self) -> Result<CoordinatorEvent, RecvError> {
        self.events.recv().inspect(|event| self.note(event))
    }

    fn note(&self, event: &CoordinatorEvent) {
        if let CoordinatorEvent::Merge(agent, delta) = event {
            self.quotas.delta_merged(agent, delta.payload.len());
        }
    }
}

/// The other end of [`CoordinatorEvents`].
pub(crate) type EventSender = Sender<CoordinatorEvent>;

/// The control plane's end.
#[derive(Debug)]
pub(crate) struct CoordinatorHostEnd {
    /// What happens.
    pub(crate) events: EventSender,
    /// What is to happen.
    pub(crate) orders: Receiver<CoordinatorOrder>,
}

/// Both ends. Events are bounded by what the quotas let in: the others are a few a second.
pub(crate) fn coordinator_channels(quotas: &Quotas) -> (CoordinatorHandle, CoordinatorHostEnd) {
    let (event_sender, events) = channel();
    let events = CoordinatorEvents { events, quotas: quotas.clone() };
    let (orders, order_receiver) = channel();
    let host = CoordinatorHostEnd { events: event_sender, orders: order_receiver };
    (CoordinatorHandle { events, orders }, host)
}
