//! What goes into a VU's coroutine and what comes out of it.

use users::{ActionResult, Call, Exception, Ticket};

use super::ffi::Suspender;

/// The way out of a VU's coroutine.
pub(crate) type VuSuspender = Suspender<ResumeWith, YieldReason>;

/// Into the coroutine.
#[derive(Debug)]
pub(crate) enum ResumeWith {
    Call(Call),
    /// The result of an action.
    Result(Ticket, ActionResult),
    Woke,
    End,
}

/// Out of the coroutine.
#[derive(Debug)]
pub(crate) enum YieldReason {
    /// The modules ran, or threw.
    Ready(Result<(), Exception>),
    Waits,
    Done(Result<Option<String>, Exception>),
    Cut,
}
