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
        let own = plan.part.as_ref().map_or(speakers, |part| part.count(speakers));
        let mut schedule = Self {
            next: None,
            speakers,
            every,
            workers: own.min(shard.step) as u32,
            in_flight: VecDeque::new(),
        };
        schedule.next = schedule.from(0, plan, shard);
        schedule
    }

    /// The first message from `number` on whose speaker is in this shard; `None` where the shard has no speaker.
    pub(super) fn from(&self, number: u64, plan: &CablePlan, shard: Shard) -> Option<u64> {
        let is_ours = |number: &u64| {
            let place = plan.own_place(number % self.speakers);
            place.is_some_and(|place| place % shard.step == shard.first)
        };
        (number..number + self.speakers).find(is_ours)
    }
}
