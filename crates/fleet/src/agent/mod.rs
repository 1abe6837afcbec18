//! `Agent`: the state of one load machine's process: joins, makes ready, starts on time, sends what it measured until it is
//! applied, and obeys the newest coordinator alone.

mod watch;

use stdx::Nanos;

use crate::counts::Counts;
use crate::ids::{Epoch, Incarnation, Name, Seq};
use crate::message::{
    AgentBody, AgentState, Assignment, Barriers, Beat, Command, Echo, FromAgent, FromCoordinator,
    Hello, cut_text,
};
use crate::spool::Spool;

pub use watch::PAUSE_MIN;
use watch::Watch;

/// How long an agent goes on with the load without a word of a coordinator, by default.
pub const ALONE_MAX: Nanos = Nanos(10 * 60 * 1_000_000_000);

/// The most deltas that are sent and not applied.
pub const WINDOW: u64 = 64;

/// When deltas that were sent and not applied are sent again.
const RESEND_AFTER: Nanos = Nanos(2_000_000_000);

/// How late a start may be heard: a request that was due in this time counts as late, not as never sent.
const START_LATE_MAX: Nanos = Nanos(5_000_000);

/// What an agent is made from.
#[derive(Clone, Debug)]
pub struct AgentConfig {
    /// This process.
    pub epoch: Epoch,
    /// How it introduces itself.
    pub hello: Hello,
    /// Payload bytes that may wait for the coordinator, such as [`crate::SPOOL_BYTES_MAX`].
    pub spool_bytes_max: usize,
    /// How long it goes on alone, such as [`ALONE_MAX`].
    pub alone_max: Nanos,
}

/// A stretch of time, begin and end, by the agent's clock.
pub type Interval = (Nanos, Nanos);

/// What an agent's host hands it.
#[derive(Clone, Debug)]
pub enum AgentInput<'a> {
    /// Time passed. The host calls at least each 250 ms; a longer gap is a pause of the process.
    Tick,
    /// The coordinator sent this.
    Message(&'a FromCoordinator),
    /// The work that [`AgentOutput::Prepare`] named is ready, or cannot be done.
    Prepared(Result<(), String>),
    /// The load generator measured this.
    Delta(Interval, Counts, Vec<u8>),
    /// The load waits at its barrier of this number, from 1.
    AtBarrier(u32),
    /// The load generator ended: no further delta comes.
    Ended,
    /// The load generator, or a signal, asks for the end of the whole run.
    Abort(String),
}

/// What an agent's host has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentOutput {
    /// Send this to the coordinator.
    Send(FromAgent),
    /// Fetch and check the archive and the setup's data, make the load generator ready, answer with [`AgentInput::Prepared`].
    Prepare(Assignment),
    /// Start the load at this instant of the agent's clock.
    StartLoad {
        /// The agent's clock.
        at: Nanos,
    },
    /// The process stood still: requests that fell due before this instant are not sent, and counted as such.
    SkipOverdue {
        /// The agent's clock.
        before: Nanos,
    },
    /// Pass the barrier of this number at this instant of the agent's clock, which may lie in the past.
    Pass {
        /// The barrier.
        barrier: u32,
        /// The agent's clock.
        at: Nanos,
    },
    /// End the load, with the reason: no new request; what is under way may end.
    StopLoad(String),
    /// Leave. Deltas that wait stay in the spool's file.
    Leave,
}

/// An agent's process.
#[derive(Clone, Debug)]
pub struct Agent {
    config: AgentConfig,
    state: AgentState,
    /// The run that it works for, and the newest coordinator of it.
    run: Option<(Name, Incarnation)>,
    watch: Watch,
    start_at: Nanos,
    echo: Option<Echo>,
    barriers: Barriers,
    spool: Spool,
    /// The last delta that was sent since the last rewind.
    sent_to: Seq,
    /// When the spool last shrank or was rewound.
    progress_at: Nanos,
}

impl Agent {
    /// An agent that begins to ask for work.
    #[must_use]
    pub fn new(config: AgentConfig, now: Nanos) -> Self {
        let spool = Spool::new(config.spool_bytes_max);
        Self {
            config,
            state: AgentState::Joining,
            run: None,
            watch: Watch::new(now),
            start_at: Nanos::ZERO,
            echo: None,
            barriers: Barriers::default(),
            spool,
            sent_to: Seq(0),
            progress_at: now,
        }
    }

