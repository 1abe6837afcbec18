//! `SetupTotals`: what a test has counted before its scenarios start.

use std::time::Duration;

use metrics::tally::Tally;

/// What `setup` has counted, and how long it took: the part of a test before its scenarios.
#[derive(Clone)]
pub(super) struct SetupTotals {
    pub(super) tally: Tally,
    pub(super) elapsed: Duration,
}
