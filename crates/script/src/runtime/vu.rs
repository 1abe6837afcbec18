//! `Vu`: a virtual user. A fiber of JavaScript on a coroutine; it runs a call at a time and hands out what the script asks for.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use rquickjs::{Atom, Ctx, Function, Object, Value};
use stdx::{MemoryShare, equal};
use users::{
    AbortReason, Action, ActionResult, Call, Exception, ExecutionInfo, Host, Sample, Stage,
    StepResult, TagList, Ticket, VirtualUser,
};

use super::caught::{caught, caught_init};
use super::context::VuContext;
use super::coroutine::{ResumeWith, YieldReason};
use super::deep_stack::VU_STACK_BYTES;
use super::ffi::{Fiber, call_with};
use super::go_json::go_json;
use super::realm::Realm;
use super::{environment, run_loop, summary};

/// A virtual user.
pub struct Vu {
    coroutine: Coroutine<ResumeWith, YieldReason, ()>,
    context: Rc<VuContext>,
    fiber: Fiber,
    realm: Rc<Realm>,
    /// A call is under way.
    waits: bool,
}

impl fmt::Debug for Vu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vu").field("waits", &self.waits).finish_non_exhaustive()
    }
}

impl Vu {
    /// A VU with this number (`__VU`, from 1), its modules run.
    ///
    /// # Errors
    /// A module threw, or there is no memory for a VU.
    pub fn new(realm: &Rc<Realm>, host: Rc<dyn Host>, number: u64) -> Result<Self, Exception> {
        let none =
            |error: &dyn fmt::Display| Exception::internal(format!("no room for a VU: {error}"));
        let stack = DefaultStack::new(VU_STACK_BYTES).map_err(|error| none(&error))?;
        let context = Rc::new(VuContext::new(host, Rc::clone(&realm.urls)));
        let fiber = realm.fiber().ok_or_else(Exception::out_of_memory)?;
        let (inner, ours) = (Rc::clone(&context), Rc::clone(realm));
        let coroutine = Coroutine::with_stack(stack, move |yielder, _: ResumeWith| {
            let suspender = &inner.suspender;
            suspender.within(yielder, || ours.on_stack(|ctx| live(&ctx, &ours, &inner, number)));
        });
        let mut vu = Self { coroutine, context, fiber, realm: Rc::clone(realm), waits: false };
        match vu.resume(ResumeWith::End) {
            Some(YieldReason::Ready(ready)) => ready.map(|()| vu),
            Some(YieldReason::Waits | YieldReason::Done(_) | YieldReason::Cut) | None => {
                Err(none(&"the script ended at once"))
            }
        }
    }

    fn turn(&mut self, with: ResumeWith) -> StepResult {
        let reason = self.resume(with);
        self.waits = matches!(reason, Some(YieldReason::Waits));
        match reason {
            Some(YieldReason::Waits) => StepResult::Waits { until: self.context.events.until() },
            Some(YieldReason::Done(done)) => StepResult::Done(done),
            Some(YieldReason::Cut) => StepResult::Cut,
            Some(YieldReason::Ready(_)) | None => {
                unreachable!("a VU is ready once and ends when it is resumed with an end")
            }
        }
    }

    fn resume(&mut self, with: ResumeWith) -> Option<YieldReason> {
        let Self { coroutine, context, fiber, realm, .. } = self;
        match realm.within(fiber, context, || coroutine.resume(with)) {
            CoroutineResult::Yield(reason) => Some(reason),
            CoroutineResult::Return(()) => None,
        }
    }
}

impl VirtualUser for Vu {
    /// Calls a function of the script.
    ///
    /// # Panics
    /// A call is under way.
    fn call(&mut self, call: Call) -> StepResult {
        assert!(!self.waits, "a VU does one thing at a time");
        self.context.stopped.set(false);
        self.turn(ResumeWith::Call(call))
    }

    /// Where the next call stands in the test. In another scenario, the VU has none of its tags.
    fn set_execution(&mut self, execution: ExecutionInfo) {
        let before = self.context.execution.replace(execution);
        let number = |of: &ExecutionInfo| of.scenario.as_ref().map(|scenario| scenario.number);
        if number(&before) != number(&self.context.execution.borrow()) {
            self.context.new_scenario.set(true);
            drop(self.context.vu_tags.take());
            drop(self.context.metadata.take());
        }
    }

