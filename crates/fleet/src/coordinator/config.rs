//! `Config`: what a coordinator is made from.

use stdx::Nanos;

use crate::ids::{Digest, Incarnation, Name};

/// An agent that was not heard of for this long is lost.
pub const LOST_AFTER: Nanos = Nanos(3_000_000_000);

/// The least time from the decision to start until the start: lost messages are sent again in it.
pub const LEAD_MIN: Nanos = Nanos(2_000_000_000);

/// How long a run whose number of agents is open takes all that join: each that waits asks once a second.
pub const GATHER_FOR: Nanos = Nanos(3_000_000_000);

/// The time from the decision that a barrier is passed until the instant of it.
pub const BARRIER_LEAD: Nanos = Nanos(1_000_000_000);

/// The least exchanges with an agent before its clock is trusted.
pub const EXCHANGES_MIN: usize = 3;

/// What happens to the run when an agent is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// The run ends: a fleet without one of its agents offers another load.
    #[default]
    Fail,
    /// The run goes on, and its outcome names the agent.
    GoOn,
}

/// What a coordinator is made from.
#[derive(Clone, Debug)]
pub struct Config {
    /// The run.
    pub run: Name,
    /// This process: more than any before it had.
    pub incarnation: Incarnation,
    /// The version of brunt that agents must have.
    pub version: String,
    /// Agents that the run needs, 1 to [`crate::AGENTS_MAX`]; `None`: all that join within [`GATHER_FOR`].
    pub agents: Option<usize>,
    /// The SHA-256 of the archive.
    pub archive: Digest,
    /// The SHA-256 of what `setup()` returned.
    pub setup: Option<Digest>,
    /// How long agents may take to join, and then to make ready.
    pub ready_within: Nanos,
    /// From the decision to start until the start, at least [`LEAD_MIN`].
    pub lead: Nanos,
    /// How long deltas may take to come in after the load's end.
    pub drain_within: Nanos,
    /// What happens when an agent is lost.
    pub policy: Policy,
}
