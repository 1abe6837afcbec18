//! `TallyParts`: a tally on its way to another machine: names and values, from which any tally can be made that samples could make.

use serde::{Deserialize, Serialize};

use super::value::{Contains, Value};

/// A tally's names and values.
#[derive(Serialize, Deserialize)]
pub(super) struct TallyParts {
    pub(super) metrics: Vec<MetricParts>,
    /// Group, name, passes and fails of each check.
    pub(super) checks: Vec<(String, String, u64, u64)>,
    pub(super) groups: Vec<String>,
    pub(super) names_left_out: u64,
}

/// A metric, with the selectors of its submetrics.
#[derive(Serialize, Deserialize)]
pub(super) struct MetricParts {
    pub(super) name: String,
    pub(super) contains: Contains,
    pub(super) value: Value,
    pub(super) subs: Vec<(String, Value)>,
}
