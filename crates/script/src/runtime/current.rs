//! `Current`: the VU whose JavaScript runs, and how the functions that scripts call find it.

use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::{Ctx, Exception, Result};

use super::context::VuContext;
use super::ffi::{WorkerLoan, context_data, interrupted, look_for_interrupts, set_context_data};

/// The VU whose JavaScript runs; none between two calls.
#[derive(Default)]
pub(crate) struct Current(RefCell<Option<Rc<VuContext>>>);

impl Current {
    /// The only one there is, for a context without VUs.
    pub(crate) fn only(vu: &Rc<VuContext>) -> Self {
        Self(RefCell::new(Some(Rc::clone(vu))))
    }

    /// Makes another VU the one that runs; gives the one that ran.
    pub(super) fn replace(&self, vu: Option<Rc<VuContext>>) -> Option<Rc<VuContext>> {
        self.0.replace(vu)
    }

    /// The vu of the VU that runs.
    pub(crate) fn vu(&self) -> Option<Rc<VuContext>> {
        self.0.borrow().clone()
    }
}

/// Stores `current` in the context, where [`vu_of`] finds the VU that runs.
pub(crate) fn install(ctx: &Ctx<'_>, current: &Rc<Current>) -> Result<()> {
    set_context_data(ctx, Rc::clone(current) as Rc<dyn Any>)
}

/// The VU that runs.
pub(crate) fn vu_of(ctx: &Ctx<'_>) -> Result<Rc<VuContext>> {
    match context_data::<Current>(ctx).and_then(Current::vu) {
        Some(vu) => Ok(vu),
        None => Err(Exception::throw_internal(ctx, "this context has no VU")),
    }
}

/// Runs what computes on the worker's own stack: a VU's has 64 KiB left for it at JavaScript's deepest, and compressing takes
/// three times that. Afterwards it is looked for an interrupt: a loop of such calls has few steps.
pub(crate) fn on_worker_stack<T>(ctx: &Ctx<'_>, body: impl FnOnce() -> T + Send) -> T {
    look_for_interrupts(ctx);
    match context_data::<Current>(ctx).and_then(Current::vu) {
        Some(vu) => vu.suspender.on_worker_stack(body),
        None => body(),
    }
}

/// The same of what takes long: it is handed what says whether the script is to end now, and then ends early; what it gives
/// is dropped.
///
/// # Errors
/// The script is to end: an exception that nothing catches is thrown.
pub(crate) fn interruptible<T>(
    ctx: &Ctx<'_>,
    body: impl FnOnce(&dyn Fn() -> bool) -> T + Send,
) -> Result<T> {
    let vu = vu_of(ctx)?;
    let lent = WorkerLoan::new(&*vu);
    let done = vu.suspender.on_worker_stack(move || body(&|| lent.get().interrupts()));
    if vu.stopped.get() { Err(interrupted(ctx)) } else { Ok(done) }
}
