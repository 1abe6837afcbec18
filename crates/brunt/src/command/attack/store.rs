//! `Store`: the thread that writes a run's results, and the queue to it. The queue is bounded: what finds no room is dropped and
//! counted.

use std::collections::VecDeque;
use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::anyhow;
use engine::Run;
use metrics::tally::Assertion;
use metrics::{Batch, Generator, TargetTable};
use monitor::Watcher;
use results::{Encoding, Sink, StreamInfo, WriteError};
use workload::Plan;

use crate::command::watch::{Beside, Watching};
use crate::dialect::ResultsOption;
use crate::exit_code::Failed;
use crate::flags::watch::Watched;
use crate::output::{self, Place};

/// A place for results, opened before the first request: one that cannot be written must not cost a run.
pub(crate) struct Opened {
    place: Place,
    encoding: Encoding,
    file: Box<dyn Write + Send>,
    /// What is watched beside the run, and how often.
    watcher: Option<(Watcher, Duration)>,
}

/// Results on their way to a file.
pub(crate) struct Store {
    place: Place,
    sink: Sink,
    beside: Option<Beside>,
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
}

impl Queued {
    fn push(&mut self, size: usize) {
        self.sizes.push_back(size);
        self.bytes += size;
    }

    fn pop(&mut self) {
        self.bytes -= self.sizes.pop_front().unwrap_or(0);
    }

    fn has_room_for(&self, size: usize) -> bool {
        self.sizes.is_empty() || self.bytes + size <= QUEUED_BYTES_MAX
    }
}

impl Opened {
    /// Opens the place, which empties a file that is there: what is watched beside the run is made sure of before.
    ///
    /// # Errors
    /// It cannot be written; something can never be watched, or the format has no room for it.
    pub(crate) fn new(
        place: Place,
        encoding: Encoding,
        watching: Option<&Watching>,
    ) -> Result<Self, Failed> {
        let watcher = watching.map(|watching| watching.watcher_for(encoding)).transpose()?;
        let file = place.open().map_err(|failed| match &place {
            Place::File(path) => anyhow!("error opening {path}: {failed}").into(),
            Place::Stdout => failed,
        })?;
        Ok(Self { place, encoding, file, watcher })
    }

    /// Opens the place for what the ending of its name says; Arrow where it says nothing.
    ///
    /// # Errors
    /// As [`Opened::new`].
    pub(crate) fn by_ending(place: Place, watching: Option<&Watching>) -> Result<Self, Failed> {
        let name = if let Place::File(name) = &place { Some(name.as_str()) } else { None };
        let encoding = name.and_then(Encoding::from_path).unwrap_or(Encoding::Arrow);
        Self::new(place, encoding, watching)
    }

    /// Opens the file that another tool's command line names.
    ///
    /// # Errors
    /// As [`Opened::new`].
    pub(crate) fn of_option(option: ResultsOption) -> Result<Self, Failed> {
        let watched = Watched { machine: option.watched, ..Watched::default() };
        Self::by_ending(option.output, Watching::beside(&watched).as_ref())
    }

    /// Begins to write the results of a run that has begun.
    ///
    /// # Errors
    /// The head cannot be written, or the thread not be started.
    pub(crate) fn start(
        self,
        run: &Run,
        plan: &Plan,
        labels: &TargetTable,
    ) -> Result<Store, Failed> {
        let Self { place, encoding, file, watcher } = self;
        let info = StreamInfo {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            epoch: run.epoch(),
            attack: plan.name.clone(),
            seed: plan.seed,
            ..StreamInfo::default()
        };
        let sink = results::writer(encoding, file, &info)
            .and_then(|writer| Ok(Sink::start(writer, labels.clone(), Sink::CAPACITY)?))
            .map_err(|error| unwritable(&error, &place))?;
        let start = |(watcher, every)| Beside::start(watcher, every, sink.observer());
        let beside = watcher.map(start).transpose()?;
        Ok(Store { place, sink, beside, queued: Queued::default(), rows_dropped: 0 })
    }
}

