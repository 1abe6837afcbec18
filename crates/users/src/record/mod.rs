//! What is counted of users: samples with their tags, for the tally, for scenarios and groups, for outputs.

pub(crate) mod interner;
pub(crate) mod live_metrics;
pub(crate) mod output;
pub(crate) mod plan;
pub(crate) mod recorder;
pub(crate) mod summary_groups;
pub(crate) mod vu_stats;
