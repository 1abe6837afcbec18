//! `Recorder`: a worker's counts and rows on their way to the collector. Nothing is allocated while the collector gives
//! emptied batches and snapshots back; nothing is waited for while the run goes on.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError};

use metrics::{Batch, FailureKind, Sample, Snapshot};
use stdx::Nanos;

use crate::settings::{RowDelivery, Settings};

/// Rows in one batch, of 152 bytes each.
pub(crate) const ROWS_MAX: usize = 1024;
/// Emptied batches of one worker, at most.
pub(crate) const BATCHES_MAX: usize = 8;
/// Text bytes after which a batch is sent on before it is full: 4 MiB, and no more than the limit of the process by
/// [`TEXTS_PARTS`].
const TEXTS_MAX: usize = 4 << 20;
const TEXTS_PARTS: usize = 64;
/// How often counts and rows are sent on.
pub(crate) const PERIOD: Nanos = Nanos::SECOND;
/// How long a row waits at most that is to be sent on promptly.
pub(crate) const PROMPT_PERIOD: Nanos = Nanos::from_millis(50);

/// What a worker sends to the collector.
#[derive(Debug)]
pub(crate) enum Message {
    Rows(Batch),
    /// Counts since the last one. Its generator's `lag` and `on_time` too are since the last one; the rest is since the start.
    Counts(usize, Box<Snapshot>),
    /// The worker's last counts; it has ended.
    Done(usize, Box<Snapshot>),
}

/// Where a worker's counts and rows go.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) snapshot: Box<Snapshot>,
    batch: Batch,
    with_rows: bool,
    texts_max: usize,
    /// The next failed hit is not to wait for its batch to fill.
    report_first_failure: bool,
    delivery: RowDelivery,
    /// When rows may be sent on next, where that is prompt.
    next_delivery: Nanos,
    pub(crate) rows_dropped: u64,
    /// Emptied batches. The one that came back last is used first, so that few are in use.
    idle: Vec<Batch>,
    /// An empty snapshot that was taken while the queue was full.
    spare: Option<Box<Snapshot>>,
    outlet: Outlet,
}

/// The worker's ends of its channels.
#[derive(Debug)]
pub(crate) struct Outlet {
    pub(crate) worker: usize,
    pub(crate) messages: SyncSender<Message>,
    pub(crate) batches: Receiver<Batch>,
    pub(crate) snapshots: Receiver<Box<Snapshot>>,
}

impl Recorder {
    pub(crate) fn new(outlet: Outlet, settings: &Settings, epoch: i64) -> Self {
        let mut batch = outlet.batches.try_recv().unwrap_or_else(|_| new_batch());
        batch.epoch = epoch;
        let snapshot = Box::new(Snapshot::new());
        Self {
            snapshot,
            batch,
            with_rows: settings.rows,
            texts_max: texts_max(),
            report_first_failure: settings.report_first_failure,
            delivery: settings.row_delivery,
            next_delivery: Nanos::ZERO,
            rows_dropped: 0,
            idle: Vec::with_capacity(BATCHES_MAX),
            spare: None,
            outlet,
        }
    }

    /// The Unix time (ns) of a moment of this run.
    pub(crate) fn unix_ns(&self, time: Nanos) -> i64 {
        self.batch.epoch.saturating_add_unsigned(time.0)
    }

    /// Counts a sample and, where rows are wanted, adds its row; `texts` puts the row's texts into the batch.
    pub(crate) fn add(&mut self, mut sample: Sample, texts: impl FnOnce(&mut Batch, &mut Sample)) {
        self.snapshot.record(&sample);
        if !self.with_rows {
            return;
        }
        texts(&mut self.batch, &mut sample);
        self.batch.samples.push(sample);
        let urgent = self.report_first_failure && sample.failure != FailureKind::None;
        self.report_first_failure &= !urgent;
        if urgent
            || self.batch.samples.len() >= ROWS_MAX
            || self.batch.texts.len() >= self.texts_max
        {
            self.send_rows();
        }
    }

    /// When the rows at hand are to be sent on before the counts are; `None` where they wait for those.
    pub(crate) fn next_delivery(&self) -> Option<Nanos> {
        let waits = self.delivery == RowDelivery::Prompt && !self.batch.samples.is_empty();
        waits.then_some(self.next_delivery)
    }

    /// Sends on the rows there are, if they are to be sent on promptly and it is time.
    pub(crate) fn deliver(&mut self, now: Nanos) {
        if self.next_delivery().is_some_and(|at| now >= at) {
            self.send_rows();
            self.next_delivery = now + PROMPT_PERIOD;
        }
    }

    /// Sends on the rows there are; where the queue is full they are dropped, and counted.
    pub(crate) fn send_rows(&mut self) {
        let rows = self.batch.samples.len() as u64;
        if rows == 0 {
            return;
        }
        let epoch = self.batch.epoch;
        let full = std::mem::take(&mut self.batch);
        self.batch = match self.outlet.messages.try_send(Message::Rows(full)) {
            Ok(()) => self.emptied_batch(),
            // Their memory serves the next rows.
            Err(TrySendError::Full(back) | TrySendError::Disconnected(back)) => {
                self.rows_dropped += rows;
                match back {
                    Message::Rows(dropped) => dropped,
                    Message::Counts(..) | Message::Done(..) => new_batch(),
                }
            }
        };
        self.batch.clear();
        self.batch.epoch = epoch;
    }

    fn emptied_batch(&mut self) -> Batch {
        while self.idle.len() < BATCHES_MAX
            && let Ok(batch) = self.outlet.batches.try_recv()
        {
            self.idle.push(batch);
        }
        self.idle.pop().unwrap_or_else(new_batch)
    }

