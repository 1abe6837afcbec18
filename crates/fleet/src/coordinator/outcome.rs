//! `Outcome`: what became of a run and of each of its agents.

use super::state::{Member, State};
use crate::clock::Offset;
use crate::counts::Counts;
use crate::ids::Name;
use crate::message::Pauses;
use stdx::Nanos;

/// What became of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Why it ended early; `None` where every agent did its part to the end, or was lost under [`crate::Policy::GoOn`].
    pub cause: Option<String>,
    /// The start, by the coordinator's clock; `None` where it never began.
    pub started: Option<Nanos>,
    /// Each agent, in the order of their names.
    pub agents: Vec<AgentOutcome>,
}

/// What became of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentOutcome {
    /// Its name.
    pub name: Name,
    /// The sum of its applied deltas: what the merged result has of it.
    pub counts: Counts,
    /// What it counted itself, by the last delta that was applied. Another sum than `counts` is a fault of the fleet.
    pub totals: Counts,
    /// Requests that fell due and whose end is not known, since the agent was lost.
    pub unknown: u64,
    /// Deltas without their histograms, since its spool was full.
    pub payloads_lost: u64,
    /// Its last delta was applied.
    pub complete: bool,
    /// Why it was given up, if it was; it may have come back and be complete all the same.
    pub lost: Option<String>,
    /// Times it stood still.
    pub pauses: Pauses,
    /// Its clock.
    pub offset: Option<Offset>,
}

impl Outcome {
    pub(super) fn new(state: &State, now: Nanos) -> Self {
        let agents = state.members.iter().map(|(name, member)| agent(name, member, now)).collect();
        Self { cause: state.cause.clone(), started: state.started, agents }
    }

    /// The counts of all agents.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let add = |sum: Counts, agent: &AgentOutcome| sum.checked_add(agent.counts).unwrap_or(sum);
        self.agents.iter().fold(Counts::default(), add)
    }
}

fn agent(name: &Name, member: &Member, now: Nanos) -> AgentOutcome {
    let ledger = &member.ledger;
    AgentOutcome {
        name: name.clone(),
        counts: ledger.counts(),
        totals: ledger.totals(),
        unknown: ledger.counts().open(),
        payloads_lost: ledger.payloads_lost(),
        complete: member.is_complete(),
        lost: member.lost.clone(),
        pauses: member.pauses,
        offset: member.clock.offset(now),
    }
}
