//! How a script asks for something: it waits for the answer while other VUs run, or goes on and has the loop call it back.
//!
//! ```text
//! perform():    asked ▸ the coroutine waits for this ticket ▸ the answer is returned
//! start():  asked ▸ the script goes on ▸ … ▸ the loop hands the answer to what was given with it
//! ```

use std::collections::VecDeque;

use rquickjs::{Ctx, Exception as JsException, Result};
use stdx::Nanos;
use users::{Action, ActionResult, Ticket};

use super::context::VuContext;
use super::coroutine::{ResumeWith, YieldReason};
use super::event_loop::{NOTHING, Then};
use super::ffi::interrupted;

/// The most things that a VU may have under way beside what it waits for.
const TASKS_MAX: usize = 10_000;

impl VuContext {
    /// Asks for an action and waits for its answer, while other VUs run.
    ///
    /// # Errors
    /// The script only begins, or is to end: a JavaScript exception is thrown.
    pub(crate) fn perform(
        &self,
        ctx: &Ctx<'_>,
        what: &str,
        action: impl FnOnce(Ticket) -> Action,
    ) -> Result<ActionResult> {
        self.require_running(ctx, what)?;
        let ticket = self.events.put(action);
        self.answer_within(ctx, ticket, ticket).map(|(_, answer)| answer)
    }

    /// Waits for the answer to one of several tickets, `first` to `last`, which were put.
    ///
    /// # Errors
    /// The script is to end: a JavaScript exception is thrown.
    pub(crate) fn answer_within(
        &self,
        ctx: &Ctx<'_>,
        first: Ticket,
        last: Ticket,
    ) -> Result<(Ticket, ActionResult)> {
        loop {
            if let WaitEnd::Result(ticket, answer) = self.wait(ctx, (first.0, last.0), None)? {
                return Ok((ticket, answer));
            }
        }
    }

    /// The next answer of what was [started](Self::start): one that is there already, or one that comes until then; `None`
    /// once that time has come.
    ///
    /// # Errors
    /// The script is to end: a JavaScript exception is thrown.
    pub(crate) fn next_of(
        &self,
        ctx: &Ctx<'_>,
        ticket: Ticket,
        until: Option<Nanos>,
    ) -> Result<Option<ActionResult>> {
        if let Some(answer) = self.events.take_arrived(ticket) {
            return Ok(Some(answer));
        }
        loop {
            if until.is_some_and(|until| self.host.now() >= until) {
                return Ok(None);
            }
            if let WaitEnd::Result(_, answer) = self.wait(ctx, (ticket.0, ticket.0), until)? {
                return Ok(Some(answer));
            }
        }
    }

    /// Waits for time to pass; nothing else of the VU runs.
    ///
    /// # Errors
    /// The script only begins, or is to end: a JavaScript exception is thrown.
    pub(crate) fn rest(&self, ctx: &Ctx<'_>, what: &str, time: Nanos) -> Result<()> {
        self.require_running(ctx, what)?;
        let until = self.host.now().saturating_add(time);
        loop {
            self.wait(ctx, NOTHING, Some(until))?;
            if self.host.now() >= until {
                return Ok(());
            }
        }
    }

    /// Begins something that the script does not wait for: the loop hands its answers to `then`.
    ///
    /// # Errors
    /// The script only begins, is to end, or has too much under way: a JavaScript exception is thrown.
    pub(crate) fn start(
        &self,
        ctx: &Ctx<'_>,
        what: &str,
        action: impl FnOnce(Ticket) -> Action,
        then: Then,
    ) -> Result<Ticket> {
        self.require_running(ctx, what)?;
        if self.events.tasks.borrow().len() >= TASKS_MAX {
            let text = format!("{what}: more than {TASKS_MAX} things are under way");
            return Err(JsException::throw_range(ctx, &text));
        }
        let ticket = self.events.put(action);
        self.events.tasks.borrow_mut().insert(ticket.0, Some(then));
        Ok(ticket)
    }

    /// Begins something that outlives the iteration; its answers are [taken one by one](Self::next_of).
    ///
    /// # Errors
    /// The script only begins, is to end, or has too much of it: a JavaScript exception is thrown.
    pub(crate) fn start_lasting(
        &self,
        ctx: &Ctx<'_>,
        what: &str,
        action: impl FnOnce(Ticket) -> Action,
    ) -> Result<Ticket> {
        self.require_running(ctx, what)?;
        if self.events.lasting.borrow().len() >= TASKS_MAX {
            let text = format!("{what}: more than {TASKS_MAX} connections are open");
            return Err(JsException::throw_range(ctx, &text));
        }
        let ticket = self.events.put(action);
        self.events.lasting.borrow_mut().insert(ticket.0, VecDeque::new());
        Ok(ticket)
    }

    /// Ends what was [started](Self::start): no more of its answers are wanted.
    pub(crate) fn forget(&self, ticket: Ticket) {
        let task = self.events.tasks.borrow_mut().remove(&ticket.0);
        drop(task);
        let queue = self.events.lasting.borrow_mut().remove(&ticket.0);
        if queue.is_some() {
            self.events.weights.borrow_mut().remove(&ticket.0);
        }
    }

    fn require_running(&self, ctx: &Ctx<'_>, what: &str) -> Result<()> {
        self.require_started(ctx, what)?;
        if self.stopped.get() { Err(interrupted(ctx)) } else { Ok(()) }
    }

    /// Leaves the coroutine until an answer to one of these tickets comes, or the time has passed.
    pub(super) fn wait(
        &self,
        ctx: &Ctx<'_>,
        wanted: (u64, u64),
        until: Option<Nanos>,
    ) -> Result<WaitEnd> {
        if self.stopped.get() {
            return Err(interrupted(ctx));
        }
        self.events.wanted.set(wanted);
        self.events.until.set(until);
        let resumed_with = self.suspender.suspend(YieldReason::Waits);
        self.events.wanted.set(NOTHING);
        match resumed_with {
            ResumeWith::Result(ticket, answer) => Ok(WaitEnd::Result(ticket, answer)),
            ResumeWith::Woke => Ok(WaitEnd::Woke),
            ResumeWith::End | ResumeWith::Call(_) => {
                self.stopped.set(true);
                Err(interrupted(ctx))
            }
        }
    }
}

/// What ended a wait.
pub(super) enum WaitEnd {
    Result(Ticket, ActionResult),
    Woke,
}
