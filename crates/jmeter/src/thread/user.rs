//! `ThreadUser`: a thread as a virtual user: it waits for its start, goes from sampler to sampler, and ends.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use jmx::{Class, Scope as _};
use stdx::{MemoryShare, Nanos};
use users::{Action as Wanted, ActionResult, Call, Host, StepResult, Ticket, VirtualUser};

use super::action::Action;
use super::after::After;
use super::schedule::Start;
use super::scope::Thread;
use crate::http::exchange::{Exchange, Step};
use crate::plan::node::SamplerNode;
use crate::plan::start_plan::StartPlan;
use crate::results::sample::{SampleKind, SampleResult};
use crate::script;
use crate::timer;
use crate::walk::{Logic, Next, Walker};
use crate::world::{LogLevel, Stopping, World};

/// A thread as a virtual user.
pub struct ThreadUser {
    world: Arc<World>,
    host: Rc<dyn Host>,
    group: usize,
    /// Its place in the group, from 0.
    index: u64,
    run: Option<Run>,
    phase: Phase,
    wanted: Option<Wanted>,
    tickets: u64,
}

/// A thread that has begun, or waits for that.
struct Run {
    thread: Thread,
    walker: Walker,
    arrival: u64,
    end: Option<Nanos>,
    is_active: bool,
    /// What an action leaves to be done once its pause is over.
    then: After,
}

enum Phase {
    /// It has not begun.
    Waits,
    /// It looks for the next sampler.
    Walks,
    /// The timers of a sampler run until then.
    Delays(Nanos, usize),
    /// A flow control action pauses until then.
    Pauses(Nanos, usize),
    /// A request of a sampler is under way, by its ticket.
    Asks(u64, usize, Box<Exchange>),
    Over,
}

/// Samplers of a turn that need not wait.
const TURN: usize = 64;
/// A thread that has to wait for others looks again after this time, and after more where there are many.
const LOOK_AGAIN: Nanos = Nanos::from_millis(1);
const LOOK_AGAIN_MAX: Nanos = Nanos::from_millis(20);
/// A long wait is looked after this often, since the test may be stopped meanwhile.
const SLICE: Nanos = Nanos::from_millis(250);

impl ThreadUser {
    /// The thread of a place in a group.
    pub(crate) fn new(world: &Arc<World>, host: Rc<dyn Host>, group: usize, index: u64) -> Self {
        Self {
            world: Arc::clone(world),
            host,
            group,
            index,
            run: None,
            phase: Phase::Waits,
            wanted: None,
            tickets: 0,
        }
    }

    /// Goes on until it has to wait.
    fn drive(&mut self) -> StepResult {
        self.world.watch_end();
        for _ in 0..TURN {
            if let Some(result) = self.turn() {
                return result;
            }
        }
        wait(self.host.now())
    }

    /// One step; what it waits for, where it does.
    fn turn(&mut self) -> Option<StepResult> {
        let mut run = match self.run.take() {
            Some(run) => run,
            None => self.new_run(),
        };
        let phase = std::mem::replace(&mut self.phase, Phase::Over);
        let (phase, result) = match phase {
            Phase::Waits => self.begin(&mut run),
            Phase::Walks => self.walk(&mut run),
            Phase::Delays(until, sampler) => self.delay(&mut run, until, sampler),
            Phase::Pauses(until, sampler) => self.pause(&mut run, until, sampler),
            Phase::Asks(ticket, sampler, exchange) => {
                (Phase::Asks(ticket, sampler, exchange), Some(StepResult::Waits { until: None }))
            }
            Phase::Over => return self.end(run),
        };
        self.phase = phase;
        self.run = Some(run);
        result
    }

    fn new_run(&self) -> Run {
        let group = &self.world.program().groups[self.group];
        let arrival = match group.start {
            StartPlan::Arrivals(_) => self.world.next_arrival(self.group),
            _ => self.index,
        };
        let thread = Thread::new(&self.world, Rc::clone(&self.host), self.group, arrival + 1);
        let walker = Walker::new(self.world.program(), group.root);
        Run {
            thread,
            walker,
            arrival,
            end: None,
            is_active: false,
            then: After::Go(Logic::Continue),
        }
    }

