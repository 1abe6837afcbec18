//! The pool as the engine sees it: what scripts ask for goes out, and what became of it comes back in.
//!
//! ```text
//! poll(now):  answers ▸ sleepers ▸ scenarios (who begins an iteration, who has to stop) ─▶ asks, and when to come back
//! ```

use stdx::Nanos;
use workload::arrival::Shard;
use workload::{Backpressure, Commands, EngineResponse, Pipe, PipeEvent, StopMode, VirtualUsers};

use super::http_plan::Debug;
use super::plan::CrewPlan;
use super::pool::Crew;
use super::scenario_state::Work;
use crate::host::action::Answer;
use crate::host::traits::{Host as _, Level};

/// The users of one worker.
#[must_use]
pub fn crew(plan: &CrewPlan, shard: Shard) -> Box<dyn VirtualUsers> {
    Box::new(Crew::new(plan.clone(), shard))
}

impl VirtualUsers for Crew {
    fn poll(&mut self, now: Nanos, commands: &mut Commands) -> Option<Nanos> {
        let zero = *self.zero.get_or_insert_with(|| {
            self.plan.control.begin((self.plan.clock)());
            now
        });
        self.budget = commands.budget;
        self.world.set_zero(zero);
        self.world.set_now(now);
        while let Some((whose, answer)) = self.answers.pop_front() {
            self.answered(whose, answer, now);
        }
        while let Some(call) = self.redirects.pop_front() {
            if self.is_wanted(call.owner) {
                self.send(call);
            }
        }
        while let Some((_, call)) = self.held.pop_front_if(|(at, _)| *at <= now) {
            if self.is_wanted(call.owner) {
                self.send_now(call);
            }
        }
        self.wake_sleepers(now);
        self.work(now, zero);
        self.publish();
        self.gauge(now, zero);
        self.tell(now);
        // The caller has done all that it was told before.
        std::mem::swap(commands, &mut self.commands);
        let told = self.plan.live.as_ref().map(|_| self.tell_at);
        self.next_wake(now, zero).into_iter().chain(told).min()
    }

    fn handle_response(&mut self, user: u32, reply: &EngineResponse<'_>) {
        let Some(mut call) = self.sent.get_mut(user as usize).and_then(Option::take) else {
            return;
        };
        self.free.push(user);
        let whose = call.owner;
        if !self.is_wanted(whose) {
            reply.pipe.into_iter().for_each(|pipe| self.commands.close(pipe));
            return;
        }
        let slot = &mut self.slots[whose.slot];
        slot.bytes = (slot.bytes.0 + reply.bytes_out, slot.bytes.1 + reply.wire_in);
        let (sampled, at) = (slot.sampled(), self.world.sampled_at());
        if let Some(opening) = call.socket.take() {
            return self.opened(call, *opening, reply);
        }
        self.recorder.http(&mut self.seen.tally, sampled, (&call, reply), at);
        if let Some(debug) = self.plan.http.debug {
            let (asked, answered) = call.shown(reply, debug == Debug::Full);
            let fields = [("source", "http-debug")];
            (self.plan.log)(Level::Info, &asked, &fields);
            (self.plan.log)(Level::Info, &answered, &fields);
        }
        match call.next(reply, &self.plan) {
            Some(next) => self.redirects.push_back(next),
            None => self.answers.push_back((whose, Answer::Http(call.answer(reply)))),
        }
    }

    fn handle_pipe_event(&mut self, pipe: Pipe, now: Nanos, what: PipeEvent<'_>) -> Backpressure {
        self.heard(pipe, now, what)
    }

    fn stop(&mut self, ending: StopMode) {
        self.stopping = self.stopping.max(Some(ending));
    }

    fn is_over(&self) -> bool {
        self.works.iter().all(Work::is_over)
    }
}