    /// How far it is.
    #[must_use]
    pub fn state(&self) -> &AgentState {
        &self.state
    }

    /// Deltas that wait to be applied.
    #[must_use]
    pub fn spool(&self) -> &Spool {
        &self.spool
    }

    /// Takes an input; what it makes the host do is appended to `out`.
    pub fn handle(&mut self, now: Nanos, input: AgentInput<'_>, out: &mut Vec<AgentOutput>) {
        match input {
            AgentInput::Tick => {}
            AgentInput::Message(message) => self.handle_message(now, message, out),
            AgentInput::Prepared(outcome) => self.handle_prepared(outcome),
            AgentInput::Delta(interval, counts, payload) => {
                self.spool.push(interval, counts, payload);
            }
            AgentInput::AtBarrier(barrier) => self.reach(now, barrier, out),
            AgentInput::Ended => self.handle_end(now),
            AgentInput::Abort(cause) => {
                self.send(AgentBody::Abort(cut_text(&cause)), out);
            }
        }
        self.poll(now, out);
    }

    /// What time alone brings about.
    fn poll(&mut self, now: Nanos, out: &mut Vec<AgentOutput>) {
        let paused = self.watch.tick(now);
        if self.state == AgentState::Armed && now >= self.start_at {
            self.state = AgentState::Running;
        }
        if paused && self.state == AgentState::Running {
            out.push(AgentOutput::SkipOverdue { before: now });
        }
        let is_loading = matches!(self.state, AgentState::Armed | AgentState::Running);
        if is_loading && self.watch.is_alone(now, self.config.alone_max) {
            let cause = format!("no coordinator for {}", self.config.alone_max.rounded());
            self.stop(now, cause, out);
        }
        if self.watch.is_beat_due(now) && self.state != AgentState::Released {
            self.beat(now, out);
        }
        self.send_deltas(now, out);
    }

    fn handle_message(
        &mut self,
        now: Nanos,
        message: &FromCoordinator,
        out: &mut Vec<AgentOutput>,
    ) {
        let is_mine = message.epoch == self.config.epoch && self.obeys(message);
        if !is_mine {
            return;
        }
        self.run = Some((message.run.clone(), message.incarnation));
        self.echo = Some(Echo { sent: message.sent, received: now });
        self.watch.received(now);
        self.obey(now, &message.command, out);
    }

    /// Only the newest coordinator of its run is obeyed.
    fn obeys(&self, message: &FromCoordinator) -> bool {
        match &self.run {
            Some((run, newest)) => *run == message.run && message.incarnation >= *newest,
            None => true,
        }
    }

    fn obey(&mut self, now: Nanos, command: &Command, out: &mut Vec<AgentOutput>) {
        match command {
            Command::Beat => {}
            Command::Introduce => self.introduce(out),
            Command::Welcome if self.state == AgentState::Joining => {
                self.state = AgentState::Waiting;
            }
            Command::Refuse(_) if self.state == AgentState::Joining => self.leave(out),
            Command::Prepare(assignment) if self.state == AgentState::Waiting => {
                self.state = AgentState::Preparing;
                out.push(AgentOutput::Prepare(assignment.clone()));
            }
            Command::Start { at } if self.state == AgentState::Ready => self.arm(now, *at, out),
            Command::Stop(cause) => self.stop(now, cause.clone(), out),
            Command::Pass { barrier, at } => self.pass(*barrier, *at, out),
            Command::Applied(seq) => self.applied(now, *seq),
            Command::Resend(seq) => self.rewind(now, *seq),
            Command::Release if self.state != AgentState::Released => self.leave(out),
            // Out of date, or sent again.
            _ => {}
        }
    }

    fn arm(&mut self, now: Nanos, at: Nanos, out: &mut Vec<AgentOutput>) {
        let late = Nanos(now.0.saturating_sub(at.0));
        if late > START_LATE_MAX {
            let cause = format!("its start came {} too late", late.to_three_digits());
            self.state = AgentState::Failed(cause);
            return;
        }
        self.start_at = at;
        self.state = AgentState::Armed;
        out.push(AgentOutput::StartLoad { at });
    }

