//! The pool as the engine sees it: requests of scripts go out, and their results come back in.
//!
//! ```text
//! poll(now):  answers ▸ sleepers ▸ scenarios (which VUs begin an iteration, which stop) ─▶ asks, and when to come back
//! ```

use stdx::Nanos;
use workload::arrival::Shard;
use workload::{
    Backpressure, Commands, EngineResponse, Pipe, PipeEvent, StopMode, StreamEvent, VirtualUsers,
};

use crate::host::action::ActionResult;
use crate::host::traits::{Host as _, Level};
use crate::host::virtual_user::UserProgram;
use crate::http::plan::HttpDebug;
use crate::pool::control::HOLD_STEP;
use crate::pool::plan::VuPoolPlan;
use crate::pool::scenario_state::ScenarioState;
use crate::pool::vu_pool::VuPool;
use crate::record::recorder::Answered;

/// The users of one worker, which run a program.
#[must_use]
pub fn vu_pool<P: UserProgram>(
    program: &P,
    plan: &VuPoolPlan,
    shard: Shard,
) -> Box<dyn VirtualUsers> {
    Box::new(VuPool::new(program, plan.clone(), shard))
}

/// Once so many bytes are to be sent, they are handed to the engine before another VU goes on: 1 MiB.
pub(crate) const TURN_BYTES: usize = 1 << 20;

impl<P: UserProgram> VirtualUsers for VuPool<P> {
    fn poll(&mut self, now: Nanos, commands: &mut Commands) -> Option<Nanos> {
        if self.zero.is_none()
            && self.stopping.is_none()
            && let Some(wait) = self.plan.control.held_for((self.plan.clock)())
        {
            return Some(now.saturating_add(wait));
        }
        let zero = *self.zero.get_or_insert_with(|| {
            self.plan.control.begin((self.plan.clock)());
            now
        });
        self.budget = commands.budget;
        self.host.set_zero(zero);
        self.host.set_now(now);
        let is_paused = self.is_paused();
        while !is_paused
            && self.commands.bytes.len() < TURN_BYTES
            && let Some((owner, answer)) = self.answers.pop_front()
        {
            self.answered(owner, answer, now);
        }
        while let Some(call) = self.redirects.pop_front_if(|_| !is_paused) {
            if self.is_wanted(call.owner) {
                self.send(call);
            }
        }
        while let Some((_, call)) = self.held.pop_front_if(|(at, _)| *at <= now && !is_paused) {
            if self.is_wanted(call.owner) {
                self.send_now(call);
            }
        }
        if !is_paused {
            self.wake_sleepers(now);
        }
        self.work(now, zero);
        self.publish();
        self.gauge(now, zero);
        self.publish_live(now);
        let emit_at = self.emit_samples(now);
        // The caller has carried out all earlier commands.
        std::mem::swap(commands, &mut self.commands);
        if is_paused {
            return Some(now.saturating_add(HOLD_STEP));
        }
        if !self.answers.is_empty() {
            return Some(now);
        }
        let publish_at = self.plan.samples.live.as_ref().map(|_| self.periods.publish_at);
        self.next_wake(now, zero).into_iter().chain(publish_at).chain(emit_at).min()
    }

    fn handle_response(&mut self, user: u32, reply: &EngineResponse<'_>) {
        let Some(mut call) = self.calls.take(user) else { return };
        // Its number is free, and what was wanted of its stream is not meant for the next one's.
        self.commands.stream_commands.retain(|(of, _)| *of != user);
        let owner = call.owner;
        if !self.is_wanted(owner) {
            reply.pipe.into_iter().for_each(|pipe| self.commands.close(pipe));
            return;
        }
        let slot = &mut self.slots[owner.slot];
        slot.bytes = (slot.bytes.0 + reply.bytes_out, slot.bytes.1 + reply.wire_in);
        let (sampled, at) = (slot.sampled(), self.host.sampled_at());
        if let Some(opening) = call.socket.take() {
            return self.finish_opening(call, *opening, reply);
        }
        if let Some(pending) = call.grpc.take() {
            self.debug_call(&call, &pending, reply);
            return self.finish_call(call, *pending, reply);
        }
        self.recorder.http(sampled, &Answered { call: &call, reply, at });
        if let Some(debug) = self.plan.http.debug {
            let (asked, answered) = call.shown(reply, debug == HttpDebug::Full);
            let fields = [("source", "http-debug")];
            (self.plan.log)(Level::Info, &asked, &fields);
            (self.plan.log)(Level::Info, &answered, &fields);
        }
        match call.next(reply, &self.plan) {
            Some(next) => self.redirects.push_back(next),
            None => self.answers.push_back((owner, ActionResult::Http(call.response(reply)))),
        }
    }

    fn handle_pipe_event(&mut self, pipe: Pipe, now: Nanos, what: PipeEvent<'_>) -> Backpressure {
        self.receive(pipe, now, what)
    }

    fn handle_stream_event(&mut self, user: u32, what: StreamEvent<'_>) -> Backpressure {
        self.receive_on_stream(user, what)
    }

    fn stop(&mut self, ending: StopMode) {
        self.stopping = self.stopping.max(Some(ending));
    }

    fn not_begun(&self) -> u64 {
        self.not_begun
    }

    fn due_and_ended(&self) -> (u64, u64) {
        self.due_and_ended
    }

    fn is_over(&self) -> bool {
        self.scenarios.iter().all(ScenarioState::is_over)
    }
}
