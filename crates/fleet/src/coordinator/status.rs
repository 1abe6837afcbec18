//! `AgentStatus`: what a coordinator knows of an agent, for people to follow.

use stdx::Nanos;

use super::Coordinator;
use crate::clock::Offset;
use crate::ids::{Epoch, Name};
use crate::message::AgentState;

/// What a coordinator knows of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentStatus {
    /// Its name.
    pub name: Name,
    /// Its process.
    pub epoch: Epoch,
    /// Its cores.
    pub cores: u32,
    /// How far it was when it was last heard of.
    pub state: AgentState,
    /// Its clock, once it was compared.
    pub offset: Option<Offset>,
    /// Why it was given up.
    pub lost: Option<String>,
}

impl Coordinator {
    /// The agents of the run, in the order of their names.
    pub fn agents(&self, now: Nanos) -> impl Iterator<Item = AgentStatus> {
        self.state.members.iter().map(move |(name, member)| AgentStatus {
            name: name.clone(),
            epoch: member.epoch,
            cores: member.hello.cores,
            state: member.state.clone(),
            offset: member.clock.offset(now),
            lost: member.lost.clone(),
        })
    }

    /// The start, by the coordinator's clock, once it is decided and on disk.
    #[must_use]
    pub fn started(&self) -> Option<Nanos> {
        self.state.started
    }
}