    fn begin(&self, run: &mut Run) -> (Phase, Option<StepResult>) {
        if run.thread.stopping().is_some() {
            return (Phase::Over, None);
        }
        let now = self.host.now();
        match run.thread.start(self.index, run.arrival) {
            Start::Never => self.never(run),
            Start::Later => (Phase::Waits, Some(wait(now.saturating_add(self.look_again())))),
            Start::At(at) if now < at => {
                let slice = now.saturating_add(SLICE);
                (Phase::Waits, Some(wait(at.min(slice))))
            }
            Start::At(_) => {
                run.end = run.thread.end(self.index);
                run.is_active = true;
                self.world.enter(self.group);
                (Phase::Walks, None)
            }
        }
    }

    fn never(&self, run: &Run) -> (Phase, Option<StepResult>) {
        let group = &self.world.program().groups[self.group];
        if let (StartPlan::Never(why), 0) = (&group.start, self.index) {
            run.thread.write_log(LogLevel::Error, "o.a.j.t.ThreadGroup", why);
        }
        (Phase::Over, None)
    }

    /// Many threads that wait must not keep the worker busy with that.
    fn look_again(&self) -> Nanos {
        let threads = self.world.program().users();
        Nanos(LOOK_AGAIN.0.saturating_mul(1 + threads / 200)).min(LOOK_AGAIN_MAX)
    }

    /// Whether the thread's time is up, or the test is to end.
    fn is_over(&self, run: &Run) -> bool {
        run.end.is_some_and(|end| self.host.now() >= end) || run.thread.stopping().is_some()
    }

    fn walk(&mut self, run: &mut Run) -> (Phase, Option<StepResult>) {
        if self.is_over(run) {
            return (Phase::Over, None);
        }
        match run.walker.next(&mut run.thread) {
            Next::Sampler(sampler) => self.prepare(run, sampler),
            Next::Empty | Next::Stop => (Phase::Over, None),
            Next::Pause => {
                let until = self.host.now().saturating_add(self.look_again());
                (Phase::Walks, Some(wait(until)))
            }
        }
    }

    /// Runs what stands before a sampler, and its timers.
    fn prepare(&mut self, run: &mut Run, sampler: usize) -> (Phase, Option<StepResult>) {
        let program = Arc::clone(self.world.program());
        let node = &program.samplers[sampler];
        run.thread.thrown = None;
        run.thread.sampler = node.part.element.name.evaluate(&mut run.thread);
        run.thread.before(node);
        run.thread.has_sampled = true;
        let delay = timer::delay(node, &mut run.thread);
        if run.thread.loses_row() {
            return self.go_on(run, sampler, After::Go(Logic::Continue));
        }
        // What scripts have slept so far is over before the sampler begins.
        let slept = Nanos::from_millis(std::mem::take(&mut run.thread.wishes.sleep_ms));
        let delay = delay.saturating_add(slept);
        let now = self.host.now();
        let until = now.saturating_add(delay);
        (Phase::Delays(run.end.map_or(until, |end| until.min(end.max(now))), sampler), None)
    }

    fn delay(
        &mut self,
        run: &mut Run,
        until: Nanos,
        sampler: usize,
    ) -> (Phase, Option<StepResult>) {
        if let Some(result) = self.rest(run, until) {
            return (Phase::Delays(until, sampler), Some(result));
        }
        if self.is_over(run) {
            return (Phase::Over, None);
        }
        self.sample(run, sampler)
    }

    /// Waits until then, in slices; `None` once the time has come, or the test is to end at once.
    fn rest(&self, run: &Run, until: Nanos) -> Option<StepResult> {
        let now = self.host.now();
        let is_stopped = run.thread.stopping() == Some(Stopping::Now);
        (now < until && !is_stopped).then(|| wait(until.min(now.saturating_add(SLICE))))
    }

