//! `Sample`: one value of a metric.

use metrics::tally::{Contains, Kind, MetricId};

/// One value of a metric, with what the metric is.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The metric's number, the same for all its samples.
    pub metric: MetricId,
    /// Its name.
    pub name: &'a str,
    /// Its type.
    pub kind: Kind,
    /// What its values are: times are in milliseconds, sizes in bytes.
    pub contains: Contains,
    /// When, as Unix time in nanoseconds.
    pub unix_ns: i64,
    /// The value.
    pub value: f64,
    /// Names and values of tags, sorted by name.
    pub tags: &'a [(String, String)],
    /// What is not indexed (`vu`, `iter`), sorted by name.
    pub metadata: &'a [(String, String)],
}
