//! A worker's share of a whole that is dealt out evenly.

/// A worker's share of a whole that is dealt out evenly.
pub(crate) fn share(total: u64, worker: u64, workers: u64) -> u64 {
    total / workers + u64::from(worker < total % workers)
}
