//! `ResultsWriter`: the thread that writes a run's results, and the queue to it. The queue is bounded: rows that find no room
//! are dropped and counted.

use std::collections::VecDeque;

use metrics::server::{Row, Side};
use metrics::tally::Assertion;
use metrics::{Batch, Event, Generator};
use results::{Sink, WriteError};
use stdx::MemoryShare;

use crate::clock::unix_ns;
use crate::error::SessionError;
use crate::execution::Execution;
use crate::sidecar::MonitorSidecar;
use crate::warning::warn;

/// Results on their way to a file.
pub(crate) struct ResultsWriter {
    name: String,
    sink: Sink,
    sidecar: Option<MonitorSidecar>,
    queued: Queued,
    rows_dropped: u64,
}

/// Bytes of texts (bodies, headers, errors) that may wait in the results' queue: 256 MiB. Beyond it rows are dropped and
/// counted, as when the queue is full.
const QUEUED_BYTES_MAX: usize = 256 << 20;
/// The sizes of the batches that wait to be written, oldest first.
#[derive(Debug, Default)]
struct Queued {
    sizes: VecDeque<usize>,
    bytes: usize,
    memory: MemoryShare,
}

impl Queued {
    /// Queues a batch where there is room for it; gives back one that is refused.
    fn offer(
        &mut self,
        batch: Batch,
        queue: impl FnOnce(Batch) -> Result<(), Batch>,
    ) -> Result<(), Batch> {
        let size = batch.texts.len();
        if !self.has_room_for(size) {
            return Err(batch);
        }
        let offered = queue(batch);
        if offered.is_ok() {
            self.sizes.push_back(size);
            self.bytes += size;
        }
        self.settle();
        offered
    }

    fn pop(&mut self) {
        self.bytes -= self.sizes.pop_front().unwrap_or(0);
        self.settle();
    }

    /// Counts what waits, and no more.
    fn settle(&mut self) {
        // A batch that waits alone may be more than there is room for, and is there already.
        self.memory.hold(self.bytes);
    }

    fn has_room_for(&mut self, size: usize) -> bool {
        let bytes = self.bytes + size;
        self.sizes.is_empty() || (bytes <= QUEUED_BYTES_MAX && self.memory.resize(bytes).is_ok())
    }
}

impl ResultsWriter {
    pub(crate) fn new(name: String, sink: Sink, sidecar: Option<MonitorSidecar>) -> Self {
        Self { name, sink, sidecar, queued: Queued::default(), rows_dropped: 0 }
    }

    /// Queues rows to be written, or drops and counts them where the queue is full. Written batches go back to the run.
    pub(crate) fn add(&mut self, batch: Batch, run: &mut dyn Execution) {
        while let Some(empty) = self.sink.take_empty() {
            self.queued.pop();
            run.recycle(empty);
        }
        let rows = batch.samples.len() as u64;
        if let Err(batch) = self.queued.offer(batch, |batch| self.sink.offer(batch)) {
            self.rows_dropped += rows;
            run.recycle(batch);
        }
    }

    /// Queues the generator's record of itself, which replaces the one before.
    pub(crate) fn note(&self, generator: Generator) {
        self.sink.note(self.counted(generator));
    }

    /// Queues what was done to the run.
    pub(crate) fn event(&self, event: Event) {
        self.sink.event(event);
    }

    /// What was seen of the servers since the last call.
    pub(crate) fn recent(&self) -> Vec<Row> {
        self.sidecar.as_ref().map_or_else(Vec::new, MonitorSidecar::recent)
    }

    /// Whether nothing can be written any more.
    pub(crate) fn is_broken(&self) -> bool {
        self.sink.broken().is_some()
    }

    /// Queues the generator's last record, and leaves the file open for what is known only after the run. Also returns that
    /// record, with the rows that were dropped here, and what was seen of the servers.
    pub(crate) fn end(self, last: Generator) -> (OpenResults, Generator, Option<Side>) {
        let last = self.counted(last);
        let server = self.sidecar.map(MonitorSidecar::finish);
        self.sink.note(last.clone());
        let (name, sink) = (self.name, Some(self.sink));
        (OpenResults { name, sink, interrupted: last.interrupted }, last, server)
    }

    fn counted(&self, mut generator: Generator) -> Generator {
        generator.rows_dropped += self.rows_dropped;
        generator
    }
}

/// Results whose rows are all queued. Dropped before its end, because something else failed, it still writes what it has.
pub struct OpenResults {
    name: String,
    /// `None` once it was finished.
    sink: Option<Sink>,
    /// The run ended by an interrupt.
    interrupted: bool,
}

impl OpenResults {
    /// Waits until all is written, including the outcomes of a script's thresholds and checks.
    ///
    /// # Errors
    /// The results could not be written; the error names the file, and after an interrupt what may have cut a pipeline.
    pub fn finish(mut self, assertions: Vec<Assertion>) -> Result<(), SessionError> {
        let Some(sink) = self.sink.take() else { return Ok(()) };
        let refused = sink.conclude(unix_ns(), assertions) as u64;
        if refused > 0 {
            let refused = stdx::counted(refused, "row");
            warn(&format!(
                "the results cannot hold {refused} of gates, thresholds, checks and metrics"
            ));
        }
        let report = sink.finish();
        if report.observed_dropped > 0 && report.error.is_none() {
            let rows = stdx::counted(report.observed_dropped, "row");
            warn(&format!("{rows} of the server's side came faster than they were written"));
        }
        match report.error {
            Some(WriteError::ClosedPipe) => {
                let (name, rows) = (self.name.clone(), report.rows_lost);
                Err(match self.interrupted {
                    true => SessionError::ReaderInterrupted { name, rows },
                    false => SessionError::ReaderClosed { name, rows },
                })
            }
            Some(error) => Err(SessionError::results(error, &self.name)),
            None => Ok(()),
        }
    }
}

impl Drop for OpenResults {
    fn drop(&mut self) {
        // The first failure is the one to report.
        if let Some(sink) = self.sink.take() {
            drop(sink.finish());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(texts: usize) -> Batch {
        Batch { texts: vec![0; texts], ..Batch::default() }
    }

    #[test]
    fn texts_that_wait_are_bounded() {
        let mut queued = Queued::default();
        assert!(queued.has_room_for(QUEUED_BYTES_MAX * 2), "one batch always finds room");
        queued.offer(batch(1 << 20), |_| Ok(())).unwrap();
        let left = QUEUED_BYTES_MAX - (1 << 20);
        assert!(queued.has_room_for(left) && !queued.has_room_for(left + 1));
        queued.pop();
        assert!(queued.has_room_for(left + 1) && queued.bytes == 0);
        queued.pop();
    }

    /// Issue 19: the first batch was not counted, and what was taken for one that the queue refused stayed taken.
    #[test]
    fn memory_is_taken_for_what_waits() {
        const MIB: usize = 1 << 20;
        let mut queued = Queued::default();
        queued.offer(batch(3 * MIB), |_| Ok(())).unwrap();
        assert_eq!(queued.memory.taken(), 3 * MIB);
        queued.offer(batch(2 * MIB), Err).unwrap_err();
        assert_eq!((queued.memory.taken(), queued.bytes), (3 * MIB, 3 * MIB));
        queued.pop();
        assert_eq!(queued.memory.taken(), 0);
        queued.offer(batch(2 * MIB), Err).unwrap_err();
        assert_eq!(queued.memory.taken(), 0);
    }
}
