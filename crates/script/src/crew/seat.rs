//! `World`: what a worker's VUs share.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use stdx::Nanos;

use super::{Clock, CrewPlan, Log};
use crate::host::{Host, Level};
use crate::registry::Names;

/// The world of one worker's VUs.
pub(super) struct World {
    clock: Clock,
    log: Log,
    /// What the clock of the run, and ours, said when they were last compared.
    compared: Cell<(Nanos, Nanos)>,
    deadline: Cell<Nanos>,
    names: RefCell<Names>,
    /// Somebody wants to know when each sample was made.
    exact: bool,
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
            names: RefCell::default(),
            exact: plan.emit.is_some(),
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

    /// By our clock, not the run's: outputs of all stages of a test have one.
    fn sampled_at(&self) -> Nanos {
        if self.exact { (self.clock)() } else { self.compared.get().1 }
    }

    fn kept(&self, text: &str) -> Rc<str> {
        self.names.borrow_mut().kept(text)
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
