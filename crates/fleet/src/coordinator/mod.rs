//! `Coordinator`: forms a fleet, starts it at one instant, takes each delta once, and ends the run. Its state changes only by
//! records that its host has written; whatever follows from one is sent after that.

mod config;
mod decide;
mod ledger;
mod outcome;
mod state;
mod status;

use std::collections::{BTreeSet, VecDeque};

use stdx::Nanos;

use crate::ids::{AGENTS_MAX, Epoch, Name, Seq};
use crate::message::{
    AgentBody, AgentState, BEAT, Command, Delta, FromAgent, FromCoordinator, Hello, PAYLOAD_MAX,
    cut_text,
};
use crate::record::Record;

pub use config::{BARRIER_LEAD, Config, EXCHANGES_MIN, GATHER_FOR, LEAD_MIN, LOST_AFTER, Policy};
pub use ledger::HOLD_MAX;
pub use outcome::{AgentOutcome, Outcome};
pub use state::Phase;
use state::State;
pub use status::AgentStatus;

/// The least time from a start's being on disk until the start; agents get it several times in it.
const START_MARGIN: Nanos = Nanos(LEAD_MIN.0 * 3 / 4);

/// What a coordinator's host hands it.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// Time passed. The host calls at least each 250 ms.
    Tick,
    /// Time passed, as in a tick, while the transport was away: that no agent is heard of means nothing.
    Deaf,
    /// An agent sent this; the transport vouches for its name.
    Message(&'a Name, &'a FromAgent),
    /// The journal is on disk up to this record, counted from 1.
    Written(u64),
    /// A threshold, a signal or the user ends the run, with the reason.
    Abort(String),
    /// Another coordinator took the run's lease: this one sends nothing any more.
    Fenced,
}

/// What a coordinator's host has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send this to the agent.
    Send(Name, FromCoordinator),
    /// Append this to the journal, then answer with [`Input::Written`].
    Append(Record),
    /// Merge this: it is on disk, and comes once. A process that takes over gets those of the journal again.
    Merge(Name, Delta),
    /// The run entered this phase.
    Phase(Phase),
    /// The run is over.
    Over(Outcome),
}

/// A coordinator's process.
#[derive(Clone, Debug)]
pub struct Coordinator {
    config: Config,
    state: State,
    /// Records that are not on disk yet, and the number of the newest.
    pending: VecDeque<Record>,
    appended: u64,
    beat_at: Nanos,
    /// How long the disk took for a start that it made too late.
    disk: Nanos,
    is_fenced: bool,
}

/// One call of [`Coordinator::handle`]: its time, and what it makes the host do.
struct Turn<'a> {
    now: Nanos,
    out: &'a mut Vec<Output>,
}

impl Coordinator {
    /// A coordinator of a new run.
    #[must_use]
    pub fn new(config: Config, now: Nanos) -> Self {
        Self {
            config,
            state: State::new(now),
            pending: VecDeque::new(),
            appended: 0,
            beat_at: now,
            disk: Nanos::ZERO,
            is_fenced: false,
        }
    }

    /// A coordinator that goes on with a run, by the records of its journal.
    #[must_use]
    pub fn restore(
        config: Config,
        now: Nanos,
        journal: impl IntoIterator<Item = Record>,
        out: &mut Vec<Output>,
    ) -> Self {
        let mut coordinator = Self::new(config, now);
        for record in journal {
            coordinator.appended += 1;
            // Of several starts the last one counts: the others were late, and no agent has them.
            coordinator.apply(record, &mut Turn { now, out });
        }
        coordinator
    }

