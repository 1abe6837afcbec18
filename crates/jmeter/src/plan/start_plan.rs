//! `StartPlan`: when the threads of a group begin and end.

use std::sync::Arc;

/// When a group's threads begin and end, in milliseconds after the group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StartPlan {
    /// A ramp: the group's delay, the ramp's length, how long the threads go on, and whether threads are made when they are due.
    Ramp { delay_ms: u64, ramp_ms: u64, duration_ms: Option<u64>, is_delayed: bool },
    /// Each thread at its own moments: its start, and its end where it has one.
    Moments(Arc<[(u64, Option<u64>)]>),
    /// A thread for each arrival, as soon as one of the group's users is free for it.
    Arrivals(Arc<[u64]>),
    /// None begins: the element says something impossible, which is written to the log.
    Never(String),
}

/// Threads of a group at most: what is more is a mistake in a plan.
pub(crate) const THREADS_MAX: u64 = 1_000_000;
