//! `Beside`: a watcher on a thread of its own while something else runs; what it sees goes into that run's results.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use monitor::Watcher;
use results::Observer;

use super::looks::Looks;
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
        let work = move || work(Looks::new(watcher, every), &observer, &stopped);
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

fn work(mut looks: Looks, observer: &Observer, stopped: &Receiver<()>) {
    loop {
        looks.look().into_iter().for_each(|row| observer.observe(row));
        let wait = looks.due.saturating_duration_since(Instant::now());
        if stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    looks.finish().into_iter().for_each(|row| observer.observe(row));
}