    /// Sends on the counts, if an empty snapshot is there to go on with and the queue has room; else they wait for the
    /// next time. `false` means that the run was dropped.
    pub(crate) fn send_counts(&mut self) -> bool {
        let spare = self.spare.take().or_else(|| self.outlet.snapshots.try_recv().ok());
        let Some(mut next) = spare else { return true };
        next.from = self.snapshot.to;
        let full = std::mem::replace(&mut self.snapshot, next);
        match self.outlet.messages.try_send(Message::Counts(self.outlet.worker, full)) {
            Ok(()) => true,
            Err(TrySendError::Full(Message::Counts(_, back))) => {
                // Put back, or a run with a slow owner would lose all its buffers and report no more progress.
                self.spare = Some(std::mem::replace(&mut self.snapshot, back));
                true
            }
            Err(_) => false,
        }
    }

    /// Sends everything that is left, and that the worker ended. It waits for room, since the run is over.
    pub(crate) fn finish(mut self) {
        let rows = std::mem::take(&mut self.batch);
        // A failure means that the run was dropped.
        if !rows.samples.is_empty() {
            self.outlet.messages.send(Message::Rows(rows)).ok();
        }
        self.outlet.messages.send(Message::Done(self.outlet.worker, self.snapshot)).ok();
    }
}

fn texts_max() -> usize {
    stdx::within_memory(TEXTS_MAX, TEXTS_PARTS)
}

/// Empties a batch for its next rows. Large bodies come in any batch: not each may keep the room for them.
pub(crate) fn empty(batch: &mut Batch) {
    batch.clear();
    if batch.texts.capacity() > 4 * texts_max() {
        batch.texts = Vec::new();
    }
}

pub(crate) fn new_batch() -> Batch {
    Batch { epoch: 0, samples: Vec::with_capacity(ROWS_MAX), texts: Vec::new() }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    fn rows(recorder: &mut Recorder, count: u64) {
        (0..count).for_each(|seq| recorder.add(Sample { seq, ..Sample::default() }, |_, _| ()));
    }

    #[test]
    fn the_first_failure_does_not_wait_where_it_is_asked_for() {
        for report_first_failure in [true, false] {
            let (messages, inbox) = sync_channel(4);
            let (_batches, batches) = sync_channel(1);
            let (_spares, snapshots) = sync_channel(1);
            let outlet = Outlet { worker: 0, messages, batches, snapshots };
            let settings = Settings { report_first_failure, ..Settings::default() };
            let mut recorder = Recorder::new(outlet, &settings, 0);
            rows(&mut recorder, 2);
            for _ in 0..2 {
                let failed = Sample { failure: FailureKind::Reset, ..Sample::default() };
                recorder.add(failed, |_, _| ());
            }
            let message = inbox.try_recv();
            let rows = matches!(message, Ok(Message::Rows(batch)) if batch.samples.len() == 3);
            assert_eq!(rows, report_first_failure);
            assert!(inbox.try_recv().is_err(), "only the first one is urgent");
        }
    }

    /// Issue 41: what a pipe's reader had not been given yet, up to a second of rows, was lost with it.
    #[test]
    fn rows_for_a_pipe_wait_for_50_ms_at_most() {
        let millis = Nanos::from_millis;
        for row_delivery in [RowDelivery::EverySecond, RowDelivery::Prompt] {
            let (messages, inbox) = sync_channel(8);
            let (_batches, batches) = sync_channel(1);
            let (_spares, snapshots) = sync_channel(1);
            let outlet = Outlet { worker: 0, messages, batches, snapshots };
            let settings = Settings { row_delivery, ..Settings::default() };
            let mut recorder = Recorder::new(outlet, &settings, 0);
            assert_eq!(recorder.next_delivery(), None, "there is no row");
            let mut sent = 0;
            for now in [10, 30, 59, 60, 61, 200].map(millis) {
                rows(&mut recorder, 1);
                recorder.deliver(now);
                sent += inbox.try_iter().count();
            }
            let is_prompt = row_delivery == RowDelivery::Prompt;
            assert_eq!(sent, if is_prompt { 3 } else { 0 }, "at 10, 60 and 200 ms");
            rows(&mut recorder, 1);
            assert_eq!(recorder.next_delivery(), is_prompt.then_some(millis(250)));
        }
    }

    #[test]
    fn a_full_queue_costs_rows_and_no_counts() {
        let (messages, inbox) = sync_channel(1);
        let (_batches, batches) = sync_channel(1);
        let (spares, snapshots) = sync_channel(1);
        spares.send(Box::new(Snapshot::new())).expect("there is room");
        let outlet = Outlet { worker: 0, messages, batches, snapshots };
        let mut recorder = Recorder::new(outlet, &Settings::default(), 5);
        rows(&mut recorder, 3);
        recorder.send_rows();
        for _ in 0..4 {
            rows(&mut recorder, 2);
            recorder.send_rows();
            assert!(recorder.send_counts(), "the queue is full, and somebody listens");
        }
        assert_eq!(recorder.rows_dropped, 8);
        assert!(matches!(inbox.recv(), Ok(Message::Rows(batch)) if batch.samples.len() == 3));
        recorder.snapshot.to = Nanos(9);
        assert!(recorder.send_counts());
        assert!(matches!(inbox.recv(), Ok(Message::Counts(0, snapshot)) if snapshot.hits() == 11));
        assert_eq!(recorder.snapshot.from, Nanos(9), "one stretch begins where the last one ended");
        rows(&mut recorder, 1);
        recorder.send_rows();
        let last = inbox.recv();
        assert!(matches!(last, Ok(Message::Rows(batch)) if batch.epoch == 5), "no row of old");
    }
}
