//! The event loop of a VU: what its script has under way (requests, timers, long-lived sources of events), and what runs when
//! an answer comes. An iteration ends when its function has returned and nothing is left here.
//!
//! ```text
//! ask():    asked ▸ the coroutine waits for this ticket ▸ the answer is returned
//! start():  asked ▸ the script goes on ▸ … ▸ the loop hands the answer to what was given with it
//! ```

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};

use rquickjs::promise::PromiseState;
use rquickjs::{Coerced, Ctx, Error, Exception as JsException, Persistent, Promise, Result, Value};
use stdx::Nanos;

use crate::api::seat_of;
use crate::host::action::{Action, Answer, Asked, Ticket};
use crate::runtime::context::Seat;
use crate::runtime::exception::Exception;
use crate::runtime::ffi;
use crate::runtime::timers::Timers;
use crate::runtime::vu::{Said, Told};

/// The most things that a VU may have under way beside what it waits for.
const TASKS_MAX: usize = 10_000;
/// The most rejected promises that are remembered between two looks at them.
const REJECTED_MAX: usize = 1_000;
/// After so many jobs it is asked whether the script is to end.
const JOBS_BETWEEN_LOOKS: usize = 64;
/// So many jobs of an iteration that has ended are still run.
const JOBS_AFTER_END_MAX: usize = 10_000;

/// So many timers and answers are worked off before other VUs have their turn.
const BURST_MAX: usize = 128;

/// What is done with an answer; says whether more may come.
pub(crate) type Then = Box<dyn for<'js> FnMut(&Ctx<'js>, Answer) -> Result<Next>>;

/// Whether a source has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// More answers with this ticket may come; the loop waits for them.
    More,
    /// This was the last.
    Over,
}

/// What a VU has under way.
#[derive(Default)]
pub(crate) struct EventLoop {
    /// The number of the next ticket, from 1.
    next: Cell<u64>,
    /// Tickets before this one are of iterations that have ended.
    first: Cell<u64>,
    /// What is to be carried out.
    asked: RefCell<Vec<Asked>>,
    /// The tickets whose answers the coroutine waits for, first and last; none where the first is greater.
    wanted: Cell<(u64, u64)>,
    /// Until when the coroutine waits.
    until: Cell<Option<Nanos>>,
    /// Answers that came while the script waited for something else.
    arrived: RefCell<VecDeque<(Ticket, Answer)>>,
    /// How much waits, by ticket: answers, and the bytes in them.
    weights: RefCell<HashMap<u64, (usize, usize)>>,
    /// What is done with answers; `None` while it is being done.
    tasks: RefCell<HashMap<u64, Option<Then>>>,
    /// What outlives the iteration, by its ticket; its answers wait to be [asked for](Seat::next_of).
    lasting: RefCell<HashMap<u64, VecDeque<Answer>>>,
    pub(crate) timers: Timers,
    /// Promises that were rejected and have no handler, with the reason.
    rejected: RefCell<Vec<(Persistent<Value<'static>>, Persistent<Value<'static>>)>>,
}

impl EventLoop {
    pub(crate) fn new() -> Self {
        Self { next: Cell::new(1), wanted: Cell::new(NOTHING), ..Self::default() }
    }

    /// What the script asked for since the last time.
    pub(crate) fn take_asked(&self, into: &mut Vec<Asked>) {
        into.append(&mut self.asked.borrow_mut());
    }

    /// Puts something among what is to be carried out; gives its ticket.
    pub(crate) fn put(&self, action: Action) -> Ticket {
        let ticket = Ticket(self.next.get());
        self.next.set(ticket.0 + 1);
        self.asked.borrow_mut().push(Asked { ticket, action });
        ticket
    }

    /// Whether the coroutine waits for this ticket.
    pub(crate) fn wants(&self, ticket: Ticket) -> bool {
        let (first, last) = self.wanted.get();
        if self.lasting.borrow().contains_key(&ticket.0) {
            return first == ticket.0 && last == ticket.0;
        }
        first <= ticket.0 && ticket.0 <= last && ticket.0 >= self.first.get()
    }

    /// Keeps an answer that the script does not wait for just now; one that nobody wants is dropped.
    pub(crate) fn keep(&self, ticket: Ticket, answer: Answer) {
        let bytes = answer.bytes();
        if let Some(queue) = self.lasting.borrow_mut().get_mut(&ticket.0) {
            queue.push_back(answer);
        } else if ticket.0 >= self.first.get() && self.tasks.borrow().contains_key(&ticket.0) {
            self.arrived.borrow_mut().push_back((ticket, answer));
        } else {
            return;
        }
        let mut weights = self.weights.borrow_mut();
        let (count, sum) = weights.entry(ticket.0).or_default();
        (*count, *sum) = (*count + 1, *sum + bytes);
    }

