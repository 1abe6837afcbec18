//! `ScenarioState`: a scenario under way on a worker.

use std::collections::VecDeque;
use std::rc::Rc;

use stdx::Nanos;

use crate::pool::ramp::Ramp;
use crate::pool::slot::{Assignment, VuSlot};

/// A scenario under way on this worker.
#[derive(Debug)]
pub(crate) struct ScenarioState {
    pub(crate) assignment: Rc<Assignment>,
    /// Its VUs on this worker, by their index; where each is among the slots.
    pub(crate) staff: Vec<(u64, VuSlot)>,
    /// VUs that may begin an iteration, first come first served.
    pub(crate) idle: VecDeque<VuSlot>,
    /// How long it begins iterations.
    pub(crate) duration: Nanos,
    /// When its last iteration has ended, from the start of the test.
    pub(crate) end: Nanos,
    /// Which of them are wanted, where that changes.
    pub(crate) ramp: Ramp,
    /// VUs that are in an iteration, or rest after one.
    pub(crate) busy: usize,
    /// VUs that have done all iterations they are to do.
    pub(crate) finished: usize,
    pub(crate) phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Waiting,
    Running,
    /// Nothing begins any more.
    Ending,
    Over,
}

impl ScenarioState {
    pub(crate) fn new(assignment: Assignment, duration: Nanos, end: Nanos) -> Self {
        Self {
            assignment: Rc::new(assignment),
            duration,
            end,
            staff: Vec::new(),
            idle: VecDeque::new(),
            ramp: Ramp::default(),
            busy: 0,
            finished: 0,
            phase: Phase::Waiting,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }
}
