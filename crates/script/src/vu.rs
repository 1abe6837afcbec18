//! `Vu`: a virtual user. A JavaScript runtime on a coroutine; it runs a call at a time and hands out what the script asks for.

use std::fmt;
use std::rc::Rc;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use rquickjs::{Context, Ctx, Function, Object, Promise, Runtime, Value};

use crate::action::{Action, Answer};
use crate::exception::Exception;
use crate::host::Host;
use crate::program::Program;
use crate::seat::{Sample, Seat, Stage, TagList};

/// A VU's stack: 256 KiB, of which only what is used takes memory.
const STACK_LEN: usize = 256 << 10;
/// What of it is left to our own functions below JavaScript's deepest.
const STACK_SPARE: usize = 64 << 10;
/// A VU's runtime may hold this much: 512 MiB.
const MEMORY_MAX: usize = 512 << 20;

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

/// What a VU came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// The script waits for this.
    Asks(Action),
    /// The call has ended: what it returned, as JSON, or what it threw.
    Done(Result<Option<String>, Exception>),
}

/// Into the coroutine.
#[derive(Debug)]
pub(crate) enum Told {
    Call(Call),
    Answer(Answer),
    End,
}

/// Out of the coroutine.
#[derive(Debug)]
pub(crate) enum Said {
    /// The modules ran, or threw.
    Ready(Result<(), Exception>),
    Asks(Action),
    Done(Result<Option<String>, Exception>),
}

/// A virtual user.
pub struct Vu {
    coroutine: Coroutine<Told, Said, ()>,
    seat: Rc<Seat>,
    /// A call is under way: it waits for an answer.
    asks: bool,
}

impl fmt::Debug for Vu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vu").field("asks", &self.asks).finish_non_exhaustive()
    }
}

impl Vu {
    /// A VU with this number (`__VU`, from 1), its modules run.
    ///
    /// # Errors
    /// A module threw, or there is no memory for a VU.
    pub fn new(program: &Program, host: Rc<dyn Host>, number: u64) -> Result<Self, Exception> {
        let none = |error: &dyn fmt::Display| Exception {
            text: format!("no room for a VU: {error}"),
            stack: String::new(),
        };
        let stack = DefaultStack::new(STACK_LEN).map_err(|error| none(&error))?;
        let seat = Rc::new(Seat::new(host));
        let (program, inner) = (program.clone(), Rc::clone(&seat));
        let coroutine = Coroutine::with_stack(stack, move |yielder, _: Told| {
            let outer = Rc::clone(&inner);
            outer.suspender.within(yielder, || live(&program, &inner, number));
        });
        let mut vu = Self { coroutine, seat, asks: false };
        match vu.resume(Told::End) {
            Some(Said::Ready(ready)) => ready.map(|()| vu),
            Some(Said::Asks(_) | Said::Done(_)) | None => Err(none(&"the script ended at once")),
        }
    }

    /// Calls a function of the script.
    ///
    /// # Panics
    /// A call is under way.
    pub fn call(&mut self, call: Call) -> Turn {
        assert!(!self.asks, "a VU does one thing at a time");
        self.seat.stopped.set(false);
        self.turn(Told::Call(call))
    }

    /// Brings the answer to what the script asked for.
    ///
    /// # Panics
    /// It asked for nothing.
    pub fn answer(&mut self, answer: Answer) -> Turn {
        assert!(self.asks, "a VU that asks for nothing gets no answer");
        self.turn(Told::Answer(answer))
    }

    /// Takes the samples that the script made since the last time.
    pub fn take_samples(&self, into: &mut Vec<Sample>) {
        self.seat.take_samples(into);
    }

    /// The tags and the metadata that the script gave all its samples.
    #[must_use]
    pub fn tags(&self) -> (Option<Rc<TagList>>, Option<Rc<TagList>>) {
        (self.seat.vu_tags.borrow().clone(), self.seat.metadata.borrow().clone())
    }

    /// Samples that were made faster than they were taken, and are lost.
    #[must_use]
    pub fn samples_dropped(&self) -> u64 {
        self.seat.samples_dropped()
    }