    /// Answers of a ticket that wait for the script, and the bytes in them.
    pub(crate) fn backlog(&self, ticket: Ticket) -> (usize, usize) {
        self.weights.borrow().get(&ticket.0).copied().unwrap_or_default()
    }

    /// An answer waits no longer.
    fn lighten(&self, ticket: u64, answer: &Answer) {
        let mut weights = self.weights.borrow_mut();
        if let Some((count, sum)) = weights.get_mut(&ticket) {
            (*count, *sum) = (*count - 1, *sum - answer.bytes());
            if *count == 0 {
                weights.remove(&ticket);
            }
        }
    }

    /// The first answer that waits for the script and is not of what lasts.
    fn take_any(&self) -> Option<(Ticket, Answer)> {
        let (ticket, answer) = self.arrived.borrow_mut().pop_front()?;
        self.lighten(ticket.0, &answer);
        Some((ticket, answer))
    }

    /// The first answer of this ticket that waits for the script.
    fn take_arrived(&self, ticket: Ticket) -> Option<Answer> {
        let lasting = self.lasting.borrow_mut().get_mut(&ticket.0).map(VecDeque::pop_front);
        let answer = match lasting {
            Some(answer) => answer?,
            None => {
                let mut arrived = self.arrived.borrow_mut();
                let at = arrived.iter().position(|(of, _)| *of == ticket)?;
                arrived.remove(at)?.1
            }
        };
        self.lighten(ticket.0, &answer);
        Some(answer)
    }

    /// Until when the coroutine waits.
    pub(crate) fn until(&self) -> Option<Nanos> {
        self.until.get()
    }

    /// Forgets what an iteration left: late answers are nobody's.
    pub(crate) fn clear(&self) {
        self.first.set(self.next.get());
        self.wanted.set(NOTHING);
        self.until.set(None);
        // Nobody waits for what sockets are told: it is done all the same.
        self.asked.borrow_mut().retain(|asked| matches!(asked.action, Action::Socket(_)));
        // What waits for the script may hold values of it, so each is dropped outside of the borrow.
        drop(self.arrived.take());
        let lasting = self.lasting.borrow();
        self.weights.borrow_mut().retain(|ticket, _| lasting.contains_key(ticket));
        drop(self.tasks.take());
        drop(self.rejected.take());
        self.timers.clear();
    }
}

/// No ticket.
const NOTHING: (u64, u64) = (1, 0);
/// Every ticket.
const ANYTHING: (u64, u64) = (0, u64::MAX);

