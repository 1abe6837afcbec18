//! k6's defaults that several options share.

use stdx::Nanos;

/// k6's limit of an iteration-bound scenario.
pub(super) const MAX_DURATION: Nanos = Nanos::from_secs(600);
/// k6's grace.
pub(super) const GRACE: Nanos = Nanos::from_secs(30);
