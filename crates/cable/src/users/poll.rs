//! The users of a worker as the engine sees them: it polls them, passes responses and pipe events on, and stops them.

use stdx::Nanos;
use workload::{
    Backpressure, Commands, EngineResponse, Pipe, PipeEvent, PollBudget, StopMode, VirtualUsers,
};

use super::state::{CableUsers, Phase, WATCH_EVERY};
use super::timer_queue::Entry;
use super::user::{PingState, Stage};
use super::user_table::UserId;
use crate::plan::Pattern;

/// How long a socket may be without a ping: Action Cable's own client then considers the connection lost.
const SILENCE_MAX: Nanos = Nanos::from_secs(6);
/// How often a barrier is looked at that the users of other machines have not reached yet.
const BARRIER_EVERY: Nanos = Nanos::from_millis(50);
/// How long messages in flight are waited for after an interrupt, at most: some may never come.
const STOPPING_MAX: Nanos = Nanos::SECOND;

impl CableUsers {
    /// Lets the users act that are due.
    fn run_due(&mut self, now: Nanos) {
        while self.budget.is_left() {
            let Some(Entry { at, user, generation }) = self.timers.due(now) else { return };
            if self.users[user].generation != generation {
                continue;
            }
            match self.users[user].stage {
                Stage::Away => {
                    self.budget.spend(PollBudget::CONNECTION);
                    self.connect(user, at);
                }
                Stage::Subscribed => {
                    self.budget.spend(PollBudget::MESSAGE);
                    self.perform_in_turn(user, at, now);
                }
                _ => {}
            }
        }
    }

    /// Drops users whose welcome or confirmation has not come in time.
    pub(super) fn stop_waiting(&mut self, now: Nanos) {
        while let Some(Entry { user, generation, .. }) = self.timers.overdue(now) {
            if self.users[user].generation != generation {
                continue;
            }
            let problem = match self.users[user].stage {
                Stage::Greeting => "no welcome in time",
                Stage::Subscribing => "no confirmation in time",
                _ => continue,
            };
            self.report.unconfirmed += 1;
            self.connection_lost(user, now, problem);
        }
    }

    /// When the pattern's load ends: the duration after all users were up.
    pub(super) fn end(&self) -> Option<Nanos> {
        let up = self.cable.barrier.up_at(self.round)?;
        Some(up.saturating_add(self.cable.plan.duration))
    }

    /// Whether there is nothing more to do.
    fn is_done(&self, now: Nanos) -> bool {
        let stops = self.phase == Phase::Stopping;
        let ended = stops || self.end().is_some_and(|end| end <= now);
        match self.cable.plan.pattern {
            Pattern::Echo { .. } => ended && self.echoes.waiting() == 0,
            Pattern::Broadcast { .. } => self.is_finished(now),
            Pattern::Idle => ended,
            Pattern::Herd { .. } => {
                stops || (ended && self.round + 1 == self.cable.barrier.rounds())
            }
        }
    }

    /// Counts sockets without pings.
    pub(super) fn watch(&mut self, now: Nanos) {
        if now < self.next_watch {
            return;
        }
        self.next_watch = now + WATCH_EVERY;
        self.log_part();
        for user in self.users.iter_mut().filter(|user| user.is_subscribed()) {
            let silent = now.saturating_sub(user.last_ping);
            if silent > SILENCE_MAX {
                self.report.silence_longest = self.report.silence_longest.at_least(silent);
                if user.ping_state != PingState::Overdue {
                    user.ping_state = PingState::Overdue;
                    self.report.silences += 1;
                }
            }
        }
    }

    /// Whether an interrupt's time for messages in flight is over.
    pub(super) fn is_stop_overdue(&self, now: Nanos) -> bool {
        self.stop_deadline.is_some_and(|until| until <= now)
    }

    /// When there is something to do after `now`.
    fn wake(&self, now: Nanos) -> Option<Nanos> {
        let times = [
            self.timers.next(),
            self.next_broadcast(),
            self.echoes.next_limit(),
            self.stop_deadline.filter(|until| *until > now),
            // Past it there are messages to wait for, or other workers; they have times of their own.
            self.end().filter(|end| *end > now),
            Some(self.next_watch),
            self.cable.barrier.is_waiting(self.round).then_some(now + BARRIER_EVERY),
            self.is_cutting().then_some(now),
        ];
        times.into_iter().flatten().min()
    }
}

impl VirtualUsers for CableUsers {
    fn poll(&mut self, now: Nanos, commands: &mut Commands) -> Option<Nanos> {
        (self.budget, self.now) = (commands.budget, now);
        if self.phase == Phase::Stopping {
            self.stop_deadline.get_or_insert(now.saturating_add(STOPPING_MAX));
        }
        if self.phase != Phase::Over {
            self.run_due(now);
            self.stop_waiting(now);
            match self.cable.plan.pattern {
                Pattern::Echo { .. } => self.expire_echoes(now),
                Pattern::Broadcast { .. } => self.run_broadcast(now),
                Pattern::Herd { give_up, .. } => self.run_herd(now, give_up),
                Pattern::Idle => {}
            }
            self.watch(now);
            if self.is_done(now) {
                self.finish(now);
            }
        }
        commands.requests.append(&mut self.commands.requests);
        commands.pipe_commands.append(&mut self.commands.pipe_commands);
        commands.bytes.append(&mut self.commands.bytes);
        commands.samples.append(&mut self.commands.samples);
        self.wake(now)
    }

    fn handle_response(&mut self, user: u32, reply: &EngineResponse<'_>) {
        self.answered(UserId(user), reply);
    }

    fn handle_pipe_event(&mut self, pipe: Pipe, now: Nanos, what: PipeEvent<'_>) -> Backpressure {
        let Some(user) = self.user_of(pipe) else { return Backpressure::Continue };
        match what {
            PipeEvent::Bytes(bytes) => self.receive(user, now, bytes),
            PipeEvent::End => self.connection_lost(user, now, "the server ended the connection"),
            PipeEvent::Lost(kind, _) => {
                self.connection_lost(user, now, format!("connection lost: {kind}"));
            }
        }
        Backpressure::Continue
    }

    fn stop(&mut self, ending: StopMode) {
        match (ending, self.phase) {
            (_, Phase::Over) => {}
            (StopMode::Graceful, _) => self.phase = Phase::Stopping,
            (StopMode::Immediate, _) => {
                self.phase = Phase::Over;
                self.users.ids().for_each(|user| self.disconnect(user));
                self.end_part();
                self.merge_report();
            }
        }
    }

    fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }
}
