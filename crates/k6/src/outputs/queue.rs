//! `Outputs`: the queue of samples and the thread that writes them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use cli::{ExitError, Output, reason};
use metrics::tally::Assertion;
use outputs::{Delivered, Environment};
use results::{Encoding, Format};
use script::{Level, OutputSample, OutputTags, SampleSink};
use session::{MonitorConfig, OpenResults, ResultsFile, save};
use stdx::MemoryShare;

use super::csv::{self, Csv};
use super::file::SampleFile;
use super::json::Json;
use super::remote::Exporters;
use super::writer::{TestMetadata, Writer};
use crate::console::Logger;
use crate::error::K6Error;

/// Where samples go.
pub(crate) struct Outputs {
    queue: SyncSender<SampleBatch>,
    dropped: Arc<AtomicU64>,
    thread: JoinHandle<(Result<(), SampleError>, Vec<Delivered>)>,
    /// A file of results besides, for `brunt report`.
    pub(crate) results: Option<String>,
    /// The same file in the store, where the run is saved.
    pub(crate) stored: Option<Output>,
    has_writers: bool,
    /// The same once its hits are written: it waits for the outcomes of thresholds and checks.
    pub(crate) held: Option<OpenResults>,
}

/// A place of samples, with the name that the command line has for it.
struct NamedWriter {
    name: String,
    writer: Box<dyn Writer>,
}

impl NamedWriter {
    fn write(
        &mut self,
        write: impl FnOnce(&mut dyn Writer) -> io::Result<()>,
    ) -> Result<(), SampleError> {
        let failed = |error| SampleError { output: self.name.clone(), error };
        write(&mut *self.writer).map_err(failed)
    }
}

/// A place of samples that could not be written.
struct SampleError {
    output: String,
    error: io::Error,
}

/// A batch of samples that waits to be written.
#[derive(Default)]
struct SampleBatch {
    samples: Vec<OutputSample>,
    /// Of what scripts make as many and as long as they like: samples and their tags.
    _memory: MemoryShare,
}

/// The bytes of samples and their tags; those that share theirs are counted once.
fn bytes_of(samples: &[OutputSample]) -> usize {
    let mut last = std::ptr::null();
    let of = |sample: &OutputSample| {
        let tags = Arc::as_ptr(&sample.tags);
        let is_same = std::mem::replace(&mut last, tags) == tags;
        let all = sample.tags.tags.iter().chain(&sample.tags.metadata);
        if is_same {
            return 0;
        }
        size_of::<OutputTags>()
            + all.map(|(name, value)| name.len() + value.len() + PAIR_BYTES).sum::<usize>()
    };
    size_of_val(samples) + samples.iter().map(of).sum::<usize>()
}

/// Bytes of a tag beside its letters: two texts, and what the allocator adds to each.
const PAIR_BYTES: usize = 2 * (size_of::<String>() + 16);

/// Batches of samples that may wait to be written; each has 512 or what came in 250 ms.
const QUEUE_MAX: usize = 4096;

/// Opens the places that flags name.
///
/// # Errors
/// An output is unknown, or cannot be opened.
pub(crate) fn start(
    names: &[String],
    (known, logger): (TestMetadata, &Arc<Logger>),
    is_saved: bool,
) -> Result<Option<Outputs>, K6Error> {
    let mut writers: Vec<NamedWriter> = Vec::new();
    let mut exporters = Exporters::default();
    let environment = Environment::of_process();
    let mut results = None;
    for name in names {
        let (kind, argument) = name.split_once('=').unwrap_or((name, ""));
        let named = |writer| NamedWriter { name: name.clone(), writer };
        match kind {
            "json" => {
                let file = SampleFile::open(json_place(argument), Encoding::Json)?;
                writers.push(named(Box::new(Json::new(file))));
            }
            "csv" => {
                let (place, options) = csv::options(argument).map_err(K6Error::other)?;
                let file = SampleFile::open(&place, Encoding::Csv)?;
                writers.push(named(Box::new(Csv::new(file, &options, &known))));
            }
            "cloud" => {
                return Err(K6Error::other(
                    "output 'cloud' is k6's own service (there are -save and brunt ui)".to_owned(),
                ));
            }
            kind if outputs::NAMES.contains(&kind) => {
                let logger = Arc::clone(logger);
                let warn = move |line: &str| logger.log_line(Level::Warn, line);
                let opened = outputs::open(name, &environment, warn);
                let opened = opened.expect("it is one of them");
                let of_kind = |error| K6Error::other(format!("output {kind}: {error}"));
                exporters.push(opened.map_err(of_kind)?);
            }
            _ if is_results(name) => results = Some(name.clone()),
            kind => {
                let mut available = vec!["csv", "json"];
                available.extend(outputs::NAMES);
                available.sort_unstable();
                return Err(K6Error::other(format!(
                    "invalid output type '{kind}', available types are: {}, and files of results (such as results.bin)",
                    available.join(", ")
                )));
            }
        }
    }
    let has_writers = !writers.is_empty() || !exporters.is_empty();
    if !has_writers && results.is_none() && !is_saved {
        return Ok(None);
    }
    let (queue, batches) = sync_channel(QUEUE_MAX);
    let thread = std::thread::Builder::new()
        .name("outputs".to_owned())
        .spawn(move || write(&batches, (&mut writers, exporters), &known))
        .map_err(|error| K6Error::other(format!("outputs: {error}")))?;
    let (dropped, stored, held) = (Arc::default(), None, None);
    Ok(Some(Outputs { queue, dropped, thread, results, stored, has_writers, held }))
}

