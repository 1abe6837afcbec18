//! `SamplePlan`: what is counted of users, and where it goes.

use std::sync::Arc;

use metrics::tally::Tally;

use super::live_metrics::LiveMetrics;
use super::output::SampleSink;
use crate::host::sample::TagList;
use crate::host::system_tags::SystemTags;

/// What is counted of users, and where it goes.
#[derive(Clone, Default)]
pub struct SamplePlan {
    /// Empty metrics, with the submetrics that thresholds want.
    pub tally: Tally,
    /// Scenarios and groups are counted on their own as well.
    pub parts: bool,
    /// Tags of all samples.
    pub tags: TagList,
    /// Which of k6's tags to add to samples.
    pub system_tags: SystemTags,
    /// Whether the rows of requests have their tags.
    pub row_tags: bool,
    /// Takes each sample, where there are outputs.
    pub emit: Option<SampleSink>,
    /// Where metrics are published while the test runs.
    pub live: Option<Arc<LiveMetrics>>,
}
