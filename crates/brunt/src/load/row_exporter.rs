//! `RowExporter`: the rows of an attack as samples of k6's metrics, for the outputs of `-o`. A thread makes them, so that the run
//! only copies its rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::anyhow;
use cli::ExitError;
use metrics::tally::{BUILTIN, Contains, Kind, MetricId};
use metrics::{Batch, Outcome, Sample as Row, TargetTable};
use outputs::{Delivered, Environment, Exporter, Sample};
use session::{Observer, ObserverError};
use stdx::Nanos;

/// Batches of rows that may wait.
const QUEUE_MAX: usize = 64;
/// How often exporters see whether something is due.
const POLL_EVERY: Duration = Duration::from_millis(100);
/// The time from when a request was due to its end. k6 has no such metric.
const RESPONSE_TIME: (&str, Kind, Contains) =
    ("http_req_response_time", Kind::Trend, Contains::Time);

/// The outputs of a run's rows.
pub(super) struct RowExporter {
    queue: SyncSender<Batch>,
    /// Rows that found no room in the queue.
    dropped: Arc<AtomicU64>,
    thread: JoinHandle<Vec<Delivered>>,
}

impl RowExporter {
    /// Opens the outputs; `None` where there are none. `targets` name the targets of the rows.
    pub(super) fn start(names: &[String], targets: TargetTable) -> Result<Option<Self>, ExitError> {
        if names.is_empty() {
            return Ok(None);
        }
        let environment = Environment::of_process();
        let mut exporters = Vec::new();
        for name in names {
            let opened = outputs::open(name, &environment, session::warn)
                .expect("the flag takes none but outputs");
            let shown = stdx::shown_text(name);
            exporters.push(opened.map_err(|error| anyhow!("flag -o: {shown}: {error}"))?);
        }
        let (queue, batches) = sync_channel(QUEUE_MAX);
        let thread = std::thread::Builder::new()
            .name("outputs".to_owned())
            .spawn(move || export(&batches, exporters, &targets))
            .map_err(|error| anyhow!("outputs: {error}"))?;
        Ok(Some(Self { queue, dropped: Arc::default(), thread }))
    }

    /// Waits until all is sent, and says what was not.
    pub(super) fn finish(self) {
        drop(self.queue);
        let dropped = self.dropped.load(Ordering::Relaxed);
        if dropped > 0 {
            let rows = stdx::counted(dropped, "request");
            session::warn(&format!(
                "{rows} not in the outputs: they came faster than they could be added up"
            ));
        }
        match self.thread.join() {
            Ok(delivered) => {
                delivered
                    .iter()
                    .filter_map(Delivered::problem)
                    .for_each(|line| session::warn(&line));
            }
            Err(_) => session::warn("the thread of the outputs panicked"),
        }
    }
}

