//! `FleetExecution`: a fleet's run as a session sees it. Rows come from the agents, second by second, as they would from worker
//! threads.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use control::{AgentView, CoordinatorEvent, CoordinatorHandle, CoordinatorOrder};
use engine::RunEvent;
use fleet::{AgentState, Delta, Name, Outcome};
use metrics::{Batch, Snapshot};
use session::Execution;
use stdx::Nanos;
use wire::tls::Agreed;

use crate::payload;
use crate::records::Records;

/// How often what came is made a progress.
const PROGRESS: Duration = Duration::from_secs(1);

/// How long a run that was ended at once may take to hear of its agents' ends.
const ABORT_WITHIN: Duration = Duration::from_secs(5);

/// The reason of a stop that the user asked for: what is under way may end.
const ASKED: &str = "the command asked for the end";

/// The same where what is under way is to end as well.
const ASKED_NOW: &str = "the command asked for the end at once";

/// Whether a stop for this reason ends what is under way.
#[must_use]
pub fn ends_at_once(cause: &str) -> bool {
    cause == ASKED_NOW
}

/// Takes what agents say of their parts beside rows, in a form of its own.
pub trait PartSink {
    /// Takes a record of the agent with this number, from 1.
    ///
    /// # Errors
    /// It cannot be read, with the reason.
    fn take(&mut self, agent: u16, record: &[u8]) -> Result<(), &'static str>;

    /// No record follows.
    fn finish(&mut self) {}

    /// Rows that are made of what several agents say.
    fn take_rows(&mut self) -> Batch {
        Batch::default()
    }
}

/// A fleet's run under way. Dropping it ends it.
pub struct FleetExecution {
    handle: CoordinatorHandle,
    records: Records,
    start: Instant,
    epoch: i64,
    targets: usize,
    /// What came since the last progress.
    recent: Snapshot,
    progress_at: Instant,
    /// Requests that fell due and have not ended, over all agents.
    open: u64,
    pending: VecDeque<RunEvent>,
    /// The command asked for the end.
    is_asked: bool,
    /// When a run that is to end at once is given up.
    give_up_at: Option<Instant>,
    is_over: bool,
    parts: Option<Box<dyn PartSink>>,
    /// Agents whose loss was reported.
    lost: BTreeSet<Name>,
    /// The user knows that the run waits for them.
    has_warned_of_wait: bool,
}

impl fmt::Debug for FleetExecution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FleetExecution").field("records", &self.records).finish_non_exhaustive()
    }
}

impl FleetExecution {
    /// A run that starts, or started, at this instant, which is this Unix time in nanoseconds; its plan has so many targets.
    pub(crate) fn new(
        handle: CoordinatorHandle,
        records: Records,
        (start, epoch): (Instant, i64),
        targets: usize,
    ) -> Self {
        Self {
            handle,
            records,
            start,
            epoch,
            targets,
            recent: Snapshot::new(),
            progress_at: Instant::now() + PROGRESS,
            open: 0,
            pending: VecDeque::new(),
            is_asked: false,
            give_up_at: None,
            is_over: false,
            parts: None,
            lost: BTreeSet::new(),
            has_warned_of_wait: false,
        }
    }

    /// What agents say of their parts goes there.
    #[must_use]
    pub fn with_parts(self, sink: impl PartSink + 'static) -> Self {
        Self { parts: Some(Box::new(sink)), ..self }
    }

    /// The instant of the start.
    #[must_use]
    pub fn start(&self) -> Instant {
        self.start
    }

    fn handle(&mut self, event: CoordinatorEvent) {
        match event {
            CoordinatorEvent::Merge(agent, delta) => self.merge(&agent, &delta),
            CoordinatorEvent::Over(outcome) => self.end(&outcome),
            CoordinatorEvent::Failed(cause) => self.end_without_outcome(&cause),
            CoordinatorEvent::Agents(views) => self.report_losses(&views),
            CoordinatorEvent::Refused(..)
            | CoordinatorEvent::Phase(_)
            | CoordinatorEvent::Start { .. } => {}
        }
    }

    /// Warns at once of an agent that is lost, and when the run waits for such agents alone.
    fn report_losses(&mut self, views: &[AgentView]) {
        for view in views {
            if let Some(cause) = &view.lost
                && self.lost.insert(view.name.clone())
            {
                session::warn(&format!("agent {} is lost: {cause}", view.name));
            }
        }
        let is_done = |view: &AgentView| {
            let has_ended = matches!(view.state, AgentState::Draining | AgentState::Released);
            view.lost.is_some() || has_ended
        };
        let is_waited_for = !self.lost.is_empty() && views.iter().all(is_done);
        if is_waited_for && !self.has_warned_of_wait {
            self.has_warned_of_wait = true;
            session::warn(
                "no other agent sends any more; those that are lost may still bring what they measured (Ctrl-C twice: they are not waited for)",
            );
        }
    }

