//! `Beside`: a watcher on a thread of its own while something else runs; what it sees goes into that run's results. A watcher
//! that hangs or breaks never costs the run's own results.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use metrics::server::{Incident, Row};
use monitor::Watcher;
use results::Observer;

use super::looks::Looks;
use super::meant::unix_ns;
use crate::exit_code::Failed;
use crate::output;

/// How long the last look is waited for. A file system that hangs, or a process that is stuck, would hold it for ever.
const LAST_WITHIN: Duration = Duration::from_secs(5);

/// A watcher at work.
pub(crate) struct Beside {
    /// Gone, it ends the thread.
    stop: SyncSender<()>,
    /// Its other end is gone once the thread has ended.
    done: Receiver<()>,
    thread: JoinHandle<()>,
    observer: Observer,
    host: String,
}

impl Beside {
    /// Starts to look.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub(crate) fn start(
        watcher: Watcher,
        every: Duration,
        observer: Observer,
    ) -> Result<Self, Failed> {
        let ((stop, stopped), (end, done)) = (sync_channel(0), sync_channel::<()>(0));
        let (host, observing) = (watcher.host().to_owned(), observer.clone());
        let work = move || {
            work(Looks::new(watcher, every), &observing, &stopped);
            drop(end);
        };
        let thread = thread::Builder::new().name("watch".to_owned()).spawn(work);
        let thread = thread.map_err(|error| Failed::from(anyhow!("-watch: a thread: {error}")))?;
        Ok(Self { stop, done, thread, observer, host })
    }

    /// Looks for the last time, and waits for it, but not for ever.
    pub(crate) fn finish(self) {
        self.finish_within(LAST_WITHIN);
    }

    fn finish_within(self, limit: Duration) {
        drop(self.stop);
        let broken = match self.done.recv_timeout(limit) {
            Err(RecvTimeoutError::Timeout) => {
                Some("the last look did not end in time: it is left out")
            }
            Ok(()) | Err(RecvTimeoutError::Disconnected) => {
                self.thread.join().err().map(|_| "the watcher broke: the rest was not seen")
            }
        };
        if let Some(what) = broken {
            output::complain(&format!("brunt: -watch: {what}"));
            let (source, what) = ("watch".to_owned(), what.to_owned());
            let (at, host) = (unix_ns(), self.host);
            self.observer.observe(Row::Incident(Incident { at, host, source, what }));
        }
    }
}

fn work(mut looks: Looks, observer: &Observer, stopped: &Receiver<()>) {
    let mut rows = looks.look();
    // What is amiss from the start is a flag's mistake more often than the server's; later ones stand in the report.
    let said = rows.iter().filter_map(super::incident);
    said.for_each(|text| output::complain(&format!("brunt: -watch: {text}")));
    loop {
        rows.drain(..).for_each(|row| observer.observe(row));
        let wait = looks.due.saturating_duration_since(Instant::now());
        if stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
            break;
        }
        rows = looks.look();
    }
    looks.finish().into_iter().for_each(|row| observer.observe(row));
}

#[cfg(test)]
mod tests {
    use metrics::TargetTable;
    use monitor::Settings;
    use results::{Encoding, Sink, StreamInfo};

    use super::*;

    #[test]
    fn a_watcher_that_hangs_is_not_waited_for() {
        // A pipe without a writer where the load averages should be: whoever opens it waits.
        let root = std::env::temp_dir().join(format!("brunt-beside-{}", std::process::id()));
        std::fs::create_dir_all(root.join("proc")).unwrap();
        let pipe = root.join("proc/loadavg");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let settings = Settings { root: root.clone(), host: "h".into(), targets: Vec::new() };
        let watcher = Watcher::new(&settings).unwrap();
        let file = Box::new(std::io::sink());
        let writer = results::writer(Encoding::Arrow, file, &StreamInfo::default()).unwrap();
        let sink = Sink::start(writer, TargetTable::default(), Sink::CAPACITY).unwrap();
        let beside = Beside::start(watcher, Duration::from_secs(1), sink.observer()).unwrap();
        beside.finish_within(Duration::from_millis(50));
        let report = sink.finish();
        assert_eq!((report.observed, report.error.is_none()), (1, true));
        // The thread that waits goes on.
        drop(std::fs::File::options().write(true).open(&pipe).unwrap());
        std::fs::remove_dir_all(root).unwrap();
    }
}
