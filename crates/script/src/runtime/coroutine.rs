//! What goes into a VU's coroutine and what comes out of it.

use std::rc::Rc;

use stdx::Nanos;

use super::exception::Exception;
use super::ffi::Suspender;
use crate::host::action::{ActionResult, Ticket};
use crate::host::execution::Stage;

/// The way out of a VU's coroutine.
pub(crate) type VuSuspender = Suspender<ResumeWith, YieldReason>;

/// A function of the script to be called.
#[derive(Clone, Debug)]
pub struct Call {
    /// What it is to the script.
    pub stage: Stage,
    /// The export's name, `default`.
    pub function: Rc<str>,
    /// The number of the iteration among the VU's, from 0: `__ITER`.
    pub iteration: u64,
    /// What `setup` returned, as JSON.
    pub data: Option<Rc<str>>,
}

/// The state in which a step leaves a VU.
#[derive(Clone, Debug, PartialEq)]
pub enum StepResult {
    /// It waits for answers to what it [asked for](crate::Vu::take_actions), and to be [woken](crate::Vu::wake).
    Waits {
        /// When it is to be woken; never where `None`.
        until: Option<Nanos>,
    },
    /// The call has ended: what `setup` returned, as JSON, or what it threw.
    Done(Result<Option<String>, Exception>),
    /// The call was ended before its end, by [`Vu::stop`](crate::Vu::stop) or by [`Host::interrupts`](crate::Host::interrupts).
    Cut,
}

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