/// Whether a name is that of a file of results.
pub(crate) fn is_results(name: &str) -> bool {
    Format::is_binary(name)
}

/// The format of a file of results of this name.
pub(crate) fn results_format(name: &str) -> Format {
    let arrow = Encoding::Arrow;
    Format::of_path(name, None, arrow).unwrap_or_else(|_| arrow.into())
}

/// Refuses outputs that would replace the script.
///
/// # Errors
/// One would.
pub(crate) fn spare(names: &[String], script: &str) -> Result<(), K6Error> {
    names.iter().filter_map(|name| file_of(name)).try_for_each(|file| {
        let spared = Output::File(file).spares("--out", &[script]);
        spared.map_err(|failed| K6Error::other(failed.to_string()))
    })
}

fn json_place(argument: &str) -> &str {
    if argument.is_empty() { "-" } else { argument }
}

/// The file that an output writes, where it is one of this machine.
fn file_of(name: &str) -> Option<String> {
    let (kind, argument) = name.split_once('=').unwrap_or((name, ""));
    match kind {
        "json" => Some(json_place(argument).to_owned()),
        "csv" => csv::options(argument).ok().map(|(place, _)| place),
        _ if is_results(name) => Some(name.to_owned()),
        _ => None,
    }
}

/// The thread: writes batches until all senders are gone.
fn write(
    batches: &Receiver<SampleBatch>,
    (writers, mut exporters): (&mut [NamedWriter], Exporters),
    known: &TestMetadata,
) -> (Result<(), SampleError>, Vec<Delivered>) {
    let (mut outcome, mut flushed) = (Ok(()), Instant::now());
    loop {
        let batch = match batches.recv_timeout(POLL_EVERY) {
            Ok(batch) => batch,
            Err(RecvTimeoutError::Timeout) => SampleBatch::default(),
            Err(RecvTimeoutError::Disconnected) => break,
        };
        let batch = batch.samples;
        batch.iter().for_each(|point| exporters.add(point, known));
        exporters.poll();
        // After a failure the queue is still emptied, so that no sender waits for room.
        if outcome.is_ok() {
            outcome = batch.iter().try_for_each(|point| {
                let write = |to: &mut NamedWriter| to.write(|writer| writer.point(point, known));
                writers.iter_mut().try_for_each(write)
            });
        }
        if outcome.is_ok() && flushed.elapsed() >= FLUSH_EVERY {
            outcome = writers.iter_mut().try_for_each(|to| to.write(|writer| writer.flush()));
            flushed = Instant::now();
        }
    }
    let finish = |to: &mut NamedWriter| to.write(|writer| writer.finish());
    let written = outcome.and_then(|()| writers.iter_mut().try_for_each(finish));
    (written, exporters.finish())
}

/// How often what was written is handed over. A process that is killed loses the samples of under a second: of this time, of 250 ms
/// in a worker (`EMIT_EVERY` in `script`), and of [`POLL_EVERY`].
const FLUSH_EVERY: Duration = Duration::from_millis(500);
/// How often exporters see whether something is due.
const POLL_EVERY: Duration = Duration::from_millis(100);

/// What is not in the outputs.
pub(crate) struct Losses {
    /// Samples that found no room in the queue.
    pub(crate) samples: u64,
    /// What servers did not take, a line each.
    pub(crate) undelivered: Vec<String>,
}