    /// Takes what an agent measured.
    fn merge(&mut self, agent: &Name, delta: &Delta) {
        let counts = delta.counts;
        let ended = counts.answered.saturating_add(counts.failed).saturating_add(counts.not_sent);
        self.open = self.open.saturating_add(counts.planned).saturating_sub(ended);
        let number = self.records.number_of(agent);
        match payload::unpack(&delta.payload, number, self.targets) {
            Ok(unpacked) => {
                if let Some(own) = unpacked.record {
                    self.take_part(agent, number, &own.part);
                    self.records.note(agent, own);
                }
                self.records.note_rows(agent, unpacked.batch.samples.len());
                self.add(unpacked.batch);
            }
            Err(why) => self.records.note_unreadable(agent, why),
        }
    }

    /// Takes what the agent says of its part.
    fn take_part(&mut self, agent: &Name, number: u16, record: &[u8]) {
        let Some(sink) = self.parts.as_mut().filter(|_| !record.is_empty()) else { return };
        if let Err(why) = sink.take(number, record) {
            self.records.note_unreadable(agent, why);
        }
        let rows = sink.take_rows();
        self.add(rows);
    }

    fn add(&mut self, mut batch: Batch) {
        if batch.samples.is_empty() {
            return;
        }
        batch.epoch = self.epoch;
        batch.samples.iter().for_each(|sample| self.recent.record(sample));
        self.pending.push_back(RunEvent::Rows(batch));
    }

    /// The counts since the last time, with the record of all generators.
    fn take_recent(&mut self) -> Box<Snapshot> {
        let mut next = Snapshot::new();
        next.from = self.elapsed();
        let mut recent = std::mem::replace(&mut self.recent, next);
        recent.to = self.elapsed();
        recent.in_flight = self.open;
        recent.generator = self.records.generator();
        Box::new(recent)
    }

    fn end(&mut self, outcome: &Outcome) {
        let failed = outcome.cause.clone().filter(|_| !self.is_asked);
        self.records.end(outcome, failed);
        self.finish(outcome.cause.is_some());
    }

    fn end_without_outcome(&mut self, cause: &str) {
        self.records.end_without_outcome(cause);
        self.finish(true);
    }

    fn finish(&mut self, is_early: bool) {
        if let Some(mut sink) = self.parts.take() {
            sink.finish();
            let rows = sink.take_rows();
            self.add(rows);
        }
        let mut last = self.take_recent();
        // The last word of the run is the coordinator's; agents without one of their own have their reasons.
        last.generator.finished = true;
        last.generator.interrupted |= is_early;
        self.is_over = true;
        self.pending.push_back(RunEvent::Finished(last));
    }

    fn ask_for_end(&mut self, cause: &str) {
        if !self.is_asked {
            self.is_asked = true;
            // A control plane that has gone says so itself.
            self.handle.orders.send(CoordinatorOrder::Abort(cause.to_owned())).unwrap_or_default();
        }
    }

    /// What is due without an event: a progress, or that the run is given up.
    fn queue_what_is_due(&mut self) {
        if self.is_over {
            return;
        }
        if self.give_up_at.is_some_and(|at| Instant::now() >= at) {
            return self.end_without_outcome("the agents did not end in time");
        }
        if Instant::now() >= self.progress_at {
            self.progress_at = Instant::now() + PROGRESS;
            let recent = self.take_recent();
            self.pending.push_back(RunEvent::Progress(recent));
        }
    }
}

impl Execution for FleetExecution {
    fn epoch(&self) -> i64 {
        self.epoch
    }

    fn elapsed(&self) -> Nanos {
        Instant::now().saturating_duration_since(self.start).into()
    }

    fn next_event(&mut self, timeout: Duration) -> Option<RunEvent> {
        let until = Instant::now() + timeout;
        loop {
            self.queue_what_is_due();
            if let Some(event) = self.pending.pop_front() {
                return Some(event);
            }
            if self.is_over {
                return None;
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.handle.events.recv_timeout(left) {
                Ok(event) => self.handle(event),
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => {
                    self.end_without_outcome("the control plane ended");
                }
            }
        }
    }

    /// Batches of a fleet are made anew.
    fn recycle(&mut self, _: Batch) {}

    fn drain(&mut self) {
        self.ask_for_end(ASKED);
    }

    fn abort(&mut self) {
        self.ask_for_end(ASKED_NOW);
        self.give_up_at.get_or_insert_with(|| Instant::now() + ABORT_WITHIN);
    }

    /// Agents do not say.
    fn tls_agreed(&self) -> Option<Agreed> {
        None
    }
}