impl Store {
    /// Has rows written, or drops and counts them where the queue is full. Gives written batches back to the run.
    pub(crate) fn add(&mut self, batch: Batch, run: &Run) {
        while let Some(empty) = self.sink.take_empty() {
            self.queued.pop();
            run.recycle(empty);
        }
        let (rows, size) = (batch.samples.len() as u64, batch.texts.len());
        let refused =
            if self.queued.has_room_for(size) { self.sink.offer(batch).err() } else { Some(batch) };
        match refused {
            None => self.queued.push(size),
            Some(batch) => {
                self.rows_dropped += rows;
                run.recycle(emptied(batch));
            }
        }
    }

    /// Has the generator's view of itself written.
    pub(crate) fn note(&self, generator: Generator) {
        self.sink.note(self.counted(generator));
    }

    /// Whether nothing can be written any more.
    pub(crate) fn is_broken(&self) -> bool {
        self.sink.broken().is_some()
    }

    /// Waits until all is written, the generator's last word too; gives that with the rows that were dropped here.
    ///
    /// # Errors
    /// It could not be written; the error names the place, and after an interrupt what may have cut a pipeline.
    pub(crate) fn finish(self, last: Generator) -> Result<Generator, Failed> {
        let (held, last) = self.hold(last);
        held.finish(Vec::new()).map(|()| last)
    }

    /// Takes the generator's last word, and stays open for what is known only after the run. Gives that word with the rows
    /// that were dropped here.
    pub(crate) fn hold(self, last: Generator) -> (Held, Generator) {
        let last = self.counted(last);
        if let Some(beside) = self.beside {
            beside.finish();
        }
        self.sink.note(last.clone());
        let (place, sink) = (self.place, Some(self.sink));
        (Held { place, sink, interrupted: last.interrupted }, last)
    }

    fn counted(&self, mut generator: Generator) -> Generator {
        generator.rows_dropped += self.rows_dropped;
        generator
    }
}

/// Results whose hits are all written. Dropped before its end, because something else failed, it still writes what it has.
pub(crate) struct Held {
    place: Place,
    /// `None` once it was finished.
    sink: Option<Sink>,
    /// The run ended by an interrupt.
    interrupted: bool,
}

impl Held {
    /// Waits until all is written, with what became of a script's thresholds and checks.
    ///
    /// # Errors
    /// It could not be written; the error names the place, and after an interrupt what may have cut a pipeline.
    pub(crate) fn finish(mut self, assertions: Vec<Assertion>) -> Result<(), Failed> {
        let Some(sink) = self.sink.take() else { return Ok(()) };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at = i64::try_from(now.as_nanos()).unwrap_or(i64::MAX);
        let refused = sink.conclude(at, assertions) as u64;
        if refused > 0 {
            let refused = stdx::counted(refused, "row");
            output::complain(&format!(
                "brunt: the results have no room for {refused} of thresholds and checks"
            ));
        }
        let report = sink.finish();
        if report.observed_dropped > 0 && report.error.is_none() {
            let rows = report.observed_dropped;
            let rows = stdx::counted(rows, "row");
            output::complain(&format!(
                "brunt: {rows} of the server's side came faster than they were written"
            ));
        }
        match report.error {
            Some(WriteError::ClosedPipe) if self.interrupted => Err(anyhow!(
                "writing results to {}: its reader ended before they did, and the last are lost (Ctrl-C \
                 ends tee, but not tee -i)",
                self.place
            )
            .into()),
            Some(error) => Err(unwritable(&error, &self.place)),
            None => Ok(()),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // What failed first is what the user hears of.
        if let Some(sink) = self.sink.take() {
            drop(sink.finish());
        }
    }
}

/// The batch without its rows, its memory kept.
pub(super) fn emptied(mut batch: Batch) -> Batch {
    batch.clear();
    batch
}

/// Results could not be written to this place.
fn unwritable(error: &WriteError, place: &Place) -> Failed {
    match error {
        WriteError::ClosedPipe => {
            anyhow!("writing results to {place}: the reader closed the pipe").into()
        }
        error => anyhow!("{place}: {error}").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_wait_are_bounded() {
        let mut queued = Queued::default();
        assert!(queued.has_room_for(QUEUED_BYTES_MAX * 2), "one batch always finds room");
        queued.push(QUEUED_BYTES_MAX - 10);
        assert!(queued.has_room_for(10) && !queued.has_room_for(11));
        queued.pop();
        assert!(queued.has_room_for(11) && queued.bytes == 0);
        queued.pop();
    }
}
