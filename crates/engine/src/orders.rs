//! `Orders`: what the owner of a run has its workers do while it goes on.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use stdx::Nanos;

use crate::load_change::LoadChanges;

/// What the owner of a run has its workers do: stop, skip what fell due, or offer another load.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    stop: AtomicU8,
    /// What fell due before this and was not begun is not sent; ns since the start of the run.
    skipped: AtomicU64,
    /// When the first order to stop was given; ns since the start of the run, 0 for not at all.
    stopped: AtomicU64,
    /// The changes of the load.
    pub(crate) load: LoadChanges,
}

impl Orders {
    /// Begin no more hits.
    pub(crate) const DRAIN: u8 = 1;
    /// End now.
    pub(crate) const ABORT: u8 = 2;

    /// Has workers stop, from this moment on.
    pub(crate) fn request_stop(&self, order: u8, now: Nanos) {
        let at = now.0.max(1);
        self.stopped.compare_exchange(0, at, Ordering::Relaxed, Ordering::Relaxed).ok();
        self.stop.fetch_max(order, Ordering::Relaxed);
    }

    /// When the first order to stop was given; [`Nanos::MAX`] where none was.
    pub(crate) fn stopped(&self) -> Nanos {
        match self.stopped.load(Ordering::Relaxed) {
            0 => Nanos::MAX,
            at => Nanos(at),
        }
    }

    pub(crate) fn is_stop_requested(&self) -> bool {
        self.stop() > 0
    }

    pub(crate) fn stop(&self) -> u8 {
        self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn skip(&self, before: Nanos) {
        self.skipped.fetch_max(before.0, Ordering::Relaxed);
    }

    pub(crate) fn skipped(&self) -> Nanos {
        Nanos(self.skipped.load(Ordering::Relaxed))
    }
}
