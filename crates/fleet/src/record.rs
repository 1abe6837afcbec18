//! `Record`: a line of the coordinator's journal. The coordinator's state is what its records make of it, in their order: each
//! is on disk before it counts, and a new process reads them all and goes on.

use serde::{Deserialize, Serialize};
use stdx::Nanos;

use crate::ids::{Epoch, Name};
use crate::message::{Delta, Hello};
use crate::split::Share;

/// A decision of the coordinator, or a delta that it took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Record {
    /// An agent joined.
    Joined {
        /// Its name.
        agent: Name,
        /// Its process.
        epoch: Epoch,
        /// How it introduced itself.
        hello: Hello,
    },
    /// The fleet is complete: the share of each agent, in the order of their names.
    Assigned(Vec<Share>),
    /// All are ready; they start at this instant of the coordinator's clock.
    Started {
        /// The coordinator's clock.
        at: Nanos,
    },
    /// A delta was taken.
    Delta {
        /// The agent that measured it.
        agent: Name,
        /// What it measured.
        delta: Delta,
    },
    /// An agent is given up, with the reason.
    Lost {
        /// The agent.
        agent: Name,
        /// Why.
        cause: String,
    },
    /// The load ends early, with the reason.
    Stopping {
        /// Why.
        cause: String,
    },
    /// The run is over.
    Over,
    /// All agents that have load have reached a barrier; they pass it at this instant of the coordinator's clock.
    Barrier {
        /// The barrier, from 1.
        number: u32,
        /// The coordinator's clock.
        at: Nanos,
    },
}
