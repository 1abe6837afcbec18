//! `MonitorSidecar`: watches the server on a thread of its own while a run goes on; its rows go into the run's results, and their
//! figures into its closing report. A monitor that hangs or breaks never costs the run's own results.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use metrics::server::{Incident, Row, Side};
use results::Observer;

use crate::clock::unix_ns;
use crate::monitor_config::Monitor;
use crate::ticker::SampleTicker;
use crate::warning::warn;

/// How long the last sample is waited for. A file system that hangs, or a process that is stuck, would hold it for ever.
const LAST_WITHIN: Duration = Duration::from_secs(5);

/// A monitor at work.
pub(crate) struct MonitorSidecar {
    /// Gone, it ends the thread.
    stop: SyncSender<()>,
    /// Its other end is gone once the thread has ended.
    done: Receiver<()>,
    thread: JoinHandle<Side>,
    observer: Observer,
    host: String,
    recent: Recent,
}

/// Rows that observers of the run have not seen yet, and how many found no room.
#[derive(Clone, Debug, Default)]
struct Recent(Arc<Mutex<(Vec<Row>, u64)>>);

/// Rows that wait for observers at most; what the results take is bounded by itself.
const RECENT_MAX: usize = 10_000;

impl Recent {
    fn push(&self, row: &Row) {
        let (rows, left_out) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if rows.len() < RECENT_MAX {
            rows.push(row.clone());
        } else {
            *left_out += 1;
        }
    }

    fn take(&self) -> Vec<Row> {
        let mut recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut rows, left_out) = std::mem::take(&mut *recent);
        if left_out > 0 {
            let (source, host) = ("live page".to_owned(), String::new());
            let left_out = stdx::counted(left_out, "row");
            let what = format!("{left_out} came too fast to be shown; the results have them");
            rows.push(Row::Incident(Incident { at: unix_ns(), host, source, what }));
        }
        rows
    }
}

/// Warns of the monitor.
fn warn_monitor(text: &str) {
    warn(&format!("-watch: {text}"));
}

impl MonitorSidecar {
    /// Starts to take samples.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub(crate) fn start(monitor: Monitor, observer: Observer) -> io::Result<Self> {
        let Monitor { watcher, every } = monitor;
        let ((stop, stopped), (end, done)) = (sync_channel(0), sync_channel::<()>(0));
        let (host, observing) = (watcher.host().to_owned(), observer.clone());
        let recent = Recent::default();
        let places = (observing, recent.clone());
        let work = move || {
            let side = sample(SampleTicker::new(watcher, every), &places, &stopped);
            drop(end);
            side
        };
        let thread = thread::Builder::new().name("watch".to_owned()).spawn(work)?;
        Ok(Self { stop, done, thread, observer, host, recent })
    }

    /// The rows since the last call.
    pub(crate) fn recent(&self) -> Vec<Row> {
        self.recent.take()
    }

    /// Takes the last sample and waits for it, [`LAST_WITHIN`] at most. The figures of all samples; none where the monitor broke.
    pub(crate) fn finish(self) -> Side {
        self.finish_within(LAST_WITHIN)
    }

    fn finish_within(self, limit: Duration) -> Side {
        drop(self.stop);
        let seen = match self.done.recv_timeout(limit) {
            Err(RecvTimeoutError::Timeout) => {
                Err("the last look did not end in time: it is left out")
            }
            Ok(()) | Err(RecvTimeoutError::Disconnected) => {
                self.thread.join().map_err(|_| "the watcher broke: the rest was not seen")
            }
        };
        seen.unwrap_or_else(|what| {
            warn_monitor(what);
            let (source, what) = ("watch".to_owned(), what.to_owned());
            let (at, host) = (unix_ns(), self.host);
            let row = Row::Incident(Incident { at, host, source, what });
            let mut side = Side::new();
            side.add(&row);
            self.observer.observe(row);
            side
        })
    }
}

/// Hands samples to the results and to observers until `stopped` is closed. Their figures.
fn sample(
    mut ticker: SampleTicker,
    (observer, recent): &(Observer, Recent),
    stopped: &Receiver<()>,
) -> Side {
    let mut side = Side::new();
    let mut observe = |row: Row| {
        side.add(&row);
        recent.push(&row);
        observer.observe(row);
    };
    let mut rows = ticker.sample();
    // Incidents of the first sample come from a wrong flag more often than from the server, so they are printed at once; later
    // incidents stand in the report.
    rows.iter().filter_map(incident_line).for_each(|text| warn_monitor(&text));
    loop {
        rows.drain(..).for_each(&mut observe);
        let wait = ticker.due.saturating_duration_since(Instant::now());
        if stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
            break;
        }
        rows = ticker.sample();
    }
    ticker.finish().into_iter().for_each(observe);
    side
}

/// An incident as a line; `None` for other rows, and for the difference of clocks, which is reported on its own.
#[must_use]
pub fn incident_line(row: &Row) -> Option<String> {
    let Row::Incident(Incident { source, what, .. }) = row else { return None };
    (!source.starts_with("clock ")).then(|| format!("{source}: {what}"))
}

#[cfg(test)]
mod tests {
    use metrics::TargetTable;
    use monitor::{Settings, Watcher};
    use results::{Encoding, Sink, StreamInfo};

    use super::*;

    #[test]
    fn rows_that_are_not_shown_are_counted() {
        let (recent, row) = (Recent::default(), Row::Incident(Incident::default()));
        (0..RECENT_MAX + 7).for_each(|_| recent.push(&row));
        let rows = recent.take();
        assert_eq!(rows.len(), RECENT_MAX + 1);
        let Some(Row::Incident(last)) = rows.last() else { panic!("an incident") };
        assert_eq!(last.what, "7 rows came too fast to be shown; the results have them");
        assert!(recent.take().is_empty());
    }

    #[test]
    fn a_monitor_that_hangs_is_not_waited_for() {
        // A pipe without a writer where the load averages should be: opening it waits.
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().join("beside");
        std::fs::create_dir_all(root.join("proc")).unwrap();
        let pipe = root.join("proc/loadavg");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let settings = Settings { root: root.clone(), host: "h".into(), targets: Vec::new() };
        let watcher = Watcher::new(&settings).unwrap();
        let file = Box::new(std::io::sink());
        let writer = results::writer(Encoding::Arrow, file, &StreamInfo::default()).unwrap();
        let sink = Sink::start(writer, TargetTable::default(), Sink::CAPACITY).unwrap();
        let monitor = Monitor { watcher, every: Duration::from_secs(1) };
        let sidecar = MonitorSidecar::start(monitor, sink.observer()).unwrap();
        let side = sidecar.finish_within(Duration::from_millis(50));
        assert_eq!(side.incidents().len(), 1, "the figures have the reason and nothing else");
        let report = sink.finish();
        assert_eq!((report.observed, report.error.is_none()), (1, true));
        // The thread that waits goes on.
        drop(std::fs::File::options().write(true).open(&pipe).unwrap());
        std::fs::remove_dir_all(root).unwrap();
    }
}
