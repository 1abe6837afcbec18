//! `ScenarioState`: a scenario under way on a worker.

use std::collections::VecDeque;
use std::rc::Rc;

use stdx::Nanos;

use super::ramp::Ramp;
use super::slot::{Assignment, VuSlot};

/// A scenario under way on this worker.
#[derive(Debug)]
pub(super) struct ScenarioState {
    pub(super) assignment: Rc<Assignment>,
    /// Its VUs on this worker, by their index; where each is among the slots.
    pub(super) staff: Vec<(u64, VuSlot)>,
    /// VUs that may begin an iteration, first come first served.
    pub(super) idle: VecDeque<VuSlot>,
    /// How long it begins iterations.
    pub(super) duration: Nanos,
    /// Which of them are wanted, where that changes.
    pub(super) ramp: Ramp,
    /// VUs that are in an iteration, or rest after one.
    pub(super) busy: usize,
    /// VUs that have done all iterations they are to do.
    pub(super) finished: usize,
    pub(super) phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Waiting,
    Running,
    /// Nothing begins any more.
    Ending,
    Over,
}

impl ScenarioState {
    pub(super) fn new(assignment: Assignment, duration: Nanos) -> Self {
        Self {
            assignment: Rc::new(assignment),
            duration,
            staff: Vec::new(),
            idle: VecDeque::new(),
            ramp: Ramp::default(),
            busy: 0,
            finished: 0,
            phase: Phase::Waiting,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }
}