    fn pause(
        &mut self,
        run: &mut Run,
        until: Nanos,
        sampler: usize,
    ) -> (Phase, Option<StepResult>) {
        match self.rest(run, until) {
            Some(result) => (Phase::Pauses(until, sampler), Some(result)),
            None => self.go_on(run, sampler, run.then),
        }
    }

    /// Runs a sampler.
    fn sample(&mut self, run: &mut Run, sampler: usize) -> (Phase, Option<StepResult>) {
        let program = Arc::clone(self.world.program());
        let node = &program.samplers[sampler];
        match node.part.class() {
            Class::TestAction => match run.thread.action(&node.part) {
                Action::Pause(time) => {
                    let until = self.host.now().saturating_add(Nanos::from_millis(time));
                    run.then = After::Go(Logic::Continue);
                    let until = run.end.map_or(until, |end| until.min(end));
                    (Phase::Pauses(until, sampler), None)
                }
                Action::Leave(after) => self.go_on(run, sampler, after),
            },
            Class::DebugSampler => {
                let sample = debug_sample(&run.thread);
                self.finish(run, sampler, sample)
            }
            class if script::is_script(class) => {
                let sample = script::sample(&node.part, node, &mut run.thread);
                self.finish(run, sampler, sample)
            }
            _ => {
                let (exchange, step) = Exchange::begin(node, &mut run.thread);
                self.advance(run, sampler, Box::new(exchange), step)
            }
        }
    }

    fn advance(
        &mut self,
        run: &mut Run,
        sampler: usize,
        exchange: Box<Exchange>,
        step: Step,
    ) -> (Phase, Option<StepResult>) {
        match step {
            Step::Send(request) => {
                self.tickets += 1;
                self.wanted = Some(Wanted::Http(Ticket(self.tickets), request));
                (
                    Phase::Asks(self.tickets, sampler, exchange),
                    Some(StepResult::Waits { until: None }),
                )
            }
            Step::Done(sample) => self.finish(run, sampler, *sample),
            Step::Nothing => self.go_on(run, sampler, After::Go(Logic::Continue)),
        }
    }

    /// A sample is there: post-processors, assertions, results.
    fn finish(
        &mut self,
        run: &mut Run,
        sampler: usize,
        sample: SampleResult,
    ) -> (Phase, Option<StepResult>) {
        let program = Arc::clone(self.world.program());
        let after = conclude(&mut run.thread, &program.samplers[sampler], sample);
        let wishes = std::mem::take(&mut run.thread.wishes);
        let after = wishes.after.unwrap_or(after);
        if wishes.sleep_ms == 0 {
            return self.go_on(run, sampler, after);
        }
        run.then = after;
        let until = self.host.now().saturating_add(Nanos::from_millis(wishes.sleep_ms));
        (Phase::Pauses(until, sampler), None)
    }

    /// Goes on after a sampler.
    fn go_on(
        &mut self,
        run: &mut Run,
        sampler: usize,
        after: After,
    ) -> (Phase, Option<StepResult>) {
        match after {
            After::Stop => (Phase::Over, None),
            After::Go(logic) => {
                let program = Arc::clone(self.world.program());
                let controllers = &program.samplers[sampler].controllers;
                run.walker.leave(controllers, logic, &mut run.thread);
                (Phase::Walks, None)
            }
        }
    }

    /// A thread ends. A user of arrivals takes the next; any other is done.
    fn end(&mut self, mut run: Run) -> Option<StepResult> {
        run.walker.end_all(&mut run.thread);
        if run.is_active {
            self.world.leave(self.group);
            run.thread.write_log(
                LogLevel::Info,
                "o.a.j.t.JMeterThread",
                &format!("Thread finished: {}", run.thread.name),
            );
        }
        let group = &self.world.program().groups[self.group];
        if let StartPlan::Arrivals(moments) = &group.start
            && run.thread.stopping().is_none()
            && run.arrival + 1 < moments.len() as u64
        {
            self.phase = Phase::Waits;
            return None;
        }
        self.phase = Phase::Over;
        self.world.finish(self.group);
        Some(StepResult::Done(Ok(None)))
    }
}