impl Seat {
    /// Asks for an action and waits for its answer, while other VUs run.
    ///
    /// # Errors
    /// The script only begins, or is to end: a JavaScript exception is thrown.
    pub(crate) fn ask(&self, ctx: &Ctx<'_>, what: &str, action: Action) -> Result<Answer> {
        self.may_ask(ctx, what)?;
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
    ) -> Result<(Ticket, Answer)> {
        loop {
            if let Event::Answer(ticket, answer) = self.wait(ctx, (first.0, last.0), None)? {
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
    ) -> Result<Option<Answer>> {
        if let Some(answer) = self.events.take_arrived(ticket) {
            return Ok(Some(answer));
        }
        loop {
            if until.is_some_and(|until| self.host.now() >= until) {
                return Ok(None);
            }
            if let Event::Answer(_, answer) = self.wait(ctx, (ticket.0, ticket.0), until)? {
                return Ok(Some(answer));
            }
        }
    }

    /// Waits for time to pass; nothing else of the VU runs.
    ///
    /// # Errors
    /// The script only begins, or is to end: a JavaScript exception is thrown.
    pub(crate) fn rest(&self, ctx: &Ctx<'_>, what: &str, time: Nanos) -> Result<()> {
        self.may_ask(ctx, what)?;
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
        action: Action,
        then: Then,
    ) -> Result<Ticket> {
        self.may_ask(ctx, what)?;
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
        action: Action,
    ) -> Result<Ticket> {
        self.may_ask(ctx, what)?;
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

    fn may_ask(&self, ctx: &Ctx<'_>, what: &str) -> Result<()> {
        self.begun(ctx, what)?;
        if self.stopped.get() { Err(interrupted(ctx)) } else { Ok(()) }
    }

    /// Leaves the coroutine until an answer to one of these tickets comes, or the time has passed.
    fn wait(&self, ctx: &Ctx<'_>, wanted: (u64, u64), until: Option<Nanos>) -> Result<Event> {
        if self.stopped.get() {
            return Err(interrupted(ctx));
        }
        self.events.wanted.set(wanted);
        self.events.until.set(until);
        let told = self.suspender.suspend(Said::Waits);
        self.events.wanted.set(NOTHING);
        match told {
            Told::Answer(ticket, answer) => Ok(Event::Answer(ticket, answer)),
            Told::Woke => Ok(Event::Woke),
            Told::End | Told::Call(_) => {
                self.stopped.set(true);
                Err(interrupted(ctx))
            }
        }
    }
}

/// What ended a wait.
enum Event {
    Answer(Ticket, Answer),
    Woke,
}

/// Runs all that a call left behind, until nothing is left.
///
/// # Errors
/// Something threw, or a promise was rejected that nobody handles: the iteration ends.
pub(crate) fn run(ctx: &Ctx<'_>, seat: &Seat) -> std::result::Result<(), Exception> {
    let thrown = |error: Error| Exception::of(ctx, error);
    let mut left = BURST_MAX;
    loop {
        run_jobs(ctx, seat).map_err(thrown)?;
        reject_unhandled(ctx, seat)?;
        let now = seat.host.now();
        if left > 0 {
            left -= 1;
            if let Some(timer) = seat.events.timers.take_due(now) {
                timer.run(ctx, now).map_err(thrown)?;
                continue;
            }
            let arrived = seat.events.take_any();
            if let Some((ticket, answer)) = arrived {
                deliver(ctx, seat, ticket, answer).map_err(thrown)?;
                continue;
            }
        }
        let is_spent = left == 0;
        let until = if is_spent { Some(now) } else { seat.events.timers.next_due() };
        left = BURST_MAX;
        if until.is_none() && seat.events.tasks.borrow().is_empty() {
            return Ok(());
        }
        // What waits already comes first.
        let wanted = if is_spent { NOTHING } else { ANYTHING };
        match seat.wait(ctx, wanted, until).map_err(thrown)? {
            Event::Answer(ticket, answer) => deliver(ctx, seat, ticket, answer).map_err(thrown)?,
            Event::Woke => {}
        }
    }
}

/// Runs what modules left behind when they began. Nobody waits then: timers run in their order, whatever their time.
///
/// # Errors
/// A timer threw.
pub(crate) fn run_init(ctx: &Ctx<'_>, seat: &Seat) -> Result<()> {
    loop {
        run_jobs(ctx, seat)?;
        let Some(timer) = seat.events.timers.take_due(Nanos::MAX) else { return Ok(()) };
        if seat.interrupts() {
            return Err(interrupted(ctx));
        }
        timer.run(ctx, seat.host.now())?;
    }
}

/// Runs the jobs of promises, until there are none.
fn run_jobs(ctx: &Ctx<'_>, seat: &Seat) -> Result<()> {
    for count in 1_usize.. {
        if !ctx.execute_pending_job() {
            break;
        }
        if count.is_multiple_of(JOBS_BETWEEN_LOOKS) && seat.interrupts() {
            return Err(interrupted(ctx));
        }
    }
    // A job that was interrupted is no exception of anybody.
    if seat.stopped.get() { Err(interrupted(ctx)) } else { Ok(()) }
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
fn deliver(ctx: &Ctx<'_>, seat: &Seat, ticket: Ticket, answer: Answer) -> Result<()> {
    let then = seat.events.tasks.borrow_mut().get_mut(&ticket.0).and_then(Option::take);
    let Some(mut then) = then else { return Ok(()) };
    let next = then(ctx, answer);
    if matches!(next, Ok(Next::More)) {
        // Unless it was forgotten meanwhile.
        if let Some(task) = seat.events.tasks.borrow_mut().get_mut(&ticket.0) {
            *task = Some(then);
        }
    } else {
        seat.forget(ticket);
    }
    next.map(drop)
}

/// QuickJS tells of a promise that was rejected without a handler, or that got one after all.
pub(crate) fn note_rejection<'js>(
    ctx: &Ctx<'js>,
    promise: Value<'js>,
    reason: Value<'js>,
    handled: bool,
) {
    let Ok(seat) = seat_of(ctx) else { return };
    let promise = Persistent::save(ctx, promise);
    let mut rejected = seat.events.rejected.borrow_mut();
    if handled {
        rejected.retain(|(known, _)| *known != promise);
    } else if rejected.len() < REJECTED_MAX {
        rejected.push((promise, Persistent::save(ctx, reason)));
    }
}

/// Throws the first reason that nobody handles.
fn reject_unhandled(ctx: &Ctx<'_>, seat: &Seat) -> std::result::Result<(), Exception> {
    let rejected = seat.events.rejected.take();
    for (_, reason) in rejected {
        if let Ok(reason) = reason.restore(ctx) {
            return Err(uncaught(&reason));
        }
    }
    Ok(())
}

fn uncaught(reason: &Value<'_>) -> Exception {
    let mut exception = Exception { in_promise: true, ..Exception::of_value(reason) };
    if !reason.as_object().is_some_and(|object| object.is_error()) {
        let text = reason.get::<Coerced<String>>();
        exception.text = text.map_or_else(|_| "[object]".to_owned(), |text| text.0);
    }
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

/// An exception that no script can catch.
pub(crate) fn interrupted(ctx: &Ctx<'_>) -> Error {
    ffi::throw_uncatchable(ctx, "interrupted")
}
