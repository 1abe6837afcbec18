//! The event loop of a VU runs: jobs of promises, timers, answers, until nothing is left. An iteration ends when its function has
//! returned and nothing is under way.

use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Error, Persistent, Promise, Result, Value};
use stdx::Nanos;
use users::{ActionResult, Exception, Ticket};

use super::caught::{caught, exception_of};
use super::context::VuContext;
use super::current::vu_of;
use super::event_loop::{ANYTHING, NOTHING, Next};
use super::ffi::interrupted;
use super::timers::Due;
use super::wait::WaitEnd;

/// The most rejected promises that are remembered between two looks at them.
const REJECTED_MAX: usize = 1_000;
/// After so many jobs it is asked whether the script is to end.
const JOBS_BETWEEN_LOOKS: usize = 64;
/// So many jobs of an iteration that has ended are still run.
const JOBS_AFTER_END_MAX: usize = 10_000;
/// So many timers and answers are worked off before other VUs have their turn.
pub(crate) const BURST_MAX: usize = 128;

/// Runs all that a call left behind, until nothing is left.
///
/// # Errors
/// Something threw, or a promise was rejected without a handler: the iteration ends.
pub(crate) fn run(ctx: &Ctx<'_>, vu: &VuContext) -> std::result::Result<(), Exception> {
    let thrown = |error: Error| caught(ctx, error);
    let mut left = BURST_MAX;
    loop {
        run_jobs(ctx, vu).map_err(thrown)?;
        reject_unhandled(ctx, vu)?;
        if left > 0 {
            left -= 1;
            if let Some((timer, now)) = due_timer(vu) {
                timer.run(ctx, now).map_err(thrown)?;
                continue;
            }
            let arrived = vu.events.take_any();
            if let Some((ticket, answer)) = arrived {
                deliver(ctx, vu, ticket, answer).map_err(thrown)?;
                continue;
            }
        }
        let is_spent = left == 0;
        let until = if is_spent { Some(vu.host.now()) } else { vu.events.timers.next_due() };
        left = BURST_MAX;
        if until.is_none() && vu.events.tasks.borrow().is_empty() {
            return Ok(());
        }
        // What waits already comes first.
        let wanted = if is_spent { NOTHING } else { ANYTHING };
        match vu.wait(ctx, wanted, until).map_err(thrown)? {
            WaitEnd::Result(ticket, answer) => deliver(ctx, vu, ticket, answer).map_err(thrown)?,
            WaitEnd::Woke => {}
        }
    }
}

/// The first timer that is due, and the time now; without timers the clock is not read.
fn due_timer(vu: &VuContext) -> Option<(Due<'_>, Nanos)> {
    vu.events.timers.next_due()?;
    let now = vu.host.now();
    vu.events.timers.take_due(now).map(|timer| (timer, now))
}

/// Runs the jobs and timers that modules started while they were loaded. Timers run in their order and at once: no time passes
/// before the test.
///
/// # Errors
/// A timer threw.
pub(crate) fn run_init(ctx: &Ctx<'_>, vu: &VuContext) -> Result<()> {
    loop {
        run_jobs(ctx, vu)?;
        let Some(timer) = vu.events.timers.take_due(Nanos::MAX) else { return Ok(()) };
        if vu.interrupts() {
            return Err(interrupted(ctx));
        }
        timer.run(ctx, vu.host.now())?;
    }
}

/// Runs the jobs of promises, until there are none.
fn run_jobs(ctx: &Ctx<'_>, vu: &VuContext) -> Result<()> {
    for count in 1_usize.. {
        if !ctx.execute_pending_job() {
            break;
        }
        if count.is_multiple_of(JOBS_BETWEEN_LOOKS) && vu.interrupts() {
            return Err(interrupted(ctx));
        }
    }
    // An interrupt is not an exception of the script: no job reports it.
    if vu.stopped.get() { Err(interrupted(ctx)) } else { Ok(()) }
}

/// Runs the jobs that an ended iteration left, so that the next does not begin with them.
pub(crate) fn run_left_jobs(ctx: &Ctx<'_>) {
    for _ in 0..JOBS_AFTER_END_MAX {
        if !ctx.execute_pending_job() {
            return;
        }
    }
}

/// Hands an answer to what waits for it.
fn deliver(ctx: &Ctx<'_>, vu: &VuContext, ticket: Ticket, answer: ActionResult) -> Result<()> {
    let then = vu.events.tasks.borrow_mut().get_mut(&ticket.0).and_then(Option::take);
    let Some(mut then) = then else { return Ok(()) };
    let next = then(ctx, answer);
    if matches!(next, Ok(Next::More)) {
        // Unless it was forgotten meanwhile.
        if let Some(task) = vu.events.tasks.borrow_mut().get_mut(&ticket.0) {
            *task = Some(then);
        }
    } else {
        vu.forget(ticket);
    }
    next.map(drop)
}

/// QuickJS reports a promise that was rejected without a handler, or that got one after all.
pub(crate) fn note_rejection<'js>(
    ctx: &Ctx<'js>,
    promise: Value<'js>,
    reason: Value<'js>,
    handled: bool,
) {
    let Ok(vu) = vu_of(ctx) else { return };
    let promise = Persistent::save(ctx, promise);
    let mut rejected = vu.events.rejected.borrow_mut();
    if handled {
        rejected.retain(|(known, _)| *known != promise);
    } else if rejected.len() < REJECTED_MAX {
        rejected.push((promise, Persistent::save(ctx, reason)));
    }
}

/// Throws the first reason without a handler.
fn reject_unhandled(ctx: &Ctx<'_>, vu: &VuContext) -> std::result::Result<(), Exception> {
    let rejected = vu.events.rejected.take();
    for (_, reason) in rejected {
        if let Ok(reason) = reason.restore(ctx) {
            return Err(uncaught(&reason));
        }
    }
    Ok(())
}

fn uncaught(reason: &Value<'_>) -> Exception {
    let mut exception = Exception { in_promise: true, ..exception_of(reason) };
    exception.text = format!("Uncaught (in promise) {}", exception.text);
    exception
}

/// What a promise holds once the loop is empty; undefined where it was never settled.
pub(crate) fn outcome<'js>(ctx: &Ctx<'js>, promise: &Promise<'js>) -> Result<Value<'js>> {
    match promise.state() {
        PromiseState::Pending => Ok(Value::new_undefined(ctx.clone())),
        _ => promise.result().unwrap_or_else(|| Ok(Value::new_undefined(ctx.clone()))),
    }
}