impl Observer for RowExporter {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        // The run must not wait for its outputs.
        if self.queue.try_send(batch.clone()).is_err() {
            self.dropped.fetch_add(batch.samples.len() as u64, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// The thread: adds rows to all outputs until the run is over.
fn export(
    batches: &Receiver<Batch>,
    mut exporters: Vec<Exporter>,
    targets: &TargetTable,
) -> Vec<Delivered> {
    loop {
        match batches.recv_timeout(POLL_EVERY) {
            Ok(batch) => {
                for row in &batch.samples {
                    add(&mut exporters, (&batch, row), targets);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        exporters.iter_mut().for_each(Exporter::poll);
    }
    Exporter::finish_all(exporters)
}

/// Adds the samples of a row.
fn add(exporters: &mut [Exporter], (batch, row): (&Batch, &Row), targets: &TargetTable) {
    let tags = tags(batch, row, targets);
    let unix_ns = batch.epoch.saturating_add(i64::try_from(row.done.0).unwrap_or(i64::MAX));
    for (metric, value) in samples(row) {
        let known = BUILTIN.get(metric.0 as usize);
        let (name, kind, contains) = *known.unwrap_or(&RESPONSE_TIME);
        let sample =
            Sample { metric, name, kind, contains, unix_ns, value, tags: &tags, metadata: &[] };
        exporters.iter_mut().for_each(|exporter| exporter.add(&sample));
    }
}

/// What k6 would have measured of this request. Its `http_req_duration` is our service time; times are in milliseconds.
fn samples(row: &Row) -> [(MetricId, f64); 11] {
    let ms = |time: Nanos| time.as_secs_f64() * 1e3;
    [
        (MetricId::HTTP_REQS, 1.0),
        (MetricId::HTTP_REQ_FAILED, f64::from(u8::from(!row.is_success()))),
        (MetricId::HTTP_REQ_DURATION, ms(row.service())),
        (MetricId(BUILTIN.len() as u32), ms(row.response())),
        (MetricId::HTTP_REQ_WAITING, ms(row.first_byte.saturating_sub(row.sent))),
        (MetricId::HTTP_REQ_RECEIVING, ms(row.done.saturating_sub(row.first_byte))),
        // What else lies before a request was sent is the generator's own lag as well, of which a row has no part of its own.
        (MetricId::HTTP_REQ_BLOCKED, ms(row.dns)),
        (MetricId::HTTP_REQ_CONNECTING, ms(row.dial)),
        (MetricId::HTTP_REQ_TLS_HANDSHAKING, ms(row.tls)),
        (MetricId::DATA_SENT, row.bytes_out as f64),
        (MetricId::DATA_RECEIVED, row.wire_in as f64),
    ]
}

/// k6's tags of a request, sorted by name; of one on a fleet also its agent.
fn tags(batch: &Batch, row: &Row, targets: &TargetTable) -> Vec<(String, String)> {
    let text = |span| String::from_utf8_lossy(batch.text(span)).into_owned();
    let line = text(row.line);
    let (method, url, name) = match targets.get(row.target) {
        Some(label) => (label.method, label.url, label.name),
        None => {
            let (method, url) = line.split_once(' ').unwrap_or((&line, ""));
            (method, url, "")
        }
    };
    let url = stdx::shown_url(url);
    let name = if name.is_empty() { &*url } else { name };
    let tag = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut tags = Vec::with_capacity(7);
    if row.agent > 0 {
        tags.push(tag("agent", &row.agent.to_string()));
    }
    if row.error.len > 0 {
        tags.push(tag("error", &text(row.error)));
    }
    tags.push(tag("expected_response", if row.is_success() { "true" } else { "false" }));
    tags.push(tag("method", method));
    tags.push(tag("name", name));
    tags.push(tag("status", &status(row.outcome)));
    tags.push(tag("url", &url));
    tags
}

/// k6 has the number of a gRPC status, too.
fn status(outcome: Outcome) -> String {
    match outcome {
        Outcome::Grpc(status) => status.number().to_string(),
        outcome => outcome.code().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use metrics::TargetLabel;

    use super::*;

    #[test]
    fn a_row_has_k6s_tags_and_times() {
        let label = TargetLabel {
            method: "GET".to_owned(),
            url: "http://u:secret@h/a".to_owned(),
            ..TargetLabel::default()
        };
        let targets = TargetTable::from(vec![label]);
        let row = Row {
            intended: Nanos::from_millis(1),
            sent: Nanos::from_millis(4),
            first_byte: Nanos::from_millis(9),
            done: Nanos::from_millis(11),
            dns: Nanos::from_micros(500),
            dial: Nanos::from_millis(2),
            outcome: Outcome::Http(200),
            ..Row::default()
        };
        let tags = tags(&Batch::default(), &row, &targets);
        assert!(
            tags.is_sorted() && tags.contains(&("name".to_owned(), "http://u:***@h/a".to_owned()))
        );
        let of = |metric| samples(&row).into_iter().find(|(id, _)| *id == metric).unwrap().1;
        // Issue 41: the generator's lag, here 0.5 ms, is no part of it.
        assert_eq!((of(MetricId::HTTP_REQ_DURATION), of(MetricId::HTTP_REQ_BLOCKED)), (7.0, 0.5));
        assert_eq!(of(MetricId(BUILTIN.len() as u32)), 10.0);
    }
}
