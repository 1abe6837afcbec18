//! The control plane of a fleet: threads that host the state machines of `fleet`, with the journal on disk and messages over
//! NATS. What offers load knows it by two handles of channels: [`AgentHandle`] on a load machine, [`CoordinatorHandle`] in the
//! command that the user started.

mod agent_handle;
mod coordinator_handle;

pub use agent_handle::{AgentHandle, AgentHostEnd, AgentOrder, AgentReport, Work, agent_channels};
pub use coordinator_handle::{
    AgentView, CoordinatorEvent, CoordinatorHandle, CoordinatorHostEnd, CoordinatorOrder,
    coordinator_channels,
};
