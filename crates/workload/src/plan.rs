//! `Plan`: the whole of what is to be offered, decided before the first request.

use serde::{Deserialize, Serialize};
use stdx::{Distribution, Nanos, Prng, mix};

use crate::arrival::Shape;
use crate::segment::SegmentSlice;
use crate::target_order::Targets;
use crate::users::VuFactory;

/// What to offer, decided before the first request. The same plan and seed give the same schedule.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The attack's name (`-name`); may be empty.
    pub name: String,
    /// When hits start.
    pub load: Load,
    /// How long hits are begun, the warm-up included; `None` goes on until stopped.
    pub duration: Option<Nanos>,
    /// Hits due before this are sent and counted nowhere (`--warmup`).
    pub warmup: Nanos,
    /// How long a user of a closed loop waits between an answer and its next hit (`--think`). The hit is due at its end.
    pub think: Distribution,
    /// The most hits that are begun after the warm-up; `None` is no limit.
    pub hits_max: Option<u64>,
    /// What is asked for.
    pub targets: Targets,
    /// Every random choice of the run follows from it.
    pub seed: u64,
    /// The numbers of the hits that are this process's, where several share the schedule; `None` is all of them.
    pub part: Option<SegmentSlice>,
}

impl Plan {
    /// How long hits are begun: until the duration or the shape ends, whichever is first; `None` goes on until stopped.
    #[must_use]
    pub fn begins_for(&self) -> Option<Nanos> {
        let natural = match &self.load {
            Load::Open { shape, .. } => shape.natural_duration(),
            Load::Closed { .. } | Load::Users(_) => None,
        };
        self.duration.into_iter().chain(natural).min()
    }

    /// A plan of this load without a name, a limit, a warm-up or thinking.
    #[must_use]
    pub fn new(load: Load, targets: Targets, seed: u64) -> Self {
        Self {
            name: String::new(),
            load,
            duration: None,
            warmup: Nanos::ZERO,
            think: Distribution::None,
            hits_max: None,
            targets,
            seed,
            part: None,
        }
    }

    /// How long the user of this hit thinks after it.
    #[must_use]
    pub fn think_after(&self, hit: u64) -> Nanos {
        match self.think {
            Distribution::None => Nanos::ZERO,
            ref law => law.draw(&mut Prng::new(mix(self.seed ^ THINKING, hit))),
        }
    }
}

/// Keeps the random numbers of thinking apart from those that choose targets.
const THINKING: u64 = 0x7468_696e_6b00_0000;

/// When hits start.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Load {
    /// By a schedule, whatever the server does.
    Open {
        /// The schedule.
        shape: Shape,
        /// The most hits under way at once (`-max-workers`); hits due beyond it wait, and the wait counts.
        max_in_flight: Option<u64>,
    },
    /// Each of so many users begins a hit as soon as its last one ended (`-rate=0 -max-workers=N`).
    Closed {
        /// Users; at least 1.
        users: u64,
    },
    /// By users that decide for themselves: a script's.
    #[serde(skip)]
    Users(VuFactory),
}
