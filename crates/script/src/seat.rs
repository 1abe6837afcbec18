//! `Seat`: what a VU's JavaScript functions share with their VU.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use metrics::tally::{Contains, Kind};
use rquickjs::{Ctx, Exception as JsException, Result};
use stdx::Nanos;

use crate::action::{Action, Answer};
use crate::host::{Files, Host};
use crate::raw::Suspender;
use crate::store::Store;
use crate::vu::{Said, Told};

/// Samples that wait to be taken; more than these are dropped and counted.
const SAMPLES_MAX: usize = 1 << 16;

/// Which part of a script runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The modules themselves. Nothing may be asked for.
    Init,
    /// `setup`.
    Setup,
    /// A scenario's function.
    Iteration,
    /// `teardown`.
    Teardown,
}

/// One measurement that a script made by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The metric.
    pub metric: Rc<str>,
    /// When.
    pub at: Nanos,
    /// The value; times in milliseconds, rates as 0 or 1.
    pub value: f64,
    /// The group it was made in, `::outer::inner`; empty outside of any.
    pub group: Rc<str>,
    /// Its own tags.
    pub tags: Vec<(String, String)>,
}

impl Sample {
    /// The check's name, of a sample of `checks`.
    #[must_use]
    pub fn check_name(&self) -> Option<&str> {
        let tag = self.tags.iter().find(|(name, _)| name == "check");
        tag.filter(|_| &*self.metric == "checks").map(|(_, name)| name.as_str())
    }
}

/// A metric that a script declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Kind,
    /// What its values are.
    pub contains: Contains,
}

/// What a VU's functions share with their VU.
pub(crate) struct Seat {
    /// The metrics that the script declared.
    pub(crate) declared: RefCell<Vec<Declared>>,
    pub(crate) host: Rc<dyn Host>,
    pub(crate) suspender: Suspender,
    pub(crate) stage: Cell<Stage>,
    /// The iteration is to end: nothing is asked for any more.
    pub(crate) stopped: Cell<bool>,
    pub(crate) group: RefCell<Rc<str>>,
    /// What it shares with the script's other VUs.
    pub(crate) store: OnceCell<Arc<Store>>,
    /// Where files are, while the script is run for the first time.
    pub(crate) files: RefCell<Option<Rc<dyn Files>>>,
    samples: RefCell<Vec<Sample>>,
    samples_dropped: Cell<u64>,
}

impl Seat {
    pub(crate) fn new(host: Rc<dyn Host>) -> Self {
        Self {
            declared: RefCell::new(Vec::new()),
            host,
            suspender: Suspender::new(),
            stage: Cell::new(Stage::Init),
            stopped: Cell::new(false),
            group: RefCell::new("".into()),
            store: OnceCell::new(),
            files: RefCell::new(None),
            samples: RefCell::new(Vec::new()),
            samples_dropped: Cell::new(0),
        }
    }

    /// Asks for an action and waits for its answer, while other VUs run.
    ///
    /// # Errors
    /// The script only begins, or is to end: a JavaScript exception is thrown.
    pub(crate) fn ask(&self, ctx: &Ctx<'_>, what: &str, action: Action) -> Result<Answer> {
        self.begun(ctx, what)?;
        if self.stopped.get() {
            return Err(interrupted(ctx));
        }
        match self.suspender.suspend(Said::Asks(action)) {
            Told::Answer(Answer::Stop) | Told::End | Told::Call(_) => {
                self.stopped.set(true);
                Err(interrupted(ctx))
            }
            Told::Answer(answer) => Ok(answer),
        }
    }

    /// What the script's VUs share.
    ///
    /// # Errors
    /// It has none yet: its modules were not begun.
    pub(crate) fn store(&self, ctx: &Ctx<'_>) -> Result<&Arc<Store>> {
        self.store.get().ok_or_else(|| JsException::throw_internal(ctx, "this VU has no script"))
    }

    /// Refuses what is not for the init stage.
    ///
    /// # Errors
    /// It is the init stage: a JavaScript exception is thrown.
    pub(crate) fn begun(&self, ctx: &Ctx<'_>, what: &str) -> Result<()> {
        if self.stage.get() == Stage::Init {
            let text = format!("{what} in the init context is not supported");
            return Err(JsException::throw_message(ctx, &text));
        }
        Ok(())
    }

    /// Keeps a sample until the host takes it.
    pub(crate) fn sample(&self, metric: &str, value: f64, tags: Vec<(String, String)>) {
        let mut samples = self.samples.borrow_mut();
        if samples.len() == SAMPLES_MAX {
            self.samples_dropped.set(self.samples_dropped.get() + 1);
            return;
        }
        let (at, group) = (self.host.now(), Rc::clone(&self.group.borrow()));
        samples.push(Sample { metric: metric.into(), at, value, group, tags });
    }

    pub(crate) fn take_samples(&self, into: &mut Vec<Sample>) {
        into.append(&mut self.samples.borrow_mut());
    }

    pub(crate) fn samples_dropped(&self) -> u64 {
        self.samples_dropped.get()
    }
}

/// An exception that a script may catch, but to no end: whatever it asks for next throws it again, and QuickJS is interrupted.
fn interrupted(ctx: &Ctx<'_>) -> rquickjs::Error {
    JsException::throw_internal(ctx, "interrupted")
}
