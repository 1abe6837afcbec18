//! The server's side: its machine, processes, containers, metrics endpoints and logs, as rows of [`metrics::server`].
//!
//! ```text
//! /proc, /sys ──▶ machine, process, cgroup ──┐
//! endpoint ──▶ a thread each: fetch, scrape ─┼──▶ Watcher::look, once a second ──▶ Vec<Row>
//! log ──▶ tail ──▶ log::Parser ──────────────┘
//! ```
//!
//! Texts are taken apart by pure functions; a thin layer reads them below a root folder, so that tests bring their own
//! `/proc`. Counters become flows between two looks. Everything is bounded, and what is left out is told as an incident.
//!
//! It never touches the load path: whoever watches does so on a thread of its own, or on another machine. [`Watcher::look`]
//! is handed the time; only the limit of an answer over the network is measured here.

mod cgroup;
mod clock;
mod counter_rate;
mod error;
mod fetch;
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
pub use watcher::{Log, Settings, Target, Watcher};

use stdx::Nanos;

/// When a look is taken, on both clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Unix time in nanoseconds: what rows carry. It may jump.
    pub unix: i64,
    /// Time since any fixed moment, which does not jump: what flows are measured by.
    pub steady: Nanos,
}
