//! Vegeta's reports and nothing of ours: its lines and keys byte for byte, with quantiles and throughput as Vegeta computes
//! them.

use metrics::Summary;

use crate::BucketCounts;
use crate::hdrplot::table;
use crate::json::vegetas_keys;
use crate::text::{QUANTILES, seven, vegetas_lines};

/// Vegeta's text report.
#[must_use]
pub fn text(summary: &Summary) -> String {
    let quantiles = QUANTILES.map(|q| summary.quantile_between(q));
    let latencies = seven(&summary.response, quantiles);
    vegetas_lines(summary, summary.throughput_as_vegeta(), &latencies)
}

/// Vegeta's JSON report, as one line.
#[must_use]
pub fn json(summary: &Summary, buckets: Option<&BucketCounts>) -> String {
    let quantiles = QUANTILES.map(|q| summary.quantile_between(q));
    vegetas_keys(summary, buckets, (quantiles, summary.throughput_as_vegeta())).end() + "\n"
}

/// Vegeta's percentile table for HdrHistogram's plotter.
#[must_use]
pub fn hdrplot(summary: &Summary) -> String {
    table(summary, |q| summary.quantile_between(q))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_at_all_is_still_json() {
        let text = json(&Summary::new(), None);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["requests"], 0);
        assert_eq!(value["errors"], serde_json::json!([]));
        assert_eq!(value["earliest"], "0001-01-01T00:00:00Z");
        assert_eq!(value["wait"], 0);
    }
}
