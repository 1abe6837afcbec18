//! `Snapshot`: what was seen in a stretch of time; moved from a core to the collector and merged there.

use stdx::Nanos;

use crate::{FailureKind, Generator, Histogram};

/// Status codes counted one by one; others are counted as 0.
pub const STATUS_MAX: usize = 1000;

/// What was seen in a stretch of time. Snapshots of several cores or stretches merge without loss.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Begin of the stretch, from the run's start.
    pub from: Nanos,
    /// End of the stretch.
    pub to: Nanos,
    /// Response times of hits that ended in it.
    pub response: Histogram,
    /// Service times of the same.
    pub service: Histogram,
    /// Hits ended, by status; index 0 counts the failed.
    pub statuses: Box<[u64; STATUS_MAX]>,
    /// Hits failed, by [`FailureKind`].
    pub failures: [u64; FailureKind::ALL.len()],
    /// Hits ended with success (status 200..400).
    pub successes: u64,
    /// Hits begun and not ended at the stretch's end.
    pub in_flight: u64,
    /// Request body bytes.
    pub bytes_out: u64,
    /// Response body bytes, decoded.
    pub bytes_in: u64,
    /// Response bytes on the wire.
    pub wire_in: u64,
    /// The generator's view of itself, from the run's start (not of the stretch alone).
    pub generator: Generator,
}
