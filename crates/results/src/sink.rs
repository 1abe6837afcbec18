//! `Sink`: a writer on a thread of its own behind a bounded queue, so that writing never slows the load.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use metrics::server::{Incident, Reading, Row, ServedRequest};
use metrics::tally::Assertion;
use metrics::{Batch, Event, Generator, Provenance, TargetTable};

use crate::pace::Came;
use crate::{Pace, WriteError, Writer};

/// Bytes that rows of the server's side may have while they wait; a second's are a few hundred thousand.
const OBSERVED_MAX: usize = 64 << 20;

/// Thresholds and checks of a run at most; a script has at most 10,000 checks with a name of their own.
pub const ASSERTIONS_MAX: usize = 20_000;

/// A writer on a thread of its own.
pub struct Sink {
    queue: SyncSender<Batch>,
    empties: Mutex<Receiver<Batch>>,
    shared: Arc<Shared>,
    thread: JoinHandle<SinkReport>,
}

/// What both threads see.
#[derive(Default)]
struct Shared {
    /// The last note that was not yet written.
    note: Mutex<Option<Box<Generator>>>,
    /// Rows of the server's side that were not yet written.
    observed: Mutex<Observed>,
    /// How the run is made and what was done to it, with its Unix time (ns), and was not yet written.
    events: Mutex<Vec<(i64, Assertion)>>,
    /// Thresholds and checks to be written at the end, with the Unix time (ns) at which they were judged.
    assertions: Mutex<(i64, Vec<Assertion>)>,
    broken: Mutex<Option<String>>,
    rows: AtomicU64,
}

/// Rows of the server's side that wait for the writer's thread.
#[derive(Default)]
struct Observed {
    rows: Vec<Row>,
    /// Their bytes together.
    weight: usize,
    /// Rows refused since no room was left.
    refused: u64,
}

/// Hands over rows of the server's side from another thread.
#[derive(Clone)]
pub struct Observer(Arc<Shared>);

impl Observer {
    /// Hands over a row; never waits for the output. Beyond 64 MiB between two writes, rows are refused, and
    /// [`SinkReport::observed_dropped`] counts them. What comes after the sink's end is lost.
    pub fn observe(&self, row: Row) {
        observe(&self.0, row);
    }
}

/// The bytes a row takes in memory, about.
fn weight(row: &Row) -> usize {
    let texts = match row {
        Row::Reading(Reading { host, source, values, .. }) => {
            let value = |(name, _): &(String, f64)| size_of::<(String, f64)>() + name.len();
            host.len() + source.len() + values.iter().map(value).sum::<usize>()
        }
        Row::Served(ServedRequest { host, source, method, path, id, .. }) => {
            [host, source, method, path, id].map(String::len).iter().sum()
        }
        Row::Incident(Incident { host, source, what, .. }) => {
            host.len() + source.len() + what.len()
        }
    };
    size_of::<Row>() + texts
}

fn observe(shared: &Shared, row: Row) {
    let weight = weight(&row);
    let mut observed = lock(&shared.observed);
    if observed.weight + weight > OBSERVED_MAX {
        observed.refused += 1;
        return;
    }
    observed.weight += weight;
    observed.rows.push(row);
}

/// What a sink did.
#[derive(Debug, Default)]
pub struct SinkReport {
    /// Rows written.
    pub rows: u64,
    /// Bytes written; 0 where the stream broke.
    pub bytes: u64,
    /// Rows thrown away since the output had failed.
    pub rows_dropped: u64,
    /// Rows that the system did not take: they were thrown away, or written before the output failed and not handed over.
    pub rows_lost: u64,
    /// Rows of the server's side written; `rows` does not count them.
    pub observed: u64,
    /// Rows of the server's side thrown away: there were too many at once, or the output had failed.
    pub observed_dropped: u64,
    /// Why the output failed, if it did.
    pub error: Option<WriteError>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is locked here is whole at any moment, even where a thread panicked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sink {
    /// Batches of a queue by default.
    pub const CAPACITY: usize = 512;

    /// Starts the thread for a file. At most `capacity` batches wait; what they hold in memory is up to the caller.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub fn start(
        writer: Box<dyn Writer>,
        targets: TargetTable,
        capacity: usize,
    ) -> io::Result<Self> {
        Self::start_thread((writer, Pace::FILE), targets, capacity)
    }