    /// How far the run is.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.state.phase
    }

    /// Records that wait for the disk, and deltas that wait for their turn.
    #[must_use]
    pub fn backlog(&self) -> usize {
        let held = self.state.members.values().map(|member| member.ledger.held());
        self.pending.len() + held.sum::<usize>()
    }

    /// Takes an input; what it makes the host do is appended to `out`.
    pub fn handle(&mut self, now: Nanos, input: Input<'_>, out: &mut Vec<Output>) {
        if self.is_fenced {
            return;
        }
        let turn = &mut Turn { now, out };
        match input {
            Input::Tick => self.decide(turn),
            Input::Deaf => {
                for member in self.state.members.values_mut() {
                    member.received = member.received.max(turn.now);
                }
                self.decide(turn);
            }
            Input::Message(agent, message) => self.handle_message(agent, message, turn),
            Input::Written(number) => self.handle_written(number, turn),
            Input::Abort(cause) => self.abort(cut_text(&cause), turn),
            Input::Fenced => {
                self.is_fenced = true;
                return;
            }
        }
        self.poll(turn);
    }

    /// Decides what is due. It looks at every agent, so ticks do it, and not each of a thousand messages a second.
    fn decide(&mut self, turn: &mut Turn<'_>) {
        let is_deciding = self.pending.iter().any(|record| !matches!(record, Record::Delta { .. }));
        if !is_deciding && let Some(record) = decide::next(&self.state, &self.config, turn.now) {
            self.append(self.delayed(record), turn);
        }
    }

    /// A sign of life for each agent once a second, with what it is to do.
    fn poll(&mut self, turn: &mut Turn<'_>) {
        if turn.now >= self.beat_at {
            self.beat_at = turn.now + BEAT;
            let agents: Vec<Name> = self.state.members.keys().cloned().collect();
            agents.iter().for_each(|agent| self.command(agent, turn));
        }
    }

    /// A start is later by what the disk took for those before it: agents must have it in time.
    fn delayed(&self, record: Record) -> Record {
        match record {
            Record::Started { at } => Record::Started { at: at + self.disk },
            record => record,
        }
    }

    fn append(&mut self, record: Record, turn: &mut Turn<'_>) {
        self.appended += 1;
        self.pending.push_back(record.clone());
        turn.out.push(Output::Append(record));
    }

    fn handle_written(&mut self, number: u64, turn: &mut Turn<'_>) {
        let mut applied = BTreeSet::new();
        while !self.pending.is_empty() && self.appended - (self.pending.len() as u64) < number {
            let Some(record) = self.pending.pop_front() else { break };
            match &record {
                Record::Started { at } if turn.now + START_MARGIN > *at => {
                    self.disk = Nanos(self.disk.0 + self.config.lead.at_least(LEAD_MIN).0);
                    continue;
                }
                // As a start: no agent has it, and the next one is later.
                Record::Barrier { at, .. } if turn.now > *at => continue,
                Record::Delta { agent, .. } => {
                    applied.insert(agent.clone());
                }
                _ => {}
            }
            self.apply(record, turn);
        }
        for agent in applied {
            self.acknowledge(&agent, turn);
        }
    }

    fn apply(&mut self, record: Record, turn: &mut Turn<'_>) {
        let before = self.state.phase;
        self.state.apply(turn.now, &record);
        match record {
            Record::Delta { agent, delta } => turn.out.push(Output::Merge(agent, delta)),
            Record::Joined { agent, .. } => self.command(&agent, turn),
            // Agents have it at once.
            Record::Barrier { .. } => self.beat_at = turn.now,
            _ => {}
        }
        if self.state.phase != before {
            turn.out.push(Output::Phase(self.state.phase));
            // Commands of the new phase go out at once.
            self.beat_at = turn.now;
        }
        if self.state.phase == Phase::Over && before != Phase::Over {
            turn.out.push(Output::Over(Outcome::new(&self.state, turn.now)));
        }
    }

    fn handle_message(&mut self, agent: &Name, message: &FromAgent, turn: &mut Turn<'_>) {
        let is_member =
            self.state.members.get(agent).is_some_and(|member| member.epoch == message.epoch);
        match &message.body {
            AgentBody::Hello(hello) => self.handle_hello(agent, message.epoch, hello, turn),
            _ if !is_member => self.send(agent, message.epoch, Command::Introduce, turn),
            AgentBody::Beat(beat) => self.handle_beat(agent, beat, turn),
            AgentBody::Delta(delta) => self.handle_delta(agent, delta, turn),
            AgentBody::Abort(cause) => self.abort(format!("{agent}: {}", cut_text(cause)), turn),
        }
    }

    fn handle_hello(&mut self, agent: &Name, epoch: Epoch, hello: &Hello, turn: &mut Turn<'_>) {
        let joining =
            |record: &Record| matches!(record, Record::Joined { agent: name, .. } if name == agent);
        if self.pending.iter().any(joining) {
            return;
        }
        let member = self.state.members.get(agent);
        if member.is_some_and(|member| member.epoch == epoch) {
            self.command(agent, turn);
            return;
        }
        match self.objection(agent, hello) {
            Some(text) => self.send(agent, epoch, Command::Refuse(text), turn),
            None => {
                let (agent, hello) = (agent.clone(), hello.cut());
                self.append(Record::Joined { agent, epoch, hello }, turn);
            }
        }
    }

    /// Why an agent cannot join.
    fn objection(&self, agent: &Name, hello: &Hello) -> Option<String> {
        let wanted = self.config.agents.unwrap_or(AGENTS_MAX);
        let version = &self.config.version;
        let is_closing = self.pending.iter().any(|record| {
            matches!(record, Record::Assigned(_) | Record::Stopping { .. } | Record::Over)
        });
        let joining = self.pending.iter().filter(|record| matches!(record, Record::Joined { .. }));
        let is_full = !self.state.members.contains_key(agent)
            && self.state.members.len() + joining.count() >= wanted;
        if hello.version != *version {
            return Some(format!(
                "its version is {}, the run's is {version}",
                cut_text(&hello.version)
            ));
        }
        if is_closing || self.state.phase != Phase::Gathering {
            return Some("the run has begun, and no process can take another's place".to_owned());
        }
        is_full.then(|| format!("the fleet has its {}", stdx::counted(wanted as u64, "agent")))
    }

    fn handle_beat(&mut self, agent: &Name, beat: &crate::message::Beat, turn: &mut Turn<'_>) {
        let Some(member) = self.state.members.get_mut(agent) else { return };
        member.beat(turn.now, beat);
        let is_behind = beat.made > member.ledger.taken();
        let command =
            decide::command(&self.state, &self.config, &self.state.members[agent], turn.now);
        if command != Command::Beat {
            self.command(agent, turn);
        }
        if is_behind {
            self.ask_again(agent, turn);
        }
    }

    fn handle_delta(&mut self, agent: &Name, delta: &Delta, turn: &mut Turn<'_>) {
        let is_ending = self.pending.contains(&Record::Over);
        let is_open = !is_ending && matches!(self.state.phase, Phase::Running | Phase::Stopping);
        let Some(member) = self.state.members.get_mut(agent) else { return };
        member.received = turn.now;
        if !is_open || delta.payload.len() > PAYLOAD_MAX {
            return;
        }
        if delta.seq <= member.ledger.applied() {
            // Its acknowledgement was lost.
            self.acknowledge(agent, turn);
            return;
        }
        let is_early = delta.seq > member.ledger.taken().next();
        for delta in member.ledger.take(delta.clone()) {
            self.append(Record::Delta { agent: agent.clone(), delta }, turn);
        }
        if is_early {
            self.ask_again(agent, turn);
        }
    }

    /// Asks for the deltas that are missing, once a second.
    fn ask_again(&mut self, agent: &Name, turn: &mut Turn<'_>) {
        let Some(member) = self.state.members.get_mut(agent) else { return };
        if turn.now < member.resend_at {
            return;
        }
        member.resend_at = turn.now + BEAT;
        let (epoch, missing) = (member.epoch, member.ledger.taken().next());
        self.send(agent, epoch, Command::Resend(missing), turn);
    }

    fn acknowledge(&self, agent: &Name, turn: &mut Turn<'_>) {
        if let Some(member) = self.state.members.get(agent)
            && member.ledger.applied() > Seq(0)
        {
            let command = Command::Applied(member.ledger.applied());
            self.send(agent, member.epoch, command, turn);
        }
    }

    fn abort(&mut self, cause: String, turn: &mut Turn<'_>) {
        let is_ending = |record: &Record| matches!(record, Record::Stopping { .. } | Record::Over);
        if self.state.phase < Phase::Stopping && !self.pending.iter().any(is_ending) {
            self.append(Record::Stopping { cause }, turn);
        }
    }

    /// Sends an agent what it is to do now.
    fn command(&self, agent: &Name, turn: &mut Turn<'_>) {
        let Some(member) = self.state.members.get(agent) else { return };
        if self.state.phase == Phase::Over && member.state == AgentState::Released {
            return;
        }
        let command = decide::command(&self.state, &self.config, member, turn.now);
        self.send(agent, member.epoch, command, turn);
    }

    fn send(&self, agent: &Name, epoch: Epoch, command: Command, turn: &mut Turn<'_>) {
        let message = FromCoordinator {
            run: self.config.run.clone(),
            incarnation: self.config.incarnation,
            epoch,
            sent: turn.now,
            command,
        };
        turn.out.push(Output::Send(agent.clone(), message));
    }
}

#[cfg(test)]
mod tests;