    fn stop(&mut self, now: Nanos, cause: String, out: &mut Vec<AgentOutput>) {
        match self.state {
            AgentState::Armed | AgentState::Running => {
                self.state = AgentState::Draining;
                out.push(AgentOutput::StopLoad(cause));
            }
            AgentState::Draining | AgentState::Released | AgentState::Failed(_) => {}
            // It measured nothing, and says so.
            _ => {
                self.spool.close(now);
                self.state = AgentState::Draining;
            }
        }
    }

    /// The load waits at a barrier: the coordinator hears of it at once.
    fn reach(&mut self, now: Nanos, barrier: u32, out: &mut Vec<AgentOutput>) {
        if barrier > self.barriers.reached {
            self.barriers.reached = barrier;
            self.beat(now, out);
        }
    }

    /// Barriers are passed one after the other, each once. One that the others passed while this agent was lost waits until it is
    /// reached.
    fn pass(&mut self, barrier: u32, at: Nanos, out: &mut Vec<AgentOutput>) {
        let is_loading = matches!(self.state, AgentState::Armed | AgentState::Running);
        let is_next = barrier == self.barriers.passed + 1 && barrier <= self.barriers.reached;
        if is_loading && is_next {
            self.barriers.passed = barrier;
            out.push(AgentOutput::Pass { barrier, at });
        }
    }

    fn leave(&mut self, out: &mut Vec<AgentOutput>) {
        if matches!(self.state, AgentState::Armed | AgentState::Running) {
            out.push(AgentOutput::StopLoad("released".to_owned()));
        }
        self.state = AgentState::Released;
        out.push(AgentOutput::Leave);
    }

    fn handle_prepared(&mut self, outcome: Result<(), String>) {
        if self.state == AgentState::Preparing {
            self.state = match outcome {
                Ok(()) => AgentState::Ready,
                Err(cause) => AgentState::Failed(cut_text(&cause)),
            };
        }
    }

    fn handle_end(&mut self, now: Nanos) {
        let is_loaded =
            matches!(self.state, AgentState::Armed | AgentState::Running | AgentState::Draining);
        if is_loaded {
            self.spool.close(now);
            self.state = AgentState::Draining;
        }
    }

    fn applied(&mut self, now: Nanos, seq: Seq) {
        if self.spool.oldest().is_some_and(|oldest| oldest <= seq) {
            self.spool.applied(seq);
            self.sent_to = self.sent_to.max(seq);
            self.progress_at = now;
        }
    }

    /// Sends again from `seq` on.
    fn rewind(&mut self, now: Nanos, seq: Seq) {
        if seq <= self.sent_to {
            self.sent_to = Seq(seq.0.saturating_sub(1));
            self.progress_at = now;
        }
    }

    /// Sends deltas up to the window's end, and all of the window again where nothing was applied for a while.
    fn send_deltas(&mut self, now: Nanos, out: &mut Vec<AgentOutput>) {
        let Some(oldest) = self.spool.oldest() else { return };
        if self.state == AgentState::Released {
            return;
        }
        let applied = Seq(oldest.0 - 1);
        if self.sent_to > applied && now >= self.progress_at + RESEND_AFTER {
            self.sent_to = applied;
        }
        self.sent_to = self.sent_to.max(applied);
        if self.sent_to == applied {
            self.progress_at = now;
        }
        let end = self.spool.made().0.min(applied.0 + WINDOW);
        while self.sent_to.0 < end {
            self.sent_to = self.sent_to.next();
            if let Some(delta) = self.spool.get(self.sent_to).cloned() {
                self.send(AgentBody::Delta(delta), out);
            }
        }
    }

    fn beat(&mut self, now: Nanos, out: &mut Vec<AgentOutput>) {
        if self.state == AgentState::Joining {
            self.introduce(out);
            return;
        }
        let beat = Beat {
            state: self.state.clone(),
            echo: self.echo,
            sent: now,
            made: self.spool.made(),
            pauses: self.watch.pauses(),
            barriers: self.barriers,
        };
        self.send(AgentBody::Beat(beat), out);
    }

    fn introduce(&self, out: &mut Vec<AgentOutput>) {
        self.send(AgentBody::Hello(self.config.hello.clone()), out);
    }

    fn send(&self, body: AgentBody, out: &mut Vec<AgentOutput>) {
        out.push(AgentOutput::Send(FromAgent { epoch: self.config.epoch, body }));
    }
}

#[cfg(test)]
mod tests;
