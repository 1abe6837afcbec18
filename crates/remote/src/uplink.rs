//! `Uplink`: what an agent's load generator measured, on its way to the host: rows and records, packed and queued.

use std::collections::VecDeque;
use std::sync::mpsc::TrySendError;
use std::time::Instant;

use control::{AgentHandle, AgentReport};
use fleet::Counts;
use metrics::{Batch, FailureKind, Generator, Sample, Summary, Verdict};
use stdx::Nanos;

use crate::payload::{OwnRecord, Packer};

/// Bytes of payloads that may wait for the host; beyond it rows are dropped, and counted.
const WAITING_BYTES_MAX: usize = 64 << 20;

/// What an agent's load generator measured, on its way to the host.
pub struct Uplink<'a> {
    handle: &'a AgentHandle,
    /// The agent's share of the whole load, 0 to 1.
    share: f64,
    /// Rows go along; without them only counts do.
    sends_rows: bool,
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

impl<'a> Uplink<'a> {
    /// Nothing was measured yet by the agent with this share of the load. With `sends_rows` the rows go along.
    #[must_use]
    pub fn new(handle: &'a AgentHandle, share: f64, sends_rows: bool) -> Self {
        Self {
            handle,
            share,
            sends_rows,
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

    /// The run began so long after the engine: times of rows count from there.
    pub fn set_shift(&mut self, shift: Nanos) {
        self.packer.shift = shift;
    }

    /// Takes rows.
    pub fn rows(&mut self, batch: &Batch) {
        self.rows_where(batch, |_| true);
    }

    /// Takes rows, all of which count; those for which `travels` holds go along.
    pub fn rows_where(&mut self, batch: &Batch, travels: impl Fn(&Sample) -> bool) {
        self.summary.add(batch);
        for sample in &batch.samples {
            if sample.failure == FailureKind::None {
                self.counts.answered += 1;
            } else {
                self.counts.failed += 1;
            }
            if !self.sends_rows || !travels(sample) {
                continue;
            }
            self.packer.add(sample, batch);
            self.rows += 1;
            if self.packer.is_full() {
                self.queue(None);
            }
        }
    }

    /// Takes the generator's record of itself, and what is said of the part, which may be empty; both go with all rows so far.
    pub fn record(&mut self, generator: Generator, part: Vec<u8>) {
        let (planned, not_sent) = self.reported;
        self.counts.planned = generator.planned.saturating_sub(planned);
        self.counts.not_sent = generator.not_sent.saturating_sub(not_sent);
        self.reported = (generator.planned, generator.not_sent);
        let own = self.own_record(generator, part);
        self.queue(Some(&own));
    }

    /// The generator's record as the whole run's merge needs it: the planned rate is this agent's.
    fn own_record(&self, mut generator: Generator, part: Vec<u8>) -> OwnRecord {
        generator.rate_per_s *= self.share;
        generator.rows_dropped += self.rows_dropped;
        generator.texts_cut += self.packer.texts_cut;
        let reasons = if generator.finished {
            let verdict = Verdict::new(&self.summary, Some(&generator), &[]);
            verdict.reasons.iter().map(ToString::to_string).collect()
        } else {
            Vec::new()
        };
        OwnRecord { generator, reasons, part }
    }

    /// Puts what was measured since the last time into the queue to the host.
    fn queue(&mut self, record: Option<&OwnRecord>) {
        let payloads = self.packer.take(record);
        let rows = std::mem::take(&mut self.rows);
        let interval = (self.from, Instant::now());
        self.from = interval.1;
        let mut counts = std::mem::take(&mut self.counts);
        for (at, mut payload) in payloads.into_iter().enumerate() {
            // A record is small, and the last one has the verdict.
            let is_over = self.waiting_bytes + payload.len() > WAITING_BYTES_MAX;
            if is_over && record.is_none() {
                self.rows_dropped += if at == 0 { rows } else { 0 };
                payload = Vec::new();
            }
            self.waiting_bytes += payload.len();
            let counts = std::mem::take(&mut counts);
            self.waiting.push_back(AgentReport::Measured { interval, counts, payload });
        }
    }

    /// Hands the host what it has room for.
    pub fn flush(&mut self) {
        while let Some(report) = self.waiting.pop_front() {
            let bytes = payload_bytes(&report);
            match self.handle.reports.try_send(report) {
                Ok(()) | Err(TrySendError::Disconnected(_)) => self.waiting_bytes -= bytes,
                Err(TrySendError::Full(report)) => return self.waiting.push_front(report),
            }
        }
    }

    /// Hands the host the rest, once the load is over: now it may wait.
    pub fn end(mut self) {
        for report in self.waiting.drain(..) {
            // A host that has gone needs none.
            self.handle.reports.send(report).unwrap_or_default();
        }
    }
}

fn payload_bytes(report: &AgentReport) -> usize {
    if let AgentReport::Measured { payload, .. } = report { payload.len() } else { 0 }
}
