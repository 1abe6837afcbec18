//! The control plane of a fleet: threads that host the state machines of `fleet`, with the journal on disk and messages over a
//! transport. What offers load knows it by two handles of channels: [`AgentHandle`] on a load machine, [`CoordinatorHandle`] in the
//! command that the user started.

mod agent_handle;
mod agent_host;
mod clock;
mod coordinator_handle;
mod coordinator_host;
mod enrolment;
mod error;
mod files;
mod journal;
mod memory;
mod nats;
mod quota;
mod refusals;
#[cfg(test)]
mod scratch;
#[cfg(test)]
mod tests;
mod transport;

pub use agent_handle::{AgentHandle, AgentHostEnd, AgentOrder, AgentReport, Work, agent_channels};
pub use agent_host::{AgentHost, AgentNotice, AgentOptions};
pub use coordinator_handle::{
    AgentView, CoordinatorEvent, CoordinatorEvents, CoordinatorHandle, CoordinatorOrder,
};
pub use coordinator_host::{CoordinatorHost, CoordinatorOptions};
pub use enrolment::{
    AgentAccess, AgentToken, FleetServer, FleetServerOptions, IssueOptions, IssuedServer,
    JoinToken, TokenError, TokenRules, TokenTerms, issue, join, remove_agent, renew_token, token,
};
pub use error::ControlError;
pub use files::{FILE_MAX, RunFiles};
pub use journal::{Journal, JournalError, JournalEvent};
pub use memory::MemoryTransport;
pub use nats::{Login, NatsAccess, NatsTransport};
pub use transport::{
    Deliver, Incoming, LEASE_TTL, Lease, Role, Subject, Transport, TransportError, digest, hex,
};
