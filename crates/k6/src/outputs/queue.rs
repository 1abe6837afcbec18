//! `Outputs`: the queue of samples and the thread that writes them.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use anyhow::anyhow;
use cli::{ExitError, Output, reason};
use metrics::tally::Assertion;
use results::Encoding;
use script::{OutputSample, SampleSink};
use session::{MonitorConfig, OpenResults, ResultsFile, save};

use super::csv::{self, Csv};
use super::json::Json;
use super::writer::{TestMetadata, Writer};
use crate::error::K6Error;

/// Where samples go.
pub(crate) struct Outputs {
    queue: SyncSender<Vec<OutputSample>>,
    dropped: Arc<AtomicU64>,
    thread: JoinHandle<io::Result<()>>,
    /// A file of results besides, for `brunt report`.
    pub(crate) results: Option<String>,
    /// The same file in the store, where the run is saved.
    pub(crate) stored: Option<Output>,
    has_writers: bool,
    /// The same once its hits are written: it waits for the outcomes of thresholds and checks.
    pub(crate) held: Option<OpenResults>,
}

/// Batches of samples that may wait to be written; each has some 500.
const QUEUE_MAX: usize = 4096;

/// Opens the places that flags name.
///
/// # Errors
/// An output is unknown, or cannot be opened.
pub(crate) fn start(
    names: &[String],
    known: TestMetadata,
    is_saved: bool,
) -> Result<Option<Outputs>, K6Error> {
    let mut writers: Vec<Box<dyn Writer>> = Vec::new();
    let mut results = None;
    for name in names {
        let (kind, argument) = name.split_once('=').unwrap_or((name, ""));
        match kind {
            "json" => writers.push(Box::new(Json::new(opened(argument, "-")?))),
            "csv" => {
                let (place, options) = csv::options(argument).map_err(K6Error::other)?;
                writers.push(Box::new(Csv::new(opened(&place, "file.csv")?, &options, &known)));
            }
            kind if KNOWN_TO_K6.contains(&kind) => {
                return Err(K6Error::other(format!(
                    "output '{kind}' is not there yet; there are json, csv and files of results (such as results.bin)"
                )));
            }
            _ if is_results(name) => results = Some(name.clone()),
            kind => {
                return Err(K6Error::other(format!(
                    "invalid output type '{kind}', available types are: csv, json, and files of results (such as results.bin)"
                )));
            }
        }
    }
    if writers.is_empty() && results.is_none() && !is_saved {
        return Ok(None);
    }
    let has_writers = !writers.is_empty();
    let (queue, batches) = sync_channel(QUEUE_MAX);
    let thread = std::thread::Builder::new()
        .name("outputs".to_owned())
        .spawn(move || write(&batches, &mut writers, &known))
        .map_err(|error| K6Error::other(format!("outputs: {error}")))?;
    let (dropped, stored, held) = (Arc::default(), None, None);
    Ok(Some(Outputs { queue, dropped, thread, results, stored, has_writers, held }))
}

/// k6's outputs that we have not.
const KNOWN_TO_K6: [&str; 8] = [
    "cloud",
    "influxdb",
    "experimental-prometheus-rw",
    "experimental-opentelemetry",
    "opentelemetry",
    "web-dashboard",
    "statsd",
    "summary",
];

/// Whether a name is that of a file of results.
pub(crate) fn is_results(name: &str) -> bool {
    let ending = std::path::Path::new(name).extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ["bin", "arrow", "parquet", "gob", "arrows"].contains(&ending))
}

/// Opens a file, compressed where its name ends so, or standard output.
fn opened(name: &str, default: &str) -> Result<Box<dyn Write + Send>, K6Error> {
    let name = if name.is_empty() { default } else { name };
    if name == "-" {
        return Ok(Box::new(BufWriter::new(io::stdout())));
    }
    let file = File::create(name)
        .map_err(|error| K6Error::other(format!("open {name}: {}", reason(&error))))?;
    let file = BufWriter::new(file);
    if std::path::Path::new(name).extension().is_some_and(|ending| ending == "gz") {
        return Ok(Box::new(Gzip(flate2::write::GzEncoder::new(
            file,
            flate2::Compression::default(),
        ))));
    }
    Ok(Box::new(file))
}

/// A compressed file that is whole once it is dropped or flushed for the last time.
struct Gzip(flate2::write::GzEncoder<BufWriter<File>>);

impl Write for Gzip {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.try_finish()?;
        self.0.get_mut().flush()
    }
}

/// The thread: writes batches until all senders are gone.
fn write(
    batches: &Receiver<Vec<OutputSample>>,
    writers: &mut [Box<dyn Writer>],
    known: &TestMetadata,
) -> io::Result<()> {
    let mut outcome = Ok(());
    for batch in batches {
        // After a failure the queue is still emptied, so that no sender waits for room.
        if outcome.is_ok() {
            outcome = batch.iter().try_for_each(|point| {
                writers.iter_mut().try_for_each(|writer| writer.point(point, known))
            });
        }
    }
    outcome.and_then(|()| writers.iter_mut().try_for_each(|writer| writer.finish()))
}

impl Outputs {
    /// The format of the results.
    pub(crate) fn encoding(&self) -> Encoding {
        self.results.as_deref().and_then(Encoding::from_path).unwrap_or(Encoding::Arrow)
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
        save::open_both(named, self.stored.clone(), self.encoding(), watching)
    }

    /// What takes samples from crews; `None` where only rows are written.
    pub(crate) fn emit(&self) -> Option<SampleSink> {
        self.has_writers.then(|| self.sink())
    }

    fn sink(&self) -> SampleSink {
        let (queue, dropped) = (self.queue.clone(), Arc::clone(&self.dropped));
        Arc::new(move |batch: Vec<OutputSample>| {
            if let Err(refused) = queue.try_send(batch) {
                let (std::sync::mpsc::TrySendError::Full(batch)
                | std::sync::mpsc::TrySendError::Disconnected(batch)) = refused;
                dropped.fetch_add(batch.len() as u64, Ordering::Relaxed);
            }
        })
    }

    /// Waits until all is written, including the outcomes of thresholds and checks; gives how many samples found no room.
    ///
    /// # Errors
    /// A place could not be written.
    pub(crate) fn finish(self, assertions: Vec<Assertion>) -> Result<u64, ExitError> {
        drop(self.queue);
        let stored =
            self.held.map_or(Ok(()), |held| held.finish(assertions).map_err(ExitError::from));
        let written = match self.thread.join() {
            Ok(Ok(())) => Ok(self.dropped.load(Ordering::Relaxed)),
            Ok(Err(error)) => Err(anyhow!("writing samples: {}", reason(&error)).into()),
            Err(_) => Err(anyhow!("the thread that writes samples panicked").into()),
        };
        stored.and(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_output_is_refused() {
        for name in ["nope", "influxdb=http://x", "cloud"] {
            let names = [name.to_owned()];
            assert_eq!(
                start(&names, TestMetadata::example(), false)
                    .err()
                    .map(|refused| refused.code as u8),
                Some(255)
            );
        }
        assert!(is_results("a/results.bin") && !is_results("results"));
    }
}
