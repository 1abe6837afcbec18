//! `State`: what the records of a run make of it, with what its agents showed of themselves since.

use std::collections::BTreeMap;

use stdx::Nanos;

use super::ledger::Ledger;
use crate::clock::{Clock, Exchange};
use crate::ids::{Epoch, Name};
use crate::message::{AgentState, Barriers, Beat, Hello, Pauses, cut_text};
use crate::record::Record;
use crate::split::Share;

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Agents join.
    Gathering,
    /// They fetch the archive.
    Preparing,
    /// They have an instant to start at, or send requests.
    Running,
    /// The load ends early.
    Stopping,
    /// All is applied or given up.
    Over,
}

/// An agent of the run.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) epoch: Epoch,
    pub(super) hello: Hello,
    pub(super) share: Option<Share>,
    pub(super) ledger: Ledger,
    /// Why it was given up.
    pub(super) lost: Option<String>,
    /// When it was last heard of.
    pub(super) received: Nanos,
    pub(super) state: AgentState,
    pub(super) pauses: Pauses,
    pub(super) barriers: Barriers,
    pub(super) clock: Clock,
    /// The agent's clock in the newest beat.
    beat: Nanos,
    /// When the next request for missing deltas may go out.
    pub(super) resend_at: Nanos,
}

impl Member {
    fn new(epoch: Epoch, hello: Hello, now: Nanos) -> Self {
        Self {
            epoch,
            hello,
            share: None,
            ledger: Ledger::default(),
            lost: None,
            received: now,
            state: AgentState::Joining,
            pauses: Pauses::default(),
            barriers: Barriers::default(),
            clock: Clock::default(),
            beat: Nanos::ZERO,
            resend_at: Nanos::ZERO,
        }
    }

    /// Takes a beat; an older one than was heard is only a sign of life.
    pub(super) fn beat(&mut self, now: Nanos, beat: &Beat) {
        self.received = now;
        if beat.sent < self.beat {
            return;
        }
        self.beat = beat.sent;
        self.state = match &beat.state {
            AgentState::Failed(cause) => AgentState::Failed(cut_text(cause)),
            state => state.clone(),
        };
        (self.pauses, self.barriers) = (beat.pauses, beat.barriers);
        if let Some(echo) = beat.echo {
            self.clock.add(Exchange {
                sent: echo.sent,
                received: echo.received,
                answered: beat.sent,
                came: now,
            });
        }
    }

    /// Everything it measured is applied.
    pub(super) fn is_complete(&self) -> bool {
        self.ledger.is_complete()
    }
}

/// What the records of a run make of it.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) phase: Phase,
    /// When the phase began.
    pub(super) since: Nanos,
    pub(super) members: BTreeMap<Name, Member>,
    /// The start, by the coordinator's clock.
    pub(super) started: Option<Nanos>,
    /// When each barrier is passed, by the coordinator's clock: the first one first.
    pub(super) barriers: Vec<Nanos>,
    /// Why the load ended early.
    pub(super) cause: Option<String>,
    /// When a delta was last applied.
    pub(super) progress: Nanos,
}

impl State {
    pub(super) fn new(now: Nanos) -> Self {
        Self {
            phase: Phase::Gathering,
            since: now,
            members: BTreeMap::new(),
            started: None,
            barriers: Vec::new(),
            cause: None,
            progress: now,
        }
    }

    /// Takes a record of the journal.
    pub(super) fn apply(&mut self, now: Nanos, record: &Record) {
        match record {
            Record::Joined { agent, epoch, hello } => {
                self.members.insert(agent.clone(), Member::new(*epoch, hello.clone(), now));
            }
            Record::Assigned(shares) => {
                for (member, share) in self.members.values_mut().zip(shares) {
                    member.share = Some(share.clone());
                }
                self.enter(now, Phase::Preparing);
            }
            Record::Started { at } => {
                self.started = Some(*at);
                self.enter(now, Phase::Running);
            }
            Record::Delta { agent, delta } => {
                if let Some(member) = self.members.get_mut(agent) {
                    member.ledger.apply(delta);
                    self.progress = now;
                }
            }
            Record::Lost { agent, cause } => {
                if let Some(member) = self.members.get_mut(agent) {
                    member.lost = Some(cause.clone());
                }
            }
            Record::Stopping { cause } => {
                self.cause = Some(cause.clone());
                self.enter(now, Phase::Stopping);
            }
            Record::Over => self.enter(now, Phase::Over),
            Record::Barrier { number, at } => {
                // One that the disk made too late is decided again, and the last one counts.
                self.barriers.truncate((*number as usize).saturating_sub(1));
                self.barriers.push(*at);
            }
        }
    }

    fn enter(&mut self, now: Nanos, phase: Phase) {
        (self.phase, self.since) = (phase, now);
    }
}
