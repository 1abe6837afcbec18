//! Timers of a VU: which callback runs when.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};

use rquickjs::function::Args;
use rquickjs::{Ctx, Function, Persistent, Result, Value};
use stdx::{Nanos, NumberHash};

/// The most timers of a VU at once.
const TIMERS_MAX: usize = 100_000;

/// A callback that is to run.
#[derive(Clone)]
pub(crate) struct Timer {
    callback: Persistent<Function<'static>>,
    arguments: Vec<Persistent<Value<'static>>>,
}

impl Timer {
    pub(crate) fn new<'js>(
        ctx: &Ctx<'js>,
        callback: Function<'js>,
        arguments: Vec<Value<'js>>,
    ) -> Self {
        let arguments = arguments.into_iter().map(|value| Persistent::save(ctx, value));
        Self { callback: Persistent::save(ctx, callback), arguments: arguments.collect() }
    }

    fn call(self, ctx: &Ctx<'_>) -> Result<()> {
        let mut args = Args::new(ctx.clone(), self.arguments.len());
        for value in self.arguments {
            args.push_arg(value.restore(ctx)?)?;
        }
        self.callback.restore(ctx)?.call_arg(args)
    }
}

/// When a timer is due, and its number: those that are due at the same time run in the order in which they were set.
type Place = (Nanos, u64);

/// The timers of a VU.
#[derive(Default)]
pub(crate) struct Timers {
    /// The number of the last timer.
    last: Cell<u64>,
    waiting: RefCell<BTreeMap<Place, Waiting>>,
    place_of: RefCell<HashMap<u64, Place, NumberHash>>,
}

struct Waiting {
    id: u64,
    timer: Timer,
    /// It runs again and again, so far apart.
    every: Option<Nanos>,
}

impl Timers {
    /// Sets a timer; gives its number, or nothing where there are too many.
    pub(crate) fn set(&self, timer: Timer, due: Nanos, every: Option<Nanos>) -> Option<u64> {
        if self.waiting.borrow().len() >= TIMERS_MAX {
            return None;
        }
        let id = self.last.get() + 1;
        self.last.set(id);
        self.wait(due, Waiting { id, timer, every });
        Some(id)
    }

    fn wait(&self, due: Nanos, waiting: Waiting) {
        let place = (due, waiting.id);
        self.place_of.borrow_mut().insert(waiting.id, place);
        self.waiting.borrow_mut().insert(place, waiting);
    }

    /// Removes a timer; an unknown number has no effect.
    pub(crate) fn unset(&self, id: u64) {
        let place = self.place_of.borrow_mut().remove(&id);
        let gone = place.and_then(|place| self.waiting.borrow_mut().remove(&place));
        drop(gone);
    }

    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.waiting.borrow().first_key_value().map(|((due, _), _)| *due)
    }

    /// The first timer that is due by now.
    pub(crate) fn take_due(&self, now: Nanos) -> Option<Due<'_>> {
        if self.next_due()? > now {
            return None;
        }
        let ((due, _), waiting) = self.waiting.borrow_mut().pop_first()?;
        if waiting.every.is_none() {
            self.place_of.borrow_mut().remove(&waiting.id);
        }
        Some(Due { timers: self, due, waiting })
    }

    pub(crate) fn clear(&self) {
        self.place_of.borrow_mut().clear();
        drop(self.waiting.take());
    }
}

/// A timer whose time has come.
pub(crate) struct Due<'a> {
    timers: &'a Timers,
    due: Nanos,
    waiting: Waiting,
}

impl Due<'_> {
    /// Calls it; one that repeats is due again at the first of its times after now, as a ticker of k6 is.
    pub(crate) fn run_in_step(self, ctx: &Ctx<'_>, now: Nanos) -> Result<()> {
        let every = self.waiting.every.map_or(1, |every| every.0.max(1));
        let late = now.0.saturating_sub(self.due.0) % every;
        self.run(ctx, Nanos(now.0 - late))
    }

    /// Calls it; one that repeats waits first, for its time from `since` on, so that it may take itself back.
    pub(crate) fn run(self, ctx: &Ctx<'_>, since: Nanos) -> Result<()> {
        let Self { timers, waiting, .. } = self;
        let timer = waiting.timer.clone();
        if let Some(every) = waiting.every {
            timers.wait(since.saturating_add(every), waiting);
        }
        timer.call(ctx)
    }
}
