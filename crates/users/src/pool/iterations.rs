//! Iterations of a VU: they begin, go on when an answer comes or time has passed, and end.

use std::rc::Rc;
use std::sync::Arc;

use metrics::tally::MetricId;
use stdx::Nanos;
use workload::{ChannelEnd, PollBudget, RequestCommand, Target};

use crate::host::action::{Action, ActionResult};
use crate::host::call::{Call, StepResult};
use crate::host::exception::Exception;
use crate::host::execution::{ExecutionInfo, ScenarioInfo, Stage};
use crate::host::traits::{Host as _, Level};
use crate::host::virtual_user::{UserProgram, VirtualUser as _};
use crate::http::call::HttpCall;
use crate::pool::slot::{RequestOwner, Slot, State, VuSlot};
use crate::pool::vu_pool::VuPool;
use crate::record::recorder::SampleContext;

/// What lines of exceptions come from.
const STACK: &str = "stacktrace";
/// The field of the log's lines of exceptions outside of iterations.
pub const SCRIPT_HINT: (&str, &str) = ("hint", "script exception");
/// How long a VU waits, at most, after the first socket that was refused, and after many.
const BACKOFF_MIN: Nanos = Nanos::from_millis(100);
const BACKOFF_MAX: Nanos = Nanos::from_secs(5);

impl<P: UserProgram> VuPool<P> {
    /// Begins an iteration; `number` is its number in the scenario.
    pub(crate) fn begin(&mut self, slot: VuSlot, number: u64, now: Nanos) {
        self.budget.spend(PollBudget::CONNECTION);
        self.set_busy(slot, now);
        let begun = &mut self.slots[slot];
        let Some(assignment) = begun.assignment.clone() else { return };
        let execution = ExecutionInfo {
            scenario: assignment.scenario.clone(),
            vu: begun.number,
            vu_in_test: self
                .plan
                .work
                .segment
                .vus()
                .number(begun.number.saturating_sub(1))
                .saturating_add(1),
            vu_iteration: begun.iterations,
            vu_iteration_in_scenario: begun.in_scenario,
            scenario_iteration: number,
            scenario_iteration_in_test: self.plan.control.of(begun.scenario).stripe.number(number),
        };
        let call = Call {
            stage: self.plan.work.stage,
            function: Rc::clone(&assignment.function),
            iteration: begun.iterations,
            data: self.data.clone(),
        };
        begun.is_refused = false;
        begun.iterations += 1;
        begun.in_scenario += 1;
        begun.vu.set_execution(execution);
        self.set_deadline(slot);
        let turn = self.slots[slot].vu.call(call);
        self.advance(slot, turn, now);
    }

    /// Gives an answer to the VU that waits for it.
    pub(crate) fn answered(&mut self, owner: RequestOwner, answer: ActionResult, now: Nanos) {
        // A VU that is about to be ended must not see what the end itself made of a request.
        if !self.is_wanted(owner) || self.plan.control.is_halted() {
            return;
        }
        self.set_deadline(owner.slot);
        if let Some(turn) = self.slots[owner.slot].vu.answer(owner.ticket, answer) {
            self.advance(owner.slot, turn, now);
        }
    }

    /// Resumes a script whose timer is due.
    pub(crate) fn wake(&mut self, slot: VuSlot, now: Nanos) {
        if self.plan.control.is_halted() {
            return;
        }
        self.set_deadline(slot);
        if let Some(turn) = self.slots[slot].vu.wake() {
            self.advance(slot, turn, now);
        }
    }

    /// Whether the iteration that asked is still under way.
    pub(crate) fn is_wanted(&self, owner: RequestOwner) -> bool {
        let slot = &self.slots[owner.slot];
        owner.outlives_iteration
            || slot.iterations == owner.iteration && matches!(slot.state, State::Busy(_))
    }

    /// What runs now is interrupted at the end of its own scenario.
    fn set_deadline(&self, slot: VuSlot) {
        let zero = self.zero.unwrap_or_default();
        let scenario = self.slots[slot].scenario;
        let grace = self.plan.work.scenarios[scenario].graceful_stop;
        self.host.set_deadline(zero.saturating_add(self.scenarios[scenario].end), grace);
    }