fn wait(until: Nanos) -> StepResult {
    StepResult::Waits { until: Some(until) }
}

/// What becomes of a sample, and of its thread.
fn conclude(thread: &mut Thread, node: &SamplerNode, mut sample: SampleResult) -> After {
    label(thread, &mut sample);
    let shared = Rc::new(RefCell::new(sample.clone()));
    thread.previous = Some(Rc::clone(&shared));
    let Some(after) = thread.after(node, &mut sample) else {
        return After::Go(Logic::Continue);
    };
    thread.judge(&mut sample, &node.assertions);
    sample.counts.1 = u64::from(!sample.is_success);
    sample.variables = thread.shown_variables();
    if !thread.wishes.is_ignored {
        thread.listen(node, &sample);
        thread.deliver(&sample);
    }
    let is_success = sample.is_success;
    shared.replace(sample);
    match after {
        After::Go(Logic::Continue) if !is_success => thread.after_failure(),
        after => after,
    }
}

/// Gives a sample, and those below it, their names and their thread.
fn label(thread: &Thread, sample: &mut SampleResult) {
    sample.label.clone_from(&thread.sampler);
    sample.counts = (1, 0);
    sample.name_children();
    sample.set_thread(&thread.name, thread.world.active(thread.group));
}

/// The variables of a thread as a sample's text.
fn debug_sample(thread: &Thread) -> SampleResult {
    let mut variables: Vec<(&String, &String)> = thread.variables.iter().collect();
    variables.sort();
    let lines = variables.iter().map(|(name, value)| format!("{name}={value}\n"));
    let text = format!("\nJMeterVariables:\n{}\n", lines.collect::<String>());
    SampleResult {
        start_ms: thread.unix_ms(),
        code: "200".to_owned(),
        message: "OK".to_owned(),
        is_success: true,
        data_type: "text",
        body: text.clone().into_bytes(),
        body_bytes: text.len() as u64,
        text,
        kind: SampleKind::Plain,
        ..SampleResult::default()
    }
}

impl VirtualUser for ThreadUser {
    fn call(&mut self, _: Call) -> StepResult {
        self.drive()
    }

    fn answer(&mut self, ticket: Ticket, answer: ActionResult) -> Option<StepResult> {
        let ActionResult::Http(response) = answer else { return None };
        let Phase::Asks(asked, ..) = &self.phase else { return None };
        if *asked != ticket.0 {
            return None;
        }
        let Phase::Asks(_, sampler, mut exchange) = std::mem::replace(&mut self.phase, Phase::Over)
        else {
            return None;
        };
        self.world.watch_end();
        let mut run = self.run.take()?;
        let program = Arc::clone(self.world.program());
        let step = exchange.answer(*response, &program.samplers[sampler], &mut run.thread);
        let (phase, result) = self.advance(&mut run, sampler, exchange, step);
        self.phase = phase;
        self.run = Some(run);
        Some(result.unwrap_or_else(|| self.drive()))
    }

    fn wake(&mut self) -> Option<StepResult> {
        Some(self.drive())
    }

    fn stop(&mut self) {
        self.wanted = None;
        if let Some(mut run) = self.run.take() {
            run.walker.end_all(&mut run.thread);
            if run.is_active {
                self.world.leave(self.group);
            }
            self.world.finish(self.group);
        }
        self.phase = Phase::Over;
    }

    fn has_actions(&self) -> bool {
        self.wanted.is_some()
    }

    fn take_actions(&mut self, into: &mut Vec<Wanted>) -> MemoryShare {
        into.extend(self.wanted.take());
        MemoryShare::default()
    }
}
