//! `BroadcastSchedule`: which messages a worker's speakers send, and when.

use std::collections::VecDeque;

use stdx::Nanos;
use workload::arrival::Shard;

use crate::plan::{CablePlan, Pattern};

/// The messages of a worker's speakers.
#[derive(Debug)]
pub(super) struct BroadcastSchedule {
    /// The next message of this worker's speakers, counted over all speakers from 0; `None` after the last one.
    pub(super) next: Option<u64>,
    pub(super) speakers: u64,
    pub(super) every: Nanos,
    /// Crowds that have speakers.
    pub(super) workers: u32,
    /// Messages of ours in flight, and until when they are waited for.
    pub(super) in_flight: VecDeque<(u32, Nanos)>,
}

impl BroadcastSchedule {
    pub(super) fn new(plan: &CablePlan, shard: Shard) -> Self {
        let (speakers, every) = match plan.pattern {
            Pattern::Broadcast { speakers, every } => (u64::from(speakers.min(plan.users)), every),
            _ => (0, Nanos::ZERO),
        };
        Self {
            next: (shard.first < speakers).then_some(shard.first),
            speakers,
            every,
            workers: speakers.min(shard.step) as u32,
            in_flight: VecDeque::new(),
        }
    }

    /// The message after `number` whose speaker is in this shard.
    pub(super) fn after(&self, number: u64, shard: Shard) -> u64 {
        let ours = |number: &u64| number % self.speakers % shard.step == shard.first;
        (number + 1..).find(ours).expect("this lane has a speaker")
    }
}
