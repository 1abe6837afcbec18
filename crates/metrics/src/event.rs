//! `Event`: what was done to a run while it went on.

use std::fmt;

/// What was done to a run while it went on, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Unix time in nanoseconds.
    pub at: i64,
    /// What was done.
    pub what: EventKind,
    /// The results it is of, where a report has several; else empty. Results do not record it.
    pub run: String,
}

/// What was done to a run.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// Someone marked the moment, with a text.
    Mark(String),
    /// No requests began any more.
    Pause,
    /// Requests began again.
    Resume,
    /// Another rate, in requests per second.
    Rate(f64),
    /// Another number of users.
    Users(u64),
    /// The run was ended before its time (`-abort-when`), for this reason.
    Ended(String),
}

impl EventKind {
    /// Its name in results and reports.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Mark(_) => "mark",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Rate(_) => "rate",
            Self::Users(_) => "users",
            Self::Ended(_) => "ended",
        }
    }

    /// Whether the load changed.
    #[must_use]
    pub const fn changes_load(&self) -> bool {
        !matches!(self, Self::Mark(_) | Self::Ended(_))
    }
}

/// A mark's text as it was given.
impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mark(text) => f.write_str(text),
            Self::Pause => f.write_str("paused"),
            Self::Resume => f.write_str("resumed"),
            Self::Rate(rate) => write!(f, "rate {rate}/s"),
            Self::Users(users) => write!(f, "users {users}"),
            Self::Ended(reason) => write!(f, "ended early (-abort-when): {reason}"),
        }
    }
}
