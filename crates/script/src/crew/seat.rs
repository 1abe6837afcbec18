//! `World`: what a worker's VUs share, and the tags that all samples have.

use std::cell::Cell;
use std::sync::Arc;

use metrics::tally::Tags;
use stdx::Nanos;

use super::{Clock, CrewPlan, Log};
use crate::host::{Host, Level};
use crate::seat::Sample;

/// The world of one worker's VUs.
pub(super) struct World {
    clock: Clock,
    log: Log,
    /// What the clock of the run, and ours, said when they were last compared.
    compared: Cell<(Nanos, Nanos)>,
    deadline: Cell<Nanos>,
    batch_max: (usize, usize),
}

impl World {
    pub(super) fn new(plan: &CrewPlan) -> Self {
        let ours = (plan.clock)();
        Self {
            clock: Arc::clone(&plan.clock),
            log: Arc::clone(&plan.log),
            batch_max: plan.batch,
            compared: Cell::new((Nanos::ZERO, ours)),
            deadline: Cell::new(Nanos::MAX),
        }
    }

    /// The run's time is this now.
    pub(super) fn set_now(&self, now: Nanos) {
        self.compared.set((now, (self.clock)()));
    }

    /// A script that runs at this time of the run is interrupted.
    pub(super) fn set_deadline(&self, at: Nanos) {
        self.deadline.set(at);
    }

    /// How long it is since a time of the run.
    pub(super) fn elapsed_since(&self, began: Nanos) -> Nanos {
        self.now().saturating_sub(began)
    }
}

impl Host for World {
    fn now(&self) -> Nanos {
        let (run, ours) = self.compared.get();
        run.saturating_add((self.clock)().saturating_sub(ours))
    }

    fn log(&self, level: Level, text: &str) {
        (self.log)(level, "console", text);
    }

    fn interrupts(&self) -> bool {
        self.now() >= self.deadline.get()
    }

    fn batch_max(&self) -> (usize, usize) {
        self.batch_max
    }
}

/// The tags of a scenario's own samples.
pub(super) struct ScenarioTags<'a> {
    pub(super) scenario: &'a str,
}

impl Tags for ScenarioTags<'_> {
    fn tag(&self, name: &str) -> Option<&str> {
        match name {
            "scenario" => Some(self.scenario),
            "group" => Some(""),
            _ => None,
        }
    }
}

/// The tags of a sample that a script made.
pub(super) struct SampleTags<'a> {
    pub(super) sample: &'a Sample,
    pub(super) scenario: &'a str,
}

impl Tags for SampleTags<'_> {
    fn tag(&self, name: &str) -> Option<&str> {
        let own = self.sample.tags.iter().find(|(known, _)| known == name);
        match (own, name) {
            (Some((_, value)), _) => Some(value),
            (None, "scenario") => Some(self.scenario),
            (None, "group") => Some(&self.sample.group),
            (None, _) => None,
        }
    }
}