    /// Brings an answer. `None`: the script waits for something else; it is kept, or dropped where it comes too late.
    fn answer(&mut self, ticket: Ticket, answer: ActionResult) -> Option<StepResult> {
        if self.waits && self.context.events.wants(ticket) {
            return Some(self.turn(ResumeWith::Result(ticket, answer)));
        }
        self.context.events.keep(ticket, answer);
        None
    }

    /// The time that a call waited for has come. `None`: none is under way.
    fn wake(&mut self) -> Option<StepResult> {
        self.waits.then(|| self.turn(ResumeWith::Woke))
    }

    /// Ends the call that is under way, if one is.
    fn stop(&mut self) {
        self.context.stopped.set(true);
        while self.waits {
            self.turn(ResumeWith::End);
        }
    }

    /// Whether the script asked for something since the last time.
    fn has_actions(&self) -> bool {
        self.context.events.has_actions()
    }

    /// Takes what the script asked for since the last time; gives the memory that it takes until it is carried out.
    fn take_actions(&mut self, into: &mut Vec<Action>) -> MemoryShare {
        self.context.events.take_actions(into)
    }

    /// Answers of a ticket that came while the script was busy with something else, and wait for it; and the bytes in them.
    fn backlog(&self, ticket: Ticket) -> (usize, usize) {
        self.context.events.backlog(ticket)
    }

    /// Whether the script made samples since the last time.
    fn has_samples(&self) -> bool {
        self.context.has_samples()
    }

    /// Takes the samples that the script made since the last time.
    fn take_samples(&mut self, into: &mut Vec<Sample>) {
        self.context.take_samples(into);
    }

    /// The tags and the metadata that the script gave all its samples.
    fn tags(&self) -> (Option<Rc<TagList>>, Option<Rc<TagList>>) {
        (self.context.vu_tags.borrow().clone(), self.context.metadata.borrow().clone())
    }

    /// Samples that were made faster than they were taken, and are lost.
    fn samples_dropped(&self) -> u64 {
        self.context.samples_dropped()
    }
}

impl Drop for Vu {
    /// Has the script come to its end. A coroutine must not be torn down with C on its stack.
    fn drop(&mut self) {
        self.context.stopped.set(true);
        while !self.coroutine.done() {
            self.resume(ResumeWith::End);
        }
    }
}

/// A VU's life on its coroutine.
fn live(ctx: &Ctx<'_>, realm: &Realm, context: &Rc<VuContext>, number: u64) {
    let suspend = |reason| context.suspender.suspend(reason);
    context.number.set(number);
    let own = match MainModule::start(ctx, realm, context, number) {
        Ok(own) => own,
        Err(error) => {
            suspend(YieldReason::Ready(Err(caught_init(ctx, error, &realm.bound()))));
            return;
        }
    };
    let mut resumed = suspend(YieldReason::Ready(Ok(())));
    while let ResumeWith::Call(call) = resumed {
        let done = called(ctx, context, &own, &call);
        run_loop::run_left_jobs(ctx);
        context.events.clear();
        resumed =
            suspend(if context.stopped.get() { YieldReason::Cut } else { YieldReason::Done(done) });
    }
}

