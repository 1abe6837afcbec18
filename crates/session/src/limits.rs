//! Limits of a run.

/// Worker threads, at most.
pub const WORKERS_MAX: u64 = 1024;
