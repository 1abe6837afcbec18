//! `Run`: a plan under way on its worker threads.

use std::time::Duration;

use metrics::{Batch, Generator, Snapshot};
use thiserror::Error;
use workload::{Plan, Target};

use crate::Settings;

/// A plan under way on its worker threads.
#[derive(Debug)]
pub struct Run {}

/// What a run tells while it goes on.
#[derive(Debug)]
pub enum RunEvent {
    /// Rows of finished hits, in order of completion within one worker. Give the batch back with [`Run::recycle`].
    Rows(Batch),
    /// What all workers saw since the last one, once a second.
    Progress(Box<Snapshot>),
    /// Every worker ended; nothing follows. The generator's last word.
    Finished(Box<Generator>),
}

/// Why a run could not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// A certificate or key given is no good.
    #[error("{flag}: {reason}")]
    Certificate {
        /// The flag that gave it.
        flag: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A proxy's address is no URL.
    #[error("proxy \"{0}\" is not a URL (expected http://host:port)")]
    Proxy(String),
    /// The machine refused a thread, a poller or a timer.
    #[error("starting a worker: {0}")]
    Worker(#[from] std::io::Error),
}

impl Run {
    /// Starts the workers. `epoch`, the Unix time of the run's start, is taken here. With `lazy`, targets come from
    /// that iterator, each used once in order, until it ends (`Plan::targets` is then empty).
    ///
    /// # Errors
    /// The settings cannot be used, or the machine refuses; nothing was sent.
    pub fn start(
        plan: Plan,
        settings: &Settings,
        lazy: Option<LazyTargets>,
    ) -> Result<Self, StartError> {
        let _ = (plan, settings, lazy);
        todo!()
    }

    /// Unix time of the run's start, in nanoseconds.
    pub fn epoch(&self) -> i64 {
        todo!()
    }

    /// The next event; `None` when `timeout` passed without one.
    pub fn next_event(&self, timeout: Duration) -> Option<RunEvent> {
        let _ = timeout;
        todo!()
    }

    /// Gives an emptied batch back to the workers.
    pub fn recycle(&self, batch: Batch) {
        let _ = batch;
        todo!()
    }

    /// Begins no more hits; waits for those under way (first SIGINT). Safe to call from any thread, any number of times.
    pub fn drain(&self) {
        todo!()
    }

    /// Ends now; what is under way is counted as stopped (second SIGINT).
    pub fn abort(&self) {
        todo!()
    }
}

/// Targets that come one by one (`-lazy`). It runs on a thread of its own and may block; an error ends the attack and
/// is reported by [`Run`]'s user, who made the iterator.
pub type LazyTargets = Box<dyn Iterator<Item = Target> + Send>;
