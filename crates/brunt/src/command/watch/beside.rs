//! `Beside`: a watcher on a thread of its own while something else runs; what it sees goes into that run's results.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use monitor::Watcher;
use results::Observer;

use super::meant::moment;
use crate::exit_code::Failed;

/// A watcher at work.
pub(crate) struct Beside {
    /// Gone, it ends the thread.
    stop: SyncSender<()>,
    thread: JoinHandle<()>,
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
        let (stop, stopped) = sync_channel(0);
        let work = move || work(watcher, every, &observer, &stopped);
        let thread = thread::Builder::new().name("watch".to_owned()).spawn(work);
        let thread = thread.map_err(|error| Failed::from(anyhow!("-watch: a thread: {error}")))?;
        Ok(Self { stop, thread })
    }

    /// Looks for the last time, and waits for it.
    pub(crate) fn finish(self) {
        drop(self.stop);
        // Its panic was printed where it happened; what it saw before is kept.
        self.thread.join().ok();
    }
}

fn work(mut watcher: Watcher, every: Duration, observer: &Observer, stopped: &Receiver<()>) {
    let started = Instant::now();
    let mut due = started;
    loop {
        watcher.look(moment(started)).into_iter().for_each(|row| observer.observe(row));
        due = next(due, every, Instant::now());
        let wait = due.saturating_duration_since(Instant::now());
        if stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    watcher.look(moment(started)).into_iter().for_each(|row| observer.observe(row));
    watcher.finish(moment(started)).into_iter().for_each(|row| observer.observe(row));
}

/// When the next look is due: on the beat, and where looks were missed, at the next beat that is not past.
pub(crate) fn next(due: Instant, every: Duration, now: Instant) -> Instant {
    let late = now.saturating_duration_since(due).as_nanos();
    let missed = late / every.as_nanos().max(1);
    // Beyond 2^32 beats at once the machine slept, and the beat may begin anew.
    u32::try_from(missed + 1).ok().and_then(|beats| due.checked_add(every * beats)).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beat_is_kept_and_never_caught_up() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let second = Duration::from_secs(1);
        for (due, now, expected) in
            [(0, 3, 1000), (1000, 1000, 2000), (1000, 2500, 3000), (1000, 900, 2000)]
        {
            assert_eq!(next(at(due), second, at(now)), at(expected), "{due} {now}");
        }
    }
}
