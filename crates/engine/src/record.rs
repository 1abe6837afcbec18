//! `Recorder`: a worker's counts and rows on their way to the collector. Nothing is allocated while the collector gives
//! emptied batches and snapshots back; nothing is waited for while the run goes on.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError};

use metrics::{Batch, Sample, Snapshot};
use stdx::Nanos;

/// Rows in one batch.
pub(crate) const ROWS_MAX: usize = 2048;
/// Text bytes after which a batch is sent on before it is full: 4 MiB.
const TEXTS_MAX: usize = 4 << 20;
/// How often counts and rows are sent on.
pub(crate) const PERIOD: Nanos = Nanos::SECOND;

/// What a worker tells the collector.
#[derive(Debug)]
pub(crate) enum Message {
    Rows(Batch),
    /// Counts since the last one. Its generator's `lag` too is since the last one; the rest is since the start.
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
    pub(crate) rows_dropped: u64,
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
    pub(crate) fn new(outlet: Outlet, with_rows: bool, epoch: i64) -> Self {
        let mut batch = outlet.batches.try_recv().unwrap_or_else(|_| new_batch());
        batch.epoch = epoch;
        Self { snapshot: Box::new(Snapshot::new()), batch, with_rows, rows_dropped: 0, outlet }
    }

    /// Counts a sample and, where rows are wanted, adds its row; `texts` puts the row's texts into the batch.
    pub(crate) fn add(&mut self, mut sample: Sample, texts: impl FnOnce(&mut Batch, &mut Sample)) {
        self.snapshot.record(&sample);
        if !self.with_rows {
            return;
        }
        texts(&mut self.batch, &mut sample);
        self.batch.samples.push(sample);
        if self.batch.samples.len() >= ROWS_MAX || self.batch.texts.len() >= TEXTS_MAX {
            self.send_rows();
        }
    }

    /// Sends on the rows there are; where the queue is full they are dropped, and counted.
    pub(crate) fn send_rows(&mut self) {
        if self.batch.samples.is_empty() {
            return;
        }
        let epoch = self.batch.epoch;
        let mut next = self.outlet.batches.try_recv().unwrap_or_else(|_| new_batch());
        next.clear();
        next.epoch = epoch;
        let full = std::mem::replace(&mut self.batch, next);
        let rows = full.samples.len() as u64;
        if self.outlet.messages.try_send(Message::Rows(full)).is_err() {
            self.rows_dropped += rows;
        }
    }

    /// Sends on the counts, if an empty snapshot is there to go on with and the queue has room; else they wait for the
    /// next time. `false` means that nobody listens any more.
    pub(crate) fn send_counts(&mut self) -> bool {
        let Ok(next) = self.outlet.snapshots.try_recv() else { return true };
        let full = std::mem::replace(&mut self.snapshot, next);
        match self.outlet.messages.try_send(Message::Counts(self.outlet.worker, full)) {
            Ok(()) => true,
            Err(TrySendError::Full(Message::Counts(_, back))) => {
                self.snapshot = back;
                true
            }
            Err(_) => false,
        }
    }

    /// Sends on everything and says that the worker ended. Waits for room; the run is over.
    pub(crate) fn finish(mut self) {
        let rows = std::mem::take(&mut self.batch);
        // A failure means that nobody listens any more: the run was dropped.
        if !rows.samples.is_empty() {
            self.outlet.messages.send(Message::Rows(rows)).ok();
        }
        self.outlet.messages.send(Message::Done(self.outlet.worker, self.snapshot)).ok();
    }
}

pub(crate) fn new_batch() -> Batch {
    Batch { epoch: 0, samples: Vec::with_capacity(ROWS_MAX), texts: Vec::new() }
}
