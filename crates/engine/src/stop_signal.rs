//! `StopSignal`: how the owner of a run stops its workers, or has them skip what fell due.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use stdx::Nanos;

/// How the owner of a run stops its workers, or has them skip what fell due.
#[derive(Debug, Default)]
pub(crate) struct StopSignal {
    order: AtomicU8,
    /// What fell due before this and was not begun is not sent; ns since the start of the run.
    skipped: AtomicU64,
}

impl StopSignal {
    /// Begin no more hits.
    pub(crate) const DRAIN: u8 = 1;
    /// End now.
    pub(crate) const ABORT: u8 = 2;

    pub(crate) fn request(&self, order: u8) {
        self.order.fetch_max(order, Ordering::Relaxed);
    }

    pub(crate) fn is_requested(&self) -> bool {
        self.current() > 0
    }

    pub(crate) fn current(&self) -> u8 {
        self.order.load(Ordering::Relaxed)
    }

    pub(crate) fn skip(&self, before: Nanos) {
        self.skipped.fetch_max(before.0, Ordering::Relaxed);
    }

    pub(crate) fn skipped(&self) -> Nanos {
        Nanos(self.skipped.load(Ordering::Relaxed))
    }
}