    /// Handles the result of a VU's step.
    fn advance(&mut self, slot: VuSlot, turn: StepResult, now: Nanos) {
        self.take_samples(slot);
        self.start_actions(slot);
        self.resume_sockets(slot);
        self.resume_streams(slot);
        match turn {
            StepResult::Waits { until: Some(until) } => self.wake_at(slot, until),
            StepResult::Waits { until: None } => self.slots[slot].until = None,
            StepResult::Done(done) => self.finish(slot, done, now),
            StepResult::Cut => {
                // An iteration that ends the test counts, though it is one that was ended.
                if let State::Busy(began) = self.slots[slot].state
                    && self.plan.control.aborted().is_some()
                {
                    self.count_iteration(slot, self.host.elapsed_since(began));
                }
                self.end_cut(slot);
            }
        }
    }

    /// Begins what a VU asked for.
    pub(crate) fn start_actions(&mut self, slot: VuSlot) {
        let vu = &mut self.slots[slot].vu;
        if !vu.has_actions() {
            return;
        }
        let mut actions = std::mem::take(&mut self.actions);
        let _memory = vu.take_actions(&mut actions);
        let iteration = self.slots[slot].iterations;
        let owner = |ticket| RequestOwner { slot, iteration, ticket, outlives_iteration: false };
        for action in actions.drain(..) {
            match action {
                Action::Http(ticket, request) => {
                    let call = HttpCall::new(owner(ticket), request, &self.plan);
                    self.send(call);
                }
                Action::Grpc(ticket, request) => self.send_call(owner(ticket), *request),
                Action::Stream(ticket, what) => self.run_stream_action(slot, ticket, what),
                Action::EndChannel(channel) => {
                    let owner = slot.0 as u32;
                    self.commands.channel_ends.push(ChannelEnd { owner, channel });
                }
                Action::Open(ticket, request) => self.open_socket(owner(ticket), request),
                Action::Socket(ticket, order) => {
                    self.run_socket_command(slot, ticket, &order, self.host.now());
                }
            }
        }
        self.actions = actions;
    }

    /// Sends a request, as soon as the rate of all requests allows it.
    pub(crate) fn send(&mut self, call: HttpCall) {
        if let Some(pace) = &self.plan.http.pace {
            let clock = (self.plan.clock)();
            let wait = pace.take(clock).saturating_sub(clock);
            if wait > Nanos::ZERO {
                let at = self.host.now().saturating_add(wait);
                return self.held.push_back((at, call));
            }
        }
        self.send_now(call);
    }

    /// Sends a request in this poll.
    pub(crate) fn send_now(&mut self, call: HttpCall) {
        let target = self.targets.get(&call);
        let slot = &mut self.slots[call.owner.slot];
        let fresh_connection = call.request().fresh_connection
            || self.plan.http.closes_connections && slot.connected < slot.iterations;
        slot.connected = slot.iterations;
        self.submit(target, fresh_connection, call);
    }

    /// Asks the engine for a target; the call is kept until its answer comes, by the number that is returned.
    pub(crate) fn submit(
        &mut self,
        target: Arc<Target>,
        fresh_connection: bool,
        call: HttpCall,
    ) -> u32 {
        let (timeout, owner) = (call.timeout(), call.owner.slot.0 as u32);
        let (kind, redirected, body_max) = (call.kind(), call.is_away(), call.body_max());
        let tls = call.grpc.as_ref().and_then(|pending| pending.tls.clone());
        let user = self.calls.reserve();
        let led_from = call.led_from().map(Arc::from);
        let tags = self.plan.samples.row_tags.then(|| self.row_tags(&call));
        self.calls.put(user, call);
        self.commands.requests.push(RequestCommand {
            user,
            target,
            timeout,
            body_max,
            owner,
            fresh_connection,
            kind,
            tls,
            redirected,
            led_from,
            tags,
        });
        user
    }

    /// The tags of a call's row.
    fn row_tags(&mut self, call: &HttpCall) -> Arc<str> {
        let scenario = self.slots[call.owner.slot].scenario;
        self.recorder.row_tags(scenario, call.request())
    }

    /// An iteration was ended before its end.
    pub(crate) fn end_cut(&mut self, slot: VuSlot) {
        self.close_all_sockets(slot, self.host.now());
        self.cancel_streams(slot);
        self.count_bytes(slot);
        self.set_idle(slot);
        self.stats.interrupted += 1;
    }

