//! `Current`: the VU whose JavaScript runs, and how the functions that scripts call find it.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::{Ctx, Exception, Result};

use super::context::Seat;
use super::ffi::{ContextData, Lent, interrupted};

/// Whose JavaScript runs.
#[derive(Default)]
pub(crate) struct Current(RefCell<Option<Rc<Seat>>>);

impl Current {
    /// The only one there is, for a context without VUs.
    pub(crate) fn only(seat: &Rc<Seat>) -> Self {
        Self(RefCell::new(Some(Rc::clone(seat))))
    }

    /// Makes another VU the one that runs; gives the one that ran.
    pub(super) fn replace(&self, seat: Option<Rc<Seat>>) -> Option<Rc<Seat>> {
        self.0.replace(seat)
    }

    /// The seat of the VU that runs.
    pub(crate) fn seat(&self) -> Option<Rc<Seat>> {
        self.0.borrow().clone()
    }
}

/// Tells the functions of a context where to find the VU that runs.
pub(crate) fn install(ctx: &Ctx<'_>, current: &Rc<Current>) -> Result<()> {
    ctx.store_userdata(ContextData(Rc::clone(current))).map(drop)?;
    Ok(())
}

/// The VU that runs.
pub(crate) fn seat_of(ctx: &Ctx<'_>) -> Result<Rc<Seat>> {
    match ctx.userdata::<ContextData<Current>>().and_then(|current| current.0.seat()) {
        Some(seat) => Ok(seat),
        None => Err(Exception::throw_internal(ctx, "this context has no VU")),
    }
}

/// Runs what computes on the worker's own stack: a VU's has 64 KiB left for it at JavaScript's deepest, and compressing takes
/// three times that.
pub(crate) fn on_worker_stack<T>(ctx: &Ctx<'_>, body: impl FnOnce() -> T + Send) -> T {
    match ctx.userdata::<ContextData<Current>>().and_then(|current| current.0.seat()) {
        Some(seat) => seat.suspender.on_worker_stack(body),
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
    let seat = seat_of(ctx)?;
    let lent = Lent::new(&*seat);
    let done = seat.suspender.on_worker_stack(move || body(&|| lent.get().interrupts()));
    if seat.stopped.get() { Err(interrupted(ctx)) } else { Ok(done) }
}