    /// Starts the thread, which hands rows to the system at this pace. At most [`Sink::CAPACITY`] batches wait.
    ///
    /// # Errors
    /// As [`Sink::start`].
    pub fn start_at(pace: Pace, writer: Box<dyn Writer>, targets: TargetTable) -> io::Result<Self> {
        Self::start_thread((writer, pace), targets, Self::CAPACITY)
    }

    fn start_thread(
        (writer, pace): (Box<dyn Writer>, Pace),
        targets: TargetTable,
        capacity: usize,
    ) -> io::Result<Self> {
        let (queue, batches) = mpsc::sync_channel(capacity);
        let (give_back, empties) = mpsc::sync_channel(capacity);
        let shared = Arc::new(Shared::default());
        let worker = Worker {
            writer,
            pace,
            targets,
            batches,
            give_back,
            shared: Arc::clone(&shared),
            report: SinkReport::default(),
            rows_taken: 0,
        };
        let thread = thread::Builder::new().name("results".into()).spawn(|| worker.run())?;
        Ok(Self { queue, empties: Mutex::new(empties), shared, thread })
    }

    /// Queues a batch; never waits.
    ///
    /// # Errors
    /// The queue is full: the batch comes back, to be counted as `rows_dropped` and emptied.
    pub fn offer(&self, batch: Batch) -> Result<(), Batch> {
        self.queue.try_send(batch).map_err(|refused| match refused {
            TrySendError::Full(batch) | TrySendError::Disconnected(batch) => batch,
        })
    }

    /// An empty batch with memory to reuse.
    pub fn take_empty(&self) -> Option<Batch> {
        lock(&self.empties).try_recv().ok()
    }

    /// Hands over the generator's view of itself so far; never waits. It replaces one that was not yet written.
    pub fn note(&self, generator: Generator) {
        *lock(&self.shared.note) = Some(Box::new(generator));
    }

    /// Hands over a row of the server's side, as [`Observer::observe`] does.
    pub fn observe(&self, row: Row) {
        observe(&self.shared, row);
    }

    /// Hands over what was done to the run; never waits. It is written as soon as the rows are.
    pub fn event(&self, event: Event) {
        lock(&self.shared.events).push((event.at, Assertion::Event(event)));
    }

    /// Hands over how the run is made, which began at this Unix time (ns); never waits. It is written as events are.
    pub fn provenance(&self, at: i64, provenance: Provenance) {
        lock(&self.shared.events).push((at, Assertion::Provenance(Box::new(provenance))));
    }

    /// Hands over the results of a script's thresholds and checks, as of this Unix time (ns). They are written at the end, and
    /// replace those of an earlier call. Returns how many exceed [`ASSERTIONS_MAX`] and are dropped.
    pub fn conclude(&self, at: i64, mut assertions: Vec<Assertion>) -> usize {
        let refused = assertions.len().saturating_sub(ASSERTIONS_MAX);
        assertions.truncate(ASSERTIONS_MAX);
        *lock(&self.shared.assertions) = (at, assertions);
        refused
    }

    /// What hands over rows of the server's side from another thread.
    #[must_use]
    pub fn observer(&self) -> Observer {
        Observer(Arc::clone(&self.shared))
    }

    /// The text of the error that broke the output, if one did. Everything offered since is counted and dropped.
    pub fn broken(&self) -> Option<String> {
        lock(&self.shared.broken).clone()
    }

    /// Rows given to the writer so far.
    pub fn rows(&self) -> u64 {
        self.shared.rows.load(Ordering::Relaxed)
    }

    /// Writes what is queued, the last note and the end of the stream; waits for it.
    pub fn finish(self) -> SinkReport {
        drop(self.queue);
        self.thread.join().unwrap_or_else(|_| SinkReport {
            error: Some(io::Error::other("the writing thread panicked").into()),
            ..SinkReport::default()
        })
    }
}

/// The thread's side.
struct Worker {
    writer: Box<dyn Writer>,
    pace: Pace,
    targets: TargetTable,
    batches: Receiver<Batch>,
    give_back: SyncSender<Batch>,
    shared: Arc<Shared>,
    report: SinkReport,
    /// Rows that the system has.
    rows_taken: u64,
}

