//! The report of ghz as Prometheus reads it: gauges, with the options that tell runs apart as labels.

use super::document::Setting;
use super::report::GhzReport;

/// The gauges of a run.
pub(super) fn prometheus(report: &GhzReport<'_>, setting: &Setting<'_>) -> String {
    let labels = labels(setting);
    let mut text = String::new();
    let errors = report.calls.errors.iter().map(|(_, count)| count).sum::<u64>();
    for (name, value) in [
        ("count", report.calls.count as f64),
        ("total", report.total.0 as f64),
        ("average", report.average.0 as f64),
        ("fastest", report.fastest.0 as f64),
        ("slowest", report.slowest.0 as f64),
        ("rps", report.rps),
        ("errors", errors as f64),
    ] {
        text.push_str(&format!(
            "# TYPE ghz_run_{name} gauge\nghz_run_{name}{{{labels}}} {value}\n"
        ));
    }
    text.push_str("# TYPE ghz_run_histogram histogram\n");
    let mut upto = 0;
    for bucket in &report.buckets {
        upto += bucket.count;
        let mark = bucket.mark.0 as f64 / 1e9;
        text.push_str(&format!("ghz_run_histogram_bucket{{{labels},le=\"{mark}\"}} {upto}\n"));
    }
    let sum = report.calls.sum_ns as f64 / 1e9;
    text.push_str(&format!(
        "ghz_run_histogram_bucket{{{labels},le=\"+Inf\"}} {upto}\nghz_run_histogram_sum{{{labels}}} {sum}\nghz_run_histogram_count{{{labels}}} {upto}\n"
    ));
    text.push_str("# TYPE ghz_run_latency summary\n");
    for (percent, latency) in &report.percentiles {
        let quantile = *percent as f64 / 100.0;
        let latency = latency.0;
        text.push_str(&format!("ghz_run_latency{{{labels},quantile=\"{quantile}\"}} {latency}\n"));
    }
    text
}

fn labels(setting: &Setting<'_>) -> String {
    let of = setting.options;
    let texts = ["call", "host", "name", "proto"];
    let mut labels: Vec<String> = texts
        .iter()
        .filter_map(|name| of.text(name).map(|text| format!("{name}={text:?}")))
        .collect();
    labels.push(format!("concurrency=\"{}\"", of.number("concurrency", 50)));
    labels.push(format!("connections=\"{}\"", of.number("connections", 1)));
    labels.push(format!("end_reason=\"{}\"", setting.end_reason));
    labels.join(",")
}
