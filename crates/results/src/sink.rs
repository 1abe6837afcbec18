//! `Sink`: a writer on a thread of its own behind a bounded queue, so that writing never slows the load.

use metrics::{Batch, Generator, TargetTable};

use crate::{WriteError, Writer};

/// A writer on a thread of its own.
pub struct Sink {}

/// What a sink did.
#[derive(Debug)]
pub struct SinkReport {
    /// Rows written.
    pub rows: u64,
    /// Bytes written; 0 where the stream broke.
    pub bytes: u64,
    /// Rows thrown away after the output had failed.
    pub rows_dropped: u64,
    /// Why the output failed, if it did.
    pub error: Option<WriteError>,
}

impl Sink {
    /// Batches a queue holds where the caller has no opinion.
    pub const CAPACITY: usize = 256;

    /// Starts the thread. At most `capacity` batches wait; what they hold in memory is up to the caller.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub fn start(
        writer: Box<dyn Writer>,
        targets: TargetTable,
        capacity: usize,
    ) -> std::io::Result<Self> {
        let _ = (writer, targets, capacity);
        todo!()
    }

    /// Queues a batch; never waits.
    ///
    /// # Errors
    /// The queue is full: the batch comes back, to be counted as `rows_dropped` and emptied.
    pub fn offer(&self, batch: Batch) -> Result<(), Batch> {
        let _ = batch;
        todo!()
    }

    /// An emptied batch whose memory can be used again.
    pub fn take_empty(&self) -> Option<Batch> {
        todo!()
    }

    /// Hands over the generator's view of itself so far; never waits. It replaces one that was not yet written.
    pub fn note(&self, generator: Generator) {
        let _ = generator;
        todo!()
    }

    /// The text of the error that broke the output, if one did. Everything offered since is counted and dropped.
    pub fn broken(&self) -> Option<String> {
        todo!()
    }

    /// Writes what is queued, the last note and the end of the stream; waits for it.
    pub fn finish(self) -> SinkReport {
        todo!()
    }
}
