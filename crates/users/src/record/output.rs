//! Samples for outputs.

use std::sync::Arc;

use crate::host::sample::TagList;
use metrics::tally::MetricId;
use stdx::Nanos;

/// A sample for an output.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputSample {
    /// The metric.
    pub metric: MetricId,
    /// When, on [`Clock`](crate::pool::plan::Clock).
    pub at: Nanos,
    /// The value.
    pub value: f64,
    /// Its tags; samples of one request share theirs.
    pub tags: Arc<OutputTags>,
}

/// The tags of a [`OutputSample`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputTags {
    /// Names and values, sorted by name.
    pub tags: TagList,
    /// What is not indexed, sorted by name.
    pub metadata: TagList,
}

/// Takes samples for outputs; never waits. What it has no room for it counts.
pub type SampleSink = Arc<dyn Fn(Vec<OutputSample>) + Send + Sync>;