impl Worker {
    fn run(mut self) -> SinkReport {
        let (began, mut has_rows) = (Instant::now(), false);
        // A flush without rows makes no message, and so no later one small.
        let (mut flushed, mut rows_flushed) = (began, began);
        loop {
            let pace = self.pace.at(began.elapsed());
            let mut wait = pace.others().saturating_sub(flushed.elapsed());
            if has_rows {
                wait = wait.min(pace.wait(rows_flushed.elapsed()));
            }
            let came = match self.batches.recv_timeout(wait) {
                Ok(batch) => {
                    self.write(batch);
                    has_rows = true;
                    Came::Rows
                }
                Err(RecvTimeoutError::Timeout) => Came::Nothing,
                Err(RecvTimeoutError::Disconnected) => return self.end(),
            };
            let is_due = has_rows && pace.is_due(rows_flushed.elapsed(), came);
            if is_due || flushed.elapsed() >= pace.others() {
                self.write_all_queued();
                self.write_observed();
                self.write_events();
                self.write_note();
                self.flush();
                flushed = Instant::now();
                rows_flushed = if has_rows { flushed } else { rows_flushed };
                has_rows = false;
            }
        }
    }

    fn flush(&mut self) {
        self.attempt(|writer| writer.flush());
        if self.report.error.is_none() {
            self.rows_taken = self.report.rows;
        }
    }

    /// Before a note, the rows it counts.
    fn write_all_queued(&mut self) {
        let limit = Sink::CAPACITY;
        for _ in 0..limit {
            match self.batches.try_recv() {
                Ok(batch) => self.write(batch),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return,
            }
        }
    }

    fn write(&mut self, mut batch: Batch) {
        let rows = batch.samples.len() as u64;
        if self.report.error.is_none() {
            let written = self.writer.batch(&batch, &self.targets);
            self.note_error(written);
        }
        if self.report.error.is_none() {
            self.report.rows += rows;
            self.shared.rows.store(self.report.rows, Ordering::Relaxed);
        } else {
            self.report.rows_dropped += rows;
        }
        batch.clear();
        // Where the queue of empty batches is full or closed, the memory is freed.
        drop(self.give_back.try_send(batch));
    }

    fn write_observed(&mut self) {
        let observed = std::mem::take(&mut *lock(&self.shared.observed));
        self.report.observed_dropped += observed.refused;
        for row in &observed.rows {
            self.attempt(|writer| writer.server(row));
            match self.report.error {
                None => self.report.observed += 1,
                Some(_) => self.report.observed_dropped += 1,
            }
        }
    }

    fn write_events(&mut self) {
        let events = std::mem::take(&mut *lock(&self.shared.events));
        for (at, event) in events {
            self.attempt(|writer| writer.assertion(&event, at));
        }
    }

    fn write_assertions(&mut self) {
        let (at, assertions) = std::mem::take(&mut *lock(&self.shared.assertions));
        for assertion in &assertions {
            self.attempt(|writer| writer.assertion(assertion, at));
        }
    }

    fn write_note(&mut self) {
        let note = lock(&self.shared.note).take();
        if let Some(note) = note {
            self.attempt(|writer| writer.generator(&note));
        }
    }

    fn attempt(&mut self, action: impl FnOnce(&mut dyn Writer) -> Result<(), WriteError>) {
        if self.report.error.is_none() {
            let done = action(self.writer.as_mut());
            self.note_error(done);
        }
    }

    fn note_error(&mut self, done: Result<(), WriteError>) {
        if let Err(error) = done {
            *lock(&self.shared.broken) = Some(error.to_string());
            self.report.error = Some(error);
        }
    }

    fn end(mut self) -> SinkReport {
        self.write_observed();
        self.write_events();
        self.write_assertions();
        self.write_note();
        if self.report.error.is_none() {
            match self.writer.finish() {
                Ok(bytes) => {
                    self.report.bytes = bytes;
                    self.rows_taken = self.report.rows;
                }
                Err(error) => self.report.error = Some(error),
            }
        }
        self.report.rows_lost = self.report.rows + self.report.rows_dropped - self.rows_taken;
        self.report
    }
}
