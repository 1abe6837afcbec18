//! `StopSignal`: how the owner of a run stops its workers.

use std::sync::atomic::{AtomicU8, Ordering};

/// How the owner of a run stops its workers.
#[derive(Debug, Default)]
pub(crate) struct StopSignal(AtomicU8);

impl StopSignal {
    /// Begin no more hits.
    pub(crate) const DRAIN: u8 = 1;
    /// End now.
    pub(crate) const ABORT: u8 = 2;

    pub(crate) fn request(&self, order: u8) {
        self.0.fetch_max(order, Ordering::Relaxed);
    }

    pub(crate) fn is_requested(&self) -> bool {
        self.current() > 0
    }

    pub(crate) fn current(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }
}
