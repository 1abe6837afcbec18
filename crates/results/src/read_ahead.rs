//! `ReadAhead`: a [`Reader`] on a thread of its own, so that the next rows are decoded while those before them are counted. It opens
//! nothing, and never reads more than two batches ahead.
//!
//! ```text
//! thread:  spare batch ─▶ Reader::next ─▶ ReadStep ─▶┐ (one may wait)
//! owner:   ◀── the batch that was counted ◀── next ◀─┘
//! ```

use std::io;
use std::panic;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use metrics::{Batch, LabelRef, TargetLabel, TargetTable};

use crate::{Item, ReadError, Reader};

/// Batches besides the owner's: one is filled, and one waits.
const SPARES: usize = 2;

/// A reader on a thread of its own, which ends with its inputs, or after this was dropped. What it says of the inputs is as of the
/// last item that was returned; the thread may be ahead.
#[derive(Debug)]
pub struct ReadAhead {
    steps: Receiver<ReadStep>,
    spares: SyncSender<Batch>,
    /// `None` once it was joined.
    thread: Option<JoinHandle<()>>,
    targets: TargetTable,
    spans: Vec<(i64, i64, i64)>,
    losses: Vec<String>,
}

/// What one call of [`Reader::next`] gave, and what the reader knew after it.
#[derive(Debug)]
struct ReadStep {
    result: Result<Option<Item>, ReadError>,
    batch: Batch,
    /// The targets and losses that are new.
    targets: Vec<TargetLabel>,
    losses: Vec<String>,
    spans: Vec<(i64, i64, i64)>,
}

impl ReadAhead {
    /// Starts the thread, which reads on at once.
    ///
    /// # Errors
    /// The system has no thread left; the reader is lost.
    pub fn start(reader: Reader) -> io::Result<Self> {
        let (step_sender, steps) = sync_channel(1);
        let (spares, spare_receiver) = sync_channel(SPARES);
        for _ in 0..SPARES {
            spares.try_send(Batch::default()).ok();
        }
        let thread = thread::Builder::new()
            .name("results-reader".to_owned())
            .spawn(move || read(reader, &spare_receiver, &step_sender))?;
        let (targets, spans, losses) = (TargetTable::default(), Vec::new(), Vec::new());
        Ok(Self { steps, spares, thread: Some(thread), targets, spans, losses })
    }

    /// As [`Reader::next`]; after the end or an error, `None`.
    ///
    /// # Errors
    /// An input is corrupt or cannot be read. Earlier rows have been returned.
    ///
    /// # Panics
    /// The thread did: a panic is passed on, since what was read is not all.
    pub fn next(&mut self, batch: &mut Batch) -> Result<Option<Item>, ReadError> {
        let Ok(step) = self.steps.recv() else {
            batch.clear();
            if let Some(Err(cause)) = self.thread.take().map(JoinHandle::join) {
                panic::resume_unwind(cause);
            }
            return Ok(None);
        };
        let counted = std::mem::replace(batch, step.batch);
        // The thread may have ended.
        self.spares.try_send(counted).ok();
        self.targets.extend(step.targets);
        self.losses.extend(step.losses);
        self.spans = step.spans;
        step.result
    }

    /// The targets that the samples returned so far number, as [`Reader::targets`].
    #[must_use]
    pub fn targets(&self) -> &TargetTable {
        &self.targets
    }

    /// When hits were due and ended, as [`Reader::spans`].
    #[must_use]
    pub fn spans(&self) -> Vec<(i64, i64, i64)> {
        self.spans.clone()
    }

    /// What is missing, as [`Reader::losses`].
    #[must_use]
    pub fn losses(&self) -> &[String] {
        &self.losses
    }
}

/// Reads until the inputs end, one is damaged, or the owner is gone.
fn read(mut reader: Reader, spares: &Receiver<Batch>, steps: &SyncSender<ReadStep>) {
    let (mut targets, mut losses) = (0, 0);
    while let Ok(mut batch) = spares.recv() {
        let result = reader.next(&mut batch);
        let is_last = !matches!(result, Ok(Some(_)));
        let step = ReadStep {
            result,
            batch,
            targets: reader.targets().iter_from(targets).map(LabelRef::to_label).collect(),
            losses: reader.losses()[losses..].to_vec(),
            spans: reader.spans(),
        };
        (targets, losses) = (reader.targets().len(), reader.losses().len());
        if steps.send(step).is_err() || is_last {
            return;
        }
    }
}