/// What a VU keeps from one call to the next.
struct MainModule<'js> {
    /// What its main module exports.
    exports: Object<'js>,
    /// What `setup` returned, as JSON and parsed: a VU has one copy, and its changes of it stay.
    data: RefCell<Option<(Rc<str>, Value<'js>)>>,
    /// The name of the function called last: mostly it is the next as well.
    called: RefCell<Option<(Rc<str>, Atom<'js>)>>,
    /// `__ITER`.
    iteration: Atom<'js>,
}

impl<'js> MainModule<'js> {
    /// Runs the modules of a VU with this number.
    fn start(
        ctx: &Ctx<'js>,
        realm: &Realm,
        context: &Rc<VuContext>,
        number: u64,
    ) -> rquickjs::Result<Self> {
        ctx.globals().set("__VU", number)?;
        let exports = realm.program.start(ctx, context)?;
        let iteration = Atom::from_str(ctx.clone(), "__ITER")?;
        Ok(Self { exports, data: RefCell::default(), called: RefCell::default(), iteration })
    }

    /// The atom of an export's name.
    fn name_of(&self, ctx: &Ctx<'js>, name: &Rc<str>) -> rquickjs::Result<Atom<'js>> {
        if let Some((of, atom)) = &*self.called.borrow()
            && Rc::ptr_eq(of, name)
        {
            return Ok(atom.clone());
        }
        let atom = Atom::from_str(ctx.clone(), name)?;
        self.called.replace(Some((Rc::clone(name), atom.clone())));
        Ok(atom)
    }

    fn data(&self, ctx: &Ctx<'js>, json: &Rc<str>) -> rquickjs::Result<Value<'js>> {
        if let Some((of, value)) = &*self.data.borrow()
            && Rc::ptr_eq(of, json)
        {
            return Ok(value.clone());
        }
        let value: Value<'js> = ctx.json_parse(&**json)?;
        self.data.replace(Some((Rc::clone(json), value.clone())));
        Ok(value)
    }
}

/// Calls a function of the script and waits for the promise it may return.
fn called<'js>(
    ctx: &Ctx<'js>,
    context: &VuContext,
    own: &MainModule<'js>,
    call: &Call,
) -> Result<Option<String>, Exception> {
    context.stage.set(call.stage);
    context.renew_jar();
    let group = call.stage.group();
    if !equal(&**context.group.borrow(), group) {
        *context.group.borrow_mut() = group.into();
    }
    if context.new_scenario.take() {
        let scenario = context.execution.borrow().scenario.clone();
        let extra = scenario.as_ref().map_or(&[][..], |scenario| &scenario.env);
        // A scenario without variables leaves the environment as the VU has it, but for another scenario's.
        if context.has_scenario_env.replace(!extra.is_empty()) || !extra.is_empty() {
            environment::set_env(ctx, extra).map_err(|error| caught(ctx, error))?;
        }
    }
    invoke(ctx, context, own, call)
}

fn invoke<'js>(
    ctx: &Ctx<'js>,
    context: &VuContext,
    own: &MainModule<'js>,
    call: &Call,
) -> Result<Option<String>, Exception> {
    let thrown = |error| caught(ctx, error);
    let value = begin(ctx, context, own, call).map_err(thrown)?;
    run_loop::run(ctx, context)?;
    match call.stage {
        Stage::Setup => returned(ctx, context, value).map_err(thrown),
        Stage::Summary => summary::written(ctx, value).map_err(thrown),
        Stage::Init | Stage::Iteration | Stage::Teardown => Ok(None),
    }
}

/// Calls the function; gives what it returns, which may be a promise.
fn begin<'js>(
    ctx: &Ctx<'js>,
    context: &VuContext,
    own: &MainModule<'js>,
    call: &Call,
) -> rquickjs::Result<Value<'js>> {
    // VU 0 calls `setup` and `teardown`. It does not iterate, and has no `__ITER`.
    if context.number.get() > 0 {
        ctx.globals().set(own.iteration.clone(), call.iteration)?;
    }
    let data = match &call.data {
        Some(json) => own.data(ctx, json)?,
        None => Value::new_undefined(ctx.clone()),
    };
    let function: Value<'js> = own.exports.get(own.name_of(ctx, &call.function)?)?;
    if call.stage == Stage::Summary && function.is_undefined() {
        return Ok(function);
    }
    let function: Function<'js> = own.exports.get(own.name_of(ctx, &call.function)?)?;
    call_with(function.as_value(), &data)
}

/// What a function returned, or its promise came to, as JSON: Go's, which has null for undefined, and neither functions nor NaN.
fn returned<'js>(
    ctx: &Ctx<'js>,
    context: &VuContext,
    value: Value<'js>,
) -> rquickjs::Result<Option<String>> {
    let value = match value.as_promise() {
        Some(promise) => run_loop::outcome(ctx, promise)?,
        None => value,
    };
    if value.is_undefined() {
        return Ok(None);
    }
    let (json, wrong) = go_json(ctx, value)?;
    if let Some(reason) = wrong {
        let text = format!("error marshaling setup() data to JSON: json: {reason}");
        context.host.halt(AbortReason::NotJson(text));
    }
    Ok(json)
}
