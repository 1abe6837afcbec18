//! The wall clock, which stamps rows that come from outside of the run.

use std::time::SystemTime;

/// Unix time in nanoseconds. A clock before 1970 reads as 1970.
#[must_use]
pub fn unix_ns() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
