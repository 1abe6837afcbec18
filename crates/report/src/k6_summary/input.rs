//! `K6Input`: what a summary is made of.

use metrics::tally::{Tally, ThresholdOutcome};
use stdx::Nanos;

/// What a summary is made of.
#[derive(Clone, Copy, Debug)]
pub struct K6Input<'a> {
    /// The metrics.
    pub tally: &'a Tally,
    /// How long the test took; rates are over it.
    pub elapsed: Nanos,
    /// The statistics of trends: `avg`, `p(95)`.
    pub trend_stats: &'a [String],
    /// The thresholds' outcomes, in the order of their metrics.
    pub thresholds: &'a [ThresholdOutcome],
    /// The metrics and submetrics that thresholds name, also with an empty list: they are shown even without samples.
    pub named: &'a [String],
    /// The unit of times: `s`, `ms` or `us`; `None` for the one that suits each.
    pub time_unit: Option<&'a str>,
    /// Colours for a terminal.
    pub colored: bool,
    /// Samples have k6's tag `group`: without it no check is listed among the groups.
    pub grouped: bool,
    /// The metrics of scenarios and groups, for k6's full summary; a group follows the one around it.
    pub parts: Option<&'a [K6Part]>,
}

impl K6Input<'_> {
    /// Whether thresholds name a metric, or a part of it.
    pub(super) fn names(&self, metric: &str) -> bool {
        self.named.iter().any(|name| base(name) == metric)
    }
}

/// A metric's name without its selector.
pub(super) fn base(metric: &str) -> &str {
    metric.split('{').next().unwrap_or_default()
}

/// What a scenario did, or a group of it.
#[derive(Clone, Debug, PartialEq)]
pub struct K6Part {
    /// The scenario; empty for groups of none.
    pub scenario: String,
    /// The group, `::outer::inner`; empty for all of the scenario.
    pub group: String,
    /// Its metrics.
    pub tally: Tally,
}
