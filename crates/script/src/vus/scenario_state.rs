//! `Work`: a scenario under way on a worker.

use std::collections::VecDeque;
use std::rc::Rc;

use stdx::Nanos;

use super::ramp::Ramp;
use super::slot::Post;

/// A scenario under way on this worker.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) post: Rc<Post>,
    /// Its VUs on this worker, by their index; where each is among the slots.
    pub(super) staff: Vec<(u64, usize)>,
    /// VUs that may begin an iteration; who came first begins first.
    pub(super) idle: VecDeque<usize>,
    /// How long it begins iterations.
    pub(super) duration: Nanos,
    /// Who of them is wanted, where that changes.
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

impl Work {
    pub(super) fn new(post: Post, duration: Nanos) -> Self {
        Self {
            post: Rc::new(post),
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
