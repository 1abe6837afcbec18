//! `AgentLoad`: an agent's part of the load under way: the host's orders go to the engine, what the engine measured to the host.

use std::collections::VecDeque;
use std::sync::mpsc::{TryRecvError, TrySendError};
use std::time::Instant;

use control::{AgentHandle, AgentOrder, AgentReport};
use engine::{ReadyRun, Stopper};
use fleet::Counts;
use metrics::{Batch, FailureKind, Generator, Snapshot, Summary, Verdict};
use session::{Control, Observer, ObserverError, Session, SessionOptions};
use workload::Plan;

use crate::payload::{OwnRecord, Packer};

/// Bytes of payloads that may wait for the host; beyond it rows are dropped, and counted.
const WAITING_BYTES_MAX: usize = 64 << 20;

/// A run that waits for its start.
pub(crate) struct Prepared {
    /// The agent's part of the plan.
    pub(crate) plan: Plan,
    /// The engine, made ready.
    pub(crate) ready: ReadyRun,
    /// The agent's share of the whole load, 0 to 1.
    pub(crate) share: f64,
}

/// Runs the agent's part, from this instant on, to its end. All of it was reported then.
///
/// # Errors
/// The engine could not start, or failed, with the reason.
pub(crate) fn run(prepared: Prepared, at: Instant, handle: &AgentHandle) -> Result<(), String> {
    let Prepared { plan, ready, share } = prepared;
    let run = ready.start(at).map_err(|error| error.to_string())?;
    let mut load = AgentLoad::new(handle, run.stopper(), share);
    let options = SessionOptions::counting(|| 0);
    let session = Session::over(run, &plan, options).map_err(|error| error.to_string())?;
    let outcome = session.run(&mut [&mut load]).map_err(|error| error.to_string())?;
    load.end(outcome.generator);
    Ok(())
}

/// An agent's part of the load under way.
struct AgentLoad<'a> {
    handle: &'a AgentHandle,
    stopper: Stopper,
    share: f64,
    packer: Packer,
    /// Payloads for which the host had no room yet.
    waiting: VecDeque<AgentReport>,
    waiting_bytes: usize,
    rows_dropped: u64,
    /// Rows in the packer.
    rows: u64,
    /// What was counted since the last report.
    counts: Counts,
    /// The generator's counts at the last report: planned, not sent.
    reported: (u64, u64),
    from: Instant,
    summary: Summary,
}

impl<'a> AgentLoad<'a> {
    fn new(handle: &'a AgentHandle, stopper: Stopper, share: f64) -> Self {
        Self {
            handle,
            stopper,
            share,
            packer: Packer::default(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            rows_dropped: 0,
            rows: 0,
            counts: Counts::default(),
            reported: (0, 0),
            from: Instant::now(),
            summary: Summary::new(),
        }
    }

    /// The generator's record as the whole run's merge needs it: the planned rate is this agent's.
    fn own_record(&self, mut generator: Generator) -> OwnRecord {
        generator.rate_per_s *= self.share;
        generator.rows_dropped += self.rows_dropped;
        generator.texts_cut += self.packer.texts_cut;
        let reasons = if generator.finished {
            let verdict = Verdict::new(&self.summary, Some(&generator), &[]);
            verdict.reasons.iter().map(ToString::to_string).collect()
        } else {
            Vec::new()
        };
        OwnRecord { generator, reasons }
    }

    /// Puts what was measured since the last time into the queue to the host.
    fn queue(&mut self, generator: Option<Generator>) {
        if let Some(generator) = &generator {
            let (planned, not_sent) = self.reported;
            self.counts.planned = generator.planned.saturating_sub(planned);
            self.counts.not_sent = generator.not_sent.saturating_sub(not_sent);
            self.reported = (generator.planned, generator.not_sent);
        }
        let record = generator.map(|generator| self.own_record(generator));
        let payloads = self.packer.take(record.as_ref());
        let rows = std::mem::take(&mut self.rows);
        let interval = (self.from, Instant::now());
        self.from = interval.1;
        let mut counts = std::mem::take(&mut self.counts);
        for (at, mut payload) in payloads.into_iter().enumerate() {
            if self.waiting_bytes + payload.len() > WAITING_BYTES_MAX {
                self.rows_dropped += if at == 0 { rows } else { 0 };
                payload = Vec::new();
            }
            self.waiting_bytes += payload.len();
            let counts = std::mem::take(&mut counts);
            self.waiting.push_back(AgentReport::Measured { interval, counts, payload });
        }
    }

    /// Hands the host what it has room for.
    fn flush(&mut self) {
        while let Some(report) = self.waiting.pop_front() {
            let bytes = payload_bytes(&report);
            match self.handle.reports.try_send(report) {
                Ok(()) | Err(TrySendError::Disconnected(_)) => self.waiting_bytes -= bytes,
                Err(TrySendError::Full(report)) => return self.waiting.push_front(report),
            }
        }
    }

    /// Reports the rest, once the load is over: now it may wait for the host.
    fn end(mut self, generator: Generator) {
        self.queue(Some(generator));
        for report in self.waiting.drain(..) {
            // A host that has gone needs none.
            self.handle.reports.send(report).unwrap_or_default();
        }
    }
}

fn payload_bytes(report: &AgentReport) -> usize {
    if let AgentReport::Measured { payload, .. } = report { payload.len() } else { 0 }
}

impl Observer for AgentLoad<'_> {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        self.summary.add(batch);
        for sample in &batch.samples {
            if sample.failure == FailureKind::None {
                self.counts.answered += 1;
            } else {
                self.counts.failed += 1;
            }
            self.packer.add(sample, batch);
            self.rows += 1;
            if self.packer.is_full() {
                self.queue(None);
            }
        }
        Ok(())
    }

    fn progress(&mut self, snapshot: &Snapshot, _control: &mut Control<'_>) {
        self.queue(Some(snapshot.generator.clone()));
    }

    fn tick(&mut self, control: &mut Control<'_>) {
        loop {
            match self.handle.orders.try_recv() {
                Ok(AgentOrder::Stop(_)) => control.drain(),
                Ok(AgentOrder::SkipOverdue(before)) => self.stopper.skip_overdue(before),
                // The run is over for this agent, or its host has gone.
                Ok(AgentOrder::Leave(_)) | Err(TryRecvError::Disconnected) => {
                    control.abort();
                    break;
                }
                Ok(AgentOrder::Prepare(_) | AgentOrder::Start(_)) => {}
                Err(TryRecvError::Empty) => break,
            }
        }
        self.flush();
    }
}
