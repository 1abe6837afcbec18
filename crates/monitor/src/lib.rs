//! The server's side: its machine, processes, containers, metrics endpoints and logs, as rows of [`metrics::server`].
//!
//! ```text
//! /proc, /sys ──▶ machine, process, cgroup ──┐
//! endpoint ──▶ a thread each: fetch, scrape ─┼──▶ Watcher::sample, once a second ──▶ Vec<Row>
//! log ──▶ tail ──▶ log::Parser ──────────────┘
//! ```
//!
//! Pure functions parse texts; a thin layer reads them below a root folder, so that tests bring their own `/proc`. Counters
//! become rates between two samples. Everything is bounded, and what exceeds a bound is reported as an incident.
//!
//! It never touches the load path: its caller runs it on a thread of its own, or on another machine. [`Watcher::sample`] is
//! handed the time; only the timeout of a network response is measured here.

mod cgroup;
mod clock;
mod counter_rate;
mod error;
mod fetch;
mod followed_groups;
mod kernel_file;
pub mod log;
mod machine;
mod process;
mod rows;
mod scrape;
mod tail;
mod watcher;

pub use clock::{ClockOffset, http_date};
pub use error::{FetchError, WatchError};
pub use fetch::{Client, FetchResponse};
pub use process::{Neighbour, Neighbours};
pub use watcher::{Log, Settings, Target, Watcher};

use stdx::Nanos;

/// The time of a sample, on both clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Unix time in nanoseconds: what rows carry. It may jump.
    pub unix: i64,
    /// Time since any fixed moment, which does not jump: what flows are measured by.
    pub steady: Nanos,
}