    fn turn(&mut self, told: Told) -> Turn {
        let said = self.resume(told);
        self.asks = matches!(said, Some(Said::Asks(_)));
        match said {
            Some(Said::Asks(action)) => Turn::Asks(action),
            Some(Said::Done(done)) => Turn::Done(done),
            Some(Said::Ready(_)) | None => {
                unreachable!("a VU is ready once and ends when it is told to")
            }
        }
    }

    fn resume(&mut self, told: Told) -> Option<Said> {
        match self.coroutine.resume(told) {
            CoroutineResult::Yield(said) => Some(said),
            CoroutineResult::Return(()) => None,
        }
    }
}

impl Drop for Vu {
    /// Has the script come to its end. A coroutine must not be torn down with C on its stack.
    fn drop(&mut self) {
        self.seat.stopped.set(true);
        while !self.coroutine.done() {
            self.resume(Told::End);
        }
    }
}

/// A VU's life on its coroutine.
fn live(program: &Program, seat: &Rc<Seat>, number: u64) {
    let say = |said| seat.suspender.suspend(said);
    let runtime = match prepared(program, seat) {
        Ok(runtime) => runtime,
        Err(error) => {
            let text = error.to_string();
            say(Said::Ready(Err(Exception { text, stack: String::new() })));
            return;
        }
    };
    runtime.1.with(|ctx| {
        let began = ctx.globals().set("__VU", number).and_then(|()| program.start(&ctx, seat));
        let exports = match began {
            Ok(exports) => exports,
            Err(error) => {
                say(Said::Ready(Err(Exception::of(&ctx, error))));
                return;
            }
        };
        let mut told = say(Said::Ready(Ok(())));
        while let Told::Call(call) = told {
            let done = called(&ctx, seat, &exports, &call);
            told = say(Said::Done(done));
        }
    });
}

/// A runtime with its limits and its context.
fn prepared(program: &Program, seat: &Rc<Seat>) -> rquickjs::Result<(Runtime, Context)> {
    let runtime = Runtime::new()?;
    runtime.set_memory_limit(MEMORY_MAX);
    runtime.set_max_stack_size(STACK_LEN - STACK_SPARE);
    let asked = Rc::clone(seat);
    runtime.set_interrupt_handler(Some(Box::new(move || {
        asked.stopped.get() || asked.host.interrupts()
    })));
    let (resolver, loader) = program.loaders();
    runtime.set_loader(resolver, loader);
    let context = Context::full(&runtime)?;
    Ok((runtime, context))
}

/// Calls a function of the script and waits for the promise it may return.
fn called<'js>(
    ctx: &Ctx<'js>,
    seat: &Seat,
    exports: &Object<'js>,
    call: &Call,
) -> Result<Option<String>, Exception> {
    seat.stage.set(call.stage);
    let group = call.stage.group();
    if **seat.group.borrow() != *group {
        *seat.group.borrow_mut() = group.into();
    }
    let outcome = invoke(ctx, exports, call);
    outcome.map_err(|error| Exception::of(ctx, error))
}

fn invoke<'js>(
    ctx: &Ctx<'js>,
    exports: &Object<'js>,
    call: &Call,
) -> rquickjs::Result<Option<String>> {
    ctx.globals().set("__ITER", call.iteration)?;
    let data = match &call.data {
        Some(json) => ctx.json_parse(&**json)?,
        None => Value::new_undefined(ctx.clone()),
    };
    let function: Function<'js> = exports.get(&*call.function)?;
    let mut value: Value<'js> = function.call((data,))?;
    if let Some(promise) = value.as_promise() {
        value = settled(ctx, promise)?;
    }
    while ctx.execute_pending_job() {}
    match ctx.json_stringify(value)? {
        Some(json) => json.to_string().map(Some),
        None => Ok(None),
    }
}

/// What a promise comes to; undefined where nothing is left that could settle it.
fn settled<'js>(ctx: &Ctx<'js>, promise: &Promise<'js>) -> rquickjs::Result<Value<'js>> {
    loop {
        if let Some(result) = promise.result() {
            return result;
        }
        if !ctx.execute_pending_job() {
            return Ok(Value::new_undefined(ctx.clone()));
        }
    }
}