    fn finish(&mut self, slot: VuSlot, done: Result<Option<String>, Exception>, now: Nanos) {
        let State::Busy(began) = self.slots[slot].state else { return };
        let took = self.host.elapsed_since(began);
        self.close_sockets(slot, now, done.is_err());
        self.cancel_streams(slot);
        match done {
            Ok(returned) => self.stats.returned = returned.or(self.stats.returned.take()),
            Err(exception) => {
                let assignment = self.slots[slot].assignment.clone();
                let scenario =
                    assignment.as_ref().and_then(|assignment| assignment.scenario.as_deref());
                self.log_exception(exception, scenario);
            }
        }
        self.count_iteration(slot, took);
        self.stats.iterations += u64::from(self.plan.work.stage == Stage::Iteration);
        self.plan.control.of(self.slots[slot].scenario).note_end();
        self.note_arrival_end(slot);
        let rest = self.plan.work.min_iteration.saturating_sub(took).max(self.backoff(slot));
        if rest == Nanos::ZERO {
            return self.set_idle(slot);
        }
        self.slots[slot].state = State::Resting;
        self.wake_at(slot, now.saturating_add(rest));
    }

    /// An iteration has come to its end, perhaps one of an arrival rate.
    fn note_arrival_end(&mut self, slot: VuSlot) {
        let is_arrival = self.is_arrival(self.slots[slot].scenario);
        self.due_and_ended.1 += u64::from(is_arrival && self.plan.work.stage == Stage::Iteration);
    }

    /// How long a VU waits after a refused socket: twice as long after each, and half of it by chance.
    fn backoff(&mut self, slot: VuSlot) -> Nanos {
        let Slot { refusals, is_refused, scenario, .. } = self.slots[slot];
        if !is_refused || !self.plan.work.backs_off || self.is_arrival(scenario) {
            return Nanos::ZERO;
        }
        let longest = Nanos(BACKOFF_MIN.0 << (refusals - 1).min(16)).min(BACKOFF_MAX);
        Nanos((longest.0 as f64 * (0.5 + self.sockets.chance() / 2.0)) as u64)
    }

    /// Logs what a script threw, in an iteration of this scenario if it was in one.
    pub(crate) fn log_exception(&mut self, exception: Exception, scenario: Option<&ScenarioInfo>) {
        let text = exception.to_string();
        match scenario {
            Some(ScenarioInfo { executor, name, .. }) => {
                let fields = [("executor", *executor), ("scenario", name), ("source", STACK)];
                (self.plan.log)(Level::Error, &text, &fields);
            }
            None if exception.in_promise => (self.plan.log)(Level::Error, &text, &[]),
            None => (self.plan.log)(Level::Error, &text, &[SCRIPT_HINT]),
        }
        self.stats.exception.get_or_insert(exception);
    }

    /// Counts the bytes of an iteration that was ended before its end.
    fn count_bytes(&mut self, slot: VuSlot) {
        let (sent, received) = std::mem::take(&mut self.slots[slot].bytes);
        if (sent, received) == (0, 0) {
            return;
        }
        let (vu_tags, metadata) = self.slots[slot].vu.tags();
        let around = SampleContext {
            at: self.host.sampled_at(),
            group: self.plan.work.stage.group(),
            vu_tags: vu_tags.as_deref(),
            metadata: metadata.as_deref(),
        };
        let values =
            [(MetricId::DATA_SENT, sent as f64), (MetricId::DATA_RECEIVED, received as f64)];
        let sampled = self.slots[slot].sampled();
        self.recorder.own(sampled, &around, &values);
    }

    /// Counts a completed iteration, or a call of `setup` or `teardown`.
    fn count_iteration(&mut self, slot: VuSlot, took: Nanos) {
        let Slot { vu, bytes, .. } = &mut self.slots[slot];
        let (sent, received) = std::mem::take(bytes);
        let (vu_tags, metadata) = vu.tags();
        let around = SampleContext {
            at: self.host.sampled_at(),
            group: self.plan.work.stage.group(),
            vu_tags: vu_tags.as_deref(),
            metadata: metadata.as_deref(),
        };
        let values = [
            (MetricId::DATA_SENT, sent as f64),
            (MetricId::DATA_RECEIVED, received as f64),
            (MetricId::ITERATION_DURATION, took.0 as f64 / 1e6),
            (MetricId::ITERATIONS, 1.0),
        ];
        let is_iteration = self.plan.work.stage == Stage::Iteration;
        let values = &values[..if is_iteration { 4 } else { 2 }];
        let sampled = self.slots[slot].sampled();
        self.recorder.own(sampled, &around, values);
    }

    pub(crate) fn take_samples(&mut self, slot: VuSlot) {
        let slot = &mut self.slots[slot];
        if !slot.vu.has_samples() {
            return;
        }
        slot.vu.take_samples(&mut self.samples);
        for sample in self.samples.drain(..) {
            self.recorder.script(slot.sampled(), &sample);
        }
    }
}