impl Outputs {
    /// The format of the results.
    pub(crate) fn format(&self) -> Format {
        results_format(self.results.as_deref().unwrap_or_default())
    }

    /// Opens the results, where there are any.
    ///
    /// # Errors
    /// They cannot be written.
    pub(crate) fn open_results(
        &self,
        watching: Option<&MonitorConfig>,
    ) -> Result<Option<ResultsFile>, ExitError> {
        let named = self.results.as_deref().map(|name| Output::named(Some(name)));
        let file = save::open_both(named, self.stored.clone(), self.format(), watching)?;
        Ok(file.map(ResultsFile::with_tags))
    }

    /// What takes samples from crews; `None` where only rows are written.
    pub(crate) fn emit(&self) -> Option<SampleSink> {
        self.has_writers.then(|| self.sink())
    }

    fn sink(&self) -> SampleSink {
        let (queue, dropped) = (self.queue.clone(), Arc::clone(&self.dropped));
        Arc::new(move |samples: Vec<OutputSample>| {
            let (count, mut memory) = (samples.len() as u64, MemoryShare::default());
            let has_room = memory.resize(bytes_of(&samples)).is_ok();
            if !has_room || queue.try_send(SampleBatch { samples, _memory: memory }).is_err() {
                dropped.fetch_add(count, Ordering::Relaxed);
            }
        })
    }

    /// Waits until all is written and sent, including the outcomes of thresholds and checks; gives what was lost.
    ///
    /// # Errors
    /// A place could not be written.
    pub(crate) fn finish(self, assertions: Vec<Assertion>) -> Result<Losses, ExitError> {
        drop(self.queue);
        let stored =
            self.held.map_or(Ok(()), |held| held.finish(assertions).map_err(ExitError::from));
        let written = match self.thread.join() {
            Ok((Ok(()), delivered)) => Ok(Losses {
                samples: self.dropped.load(Ordering::Relaxed),
                undelivered: delivered.iter().filter_map(Delivered::problem).collect(),
            }),
            Ok((Err(SampleError { output, error }), _)) => {
                Err(anyhow!("writing samples to {output}: {}", reason(&error)).into())
            }
            Err(_) => Err(anyhow!("the thread that writes samples panicked").into()),
        };
        stored.and(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::RunFlags;

    fn logger() -> Arc<Logger> {
        Arc::new(Logger::new(&RunFlags::default(), Instant::now()).unwrap())
    }

    /// Letters of tags alone were counted: with a new tag for each sample 416 MB were taken within 128.
    #[test]
    fn issue_42_samples_that_wait_are_counted_whole() {
        let sample = |tags: &Arc<OutputTags>| OutputSample {
            metric: metrics::tally::MetricId::HTTP_REQS,
            at: stdx::Nanos(1),
            value: 1.0,
            tags: Arc::clone(tags),
        };
        let shared: Arc<OutputTags> = Arc::default();
        let together: Vec<_> = (0..100).map(|_| sample(&shared)).collect();
        let together = bytes_of(&together);
        let apart: Vec<_> = (0..100).map(|_| sample(&Arc::default())).collect();
        assert!(together >= 100 * size_of::<OutputSample>());
        assert_eq!(bytes_of(&apart) - together, 99 * size_of::<OutputTags>());
    }

    /// The error named no output, however many there were.
    #[test]
    fn issue_19_an_output_that_cannot_be_written_is_named() {
        for name in ["json=/dev/full", "csv=/dev/full", "csv=fileName=/dev/full"] {
            let names = ["json=/dev/null".to_owned(), name.to_owned()];
            let started = start(&names, (TestMetadata::example(), &logger()), false);
            let Ok(Some(outputs)) = started else { panic!("{name} is not opened") };
            outputs.sink()(vec![OutputSample {
                metric: metrics::tally::MetricId::HTTP_REQS,
                at: stdx::Nanos(1),
                value: 1.0,
                tags: Arc::default(),
            }]);
            let failed = outputs.finish(Vec::new()).err().map(|error| error.to_string());
            let expect = format!("writing samples to {name}: no space left on device");
            assert_eq!(failed, Some(expect));
        }
    }

    #[test]
    fn what_is_no_output_is_refused() {
        let logger = logger();
        for name in ["nope", "influxdb=ftp://x", "cloud"] {
            let names = [name.to_owned()];
            assert_eq!(
                start(&names, (TestMetadata::example(), &logger), false)
                    .err()
                    .map(|refused| refused.code as u8),
                Some(255)
            );
        }
        assert!(is_results("a/results.bin") && !is_results("results"));
    }
}
