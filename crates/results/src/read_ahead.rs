//! `ReadAhead`: a [`Reader`] on a thread of its own: the next rows are decoded while those before them are counted.
//!
//! ```text
//! thread:  spare batch ─▶ Reader::next ─▶ Decoded ─▶┐ (one may wait)
//! owner:   ◀── the batch that was counted ◀── next ◀┘
//! ```

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use metrics::{Batch, TargetLabel, TargetTable};

use crate::{Detail, Item, ReadError, Reader};

/// Batches that go round: one is filled while the other is counted.
const BATCHES: usize = 2;

/// A reader on a thread of its own, which ends with its inputs, or after this was dropped.
#[derive(Debug)]
pub struct ReadAhead {
    decoded: Receiver<Decoded>,
    spares: SyncSender<Batch>,
    targets: TargetTable,
    spans: Vec<(i64, i64, i64)>,
    detail: Detail,
    losses: Vec<String>,
}

/// What one call of [`Reader::next`] gave, and what the reader knew after it.
#[derive(Debug)]
struct Decoded {
    step: Result<Option<Item>, ReadError>,
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
    /// The system has no thread left.
    pub fn start(reader: Reader) -> io::Result<Self> {
        let detail = reader.detail();
        let (to_owner, decoded) = sync_channel(1);
        let (spares, from_owner) = sync_channel(BATCHES);
        for _ in 0..BATCHES {
            spares.try_send(Batch::default()).ok();
        }
        thread::Builder::new()
            .name("results".to_owned())
            .spawn(move || read(reader, &from_owner, &to_owner))?;
        let (targets, spans, losses) = (TargetTable::default(), Vec::new(), Vec::new());
        Ok(Self { decoded, spares, targets, spans, detail, losses })
    }

    /// As [`Reader::next`]; after an error, `None`.
    ///
    /// # Errors
    /// An input is corrupt or cannot be read. Earlier rows have been returned.
    pub fn next(&mut self, batch: &mut Batch) -> Result<Option<Item>, ReadError> {
        let Ok(decoded) = self.decoded.recv() else {
            batch.clear();
            return Ok(None);
        };
        let counted = std::mem::replace(batch, decoded.batch);
        // The thread may have ended.
        self.spares.try_send(counted).ok();
        self.targets.labels.extend(decoded.targets);
        self.losses.extend(decoded.losses);
        self.spans = decoded.spans;
        decoded.step
    }

    /// As [`Reader::targets`].
    #[must_use]
    pub fn targets(&self) -> &TargetTable {
        &self.targets
    }

    /// As [`Reader::spans`].
    #[must_use]
    pub fn spans(&self) -> &[(i64, i64, i64)] {
        &self.spans
    }

    /// As [`Reader::detail`].
    #[must_use]
    pub fn detail(&self) -> Detail {
        self.detail
    }

    /// As [`Reader::losses`].
    #[must_use]
    pub fn losses(&self) -> &[String] {
        &self.losses
    }
}

/// Reads until the inputs end, one is damaged, or the owner is gone.
fn read(mut reader: Reader, spares: &Receiver<Batch>, to_owner: &SyncSender<Decoded>) {
    let (mut targets, mut losses) = (0, 0);
    while let Ok(mut batch) = spares.recv() {
        let step = reader.next(&mut batch);
        let is_last = !matches!(step, Ok(Some(_)));
        let decoded = Decoded {
            step,
            batch,
            targets: reader.targets().labels[targets..].to_vec(),
            losses: reader.losses()[losses..].to_vec(),
            spans: reader.spans(),
        };
        targets = reader.targets().labels.len();
        losses = reader.losses().len();
        if to_owner.send(decoded).is_err() || is_last {
            return;
        }
    }
}
