//! `Call` and `StepResult`: what goes into a virtual user, and the state it is left in.

use std::rc::Rc;

use stdx::Nanos;

use super::exception::Exception;
use super::execution::Stage;

/// An iteration to be begun: a function of the script is called.
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
    /// It waits for answers to what it asked for, and to be woken.
    Waits {
        /// When it is to be woken; never where `None`.
        until: Option<Nanos>,
    },
    /// The call has ended: what `setup` returned, as JSON, or what it threw.
    Done(Result<Option<String>, Exception>),
    /// The call was ended before its end: it was stopped, or [`Host::interrupts`](super::traits::Host::interrupts) said so.
    Cut,
}
