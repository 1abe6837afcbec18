//! `AgentRecord`: what one agent of a fleet did, for the results and their reports.

use stdx::Nanos;

/// What one agent of a fleet did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentRecord {
    /// [`Sample::agent`](crate::Sample::agent) of its rows.
    pub number: u16,
    /// Its name.
    pub name: String,
    /// The cores that it had: its weight in the split of the load.
    pub cores: u32,
    /// Its part of the load, as k6 writes an execution segment: `0:1/4`.
    pub share: String,
    /// Requests that fell due.
    pub planned: u64,
    /// Requests that were begun.
    pub sent: u64,
    /// Requests that fell due and of which nothing more is known, since the agent was lost.
    pub unknown: u64,
    /// 99 of 100 requests began at most so late.
    pub lag_p99: Nanos,
    /// CPU share of its busiest worker, 0 to 1.
    pub cpu_busiest: f64,
    /// Its clock, where that was compared.
    pub clock: Option<ClockOffset>,
    /// Times its process stood still.
    pub pauses: u32,
    /// The longest of them.
    pub pause_longest: Nanos,
    /// Why its figures may not be believed; empty when they may.
    pub reasons: Vec<String>,
}

/// How an agent's clock differs from the coordinator's: the system clocks, as they were when each process started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockOffset {
    /// How far it is ahead, in nanoseconds.
    pub offset_ns: i64,
    /// The largest error of that, in nanoseconds.
    pub bound_ns: u64,
}

impl AgentRecord {
    /// Its figures may be believed, as far as is known.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.reasons.is_empty()
    }
}
