//! `Pace`: when a worker begins its hits.

use stdx::Nanos;
use workload::arrival::Cursor;

/// When a worker begins its hits.
#[derive(Debug)]
pub(crate) enum Pace {
    /// By a schedule.
    Open(Open),
    /// A hit as soon as a user is idle.
    Closed {
        idle: u64,
        /// The next hit's number, and the distance to the one after.
        next: u64,
        step: u64,
    },
    /// No more.
    Over,
}

/// A worker's share of a schedule.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) cursor: Cursor,
    /// The most hits of this worker under way at once.
    pub(crate) in_flight_max: usize,
    /// What falls due within this time is sent together; zero for exact pacing.
    pub(crate) tick: Nanos,
}

impl Open {
    /// When the next hit is to be begun: when it is due, or at the tick's end.
    pub(crate) fn next_begin(&self) -> Option<Nanos> {
        let (_, due) = self.cursor.peek()?;
        if self.tick == Nanos::ZERO {
            return Some(due);
        }
        Some(Nanos(due.0.div_ceil(self.tick.0).saturating_mul(self.tick.0)))
    }
}
