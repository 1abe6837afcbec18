//! A script's metrics for every report: of the whole test, of each scenario and of each group, with the statistics of k6's summary.

use metrics::tally::{Assertion, Contains, Kind, MetricSummary};

use crate::k6_summary::figure_text;
use crate::number::go_json;
use crate::object::{Object, json_list};
use crate::run_name::{json_of_run, of_run};

/// The heads of a table of metrics.
pub(crate) const METRIC_HEADS: [&str; 4] = ["Metric", "scenario", "group", "statistics"];

/// What stands where a metric is of all scenarios or groups.
const ALL: &str = "all";

/// The metrics among what was asserted.
fn metrics(all: &[Assertion]) -> impl Iterator<Item = &MetricSummary> {
    all.iter().filter_map(|one| match one {
        Assertion::Metric(metric) => Some(metric),
        _ => None,
    })
}

/// Whether a trend was 0 throughout, as the TLS handshakes are without TLS.
fn is_idle(one: &MetricSummary) -> bool {
    let is_idle = |(name, value): &(String, f64)| name == "count" || *value == 0.0;
    one.kind == Kind::Trend && one.statistics.iter().all(is_idle)
}

/// A metric: its name, its scenario, its group, and its statistics in its unit. Trends that are 0 throughout are left out.
pub(crate) fn metric_rows(all: &[Assertion]) -> Vec<Vec<String>> {
    let row = |one: &MetricSummary| {
        let statistic =
            |(name, value): &(String, f64)| format!("{name}={}", figure(one, name, *value));
        let statistics: Vec<String> = one.statistics.iter().map(statistic).collect();
        let groups: Vec<&str> = one.group.split("::").filter(|group| !group.is_empty()).collect();
        vec![
            of_run(&one.metric, &one.run),
            or_all(&one.scenario),
            or_all(&groups.join(" / ")),
            statistics.join(" "),
        ]
    };
    metrics(all).filter(|one| !is_idle(one)).map(row).collect()
}

/// A statistic in the unit of its metric; counts are numbers whatever the metric's unit.
fn figure(one: &MetricSummary, name: &str, value: f64) -> String {
    match (one.kind, name) {
        (Kind::Counter, "rate") if one.contains == Contains::Data => {
            format!("{}/s", figure_text(one.kind, one.contains, None, ("count", value)))
        }
        (Kind::Trend, "count") | (Kind::Rate, "passes" | "fails") => go_json(value),
        _ => figure_text(one.kind, one.contains, None, (name, value)),
    }
}

fn or_all(name: &str) -> String {
    if name.is_empty() { ALL.to_owned() } else { name.to_owned() }
}

/// The metrics as properties of a test suite: a name of metric, scenario and group, and the statistics.
pub(crate) fn properties(all: &[Assertion]) -> Vec<(String, String)> {
    let property = |row: Vec<String>| {
        let [metric, scenario, group, statistics] = row.try_into().ok()?;
        let parts = [("scenario", scenario), ("group", group)];
        let parts = parts.into_iter().filter(|(_, name)| *name != ALL);
        let parts = parts.map(|(what, name)| format!(", {what} {name}")).collect::<String>();
        Some((format!("{metric}{parts}"), statistics))
    };
    metric_rows(all).into_iter().filter_map(property).collect()
}

/// The metrics as a JSON list; `None` without any.
pub(crate) fn json(all: &[Assertion]) -> Option<String> {
    let one = |one: &MetricSummary| {
        let statistics = one.statistics.iter();
        let values = statistics.fold(Object::new(), |all, (name, value)| all.float(name, *value));
        json_of_run(&one.run)
            .text("metric", &one.metric)
            .text("scenario", &one.scenario)
            .text("group", &one.group)
            .text("type", one.kind.name())
            .text("contains", one.contains.name())
            .put("values", values.end())
            .end()
    };
    let list: Vec<String> = metrics(all).map(one).collect();
    (!list.is_empty()).then(|| json_list(list.into_iter()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_has_its_statistics_in_its_unit() {
        let metric = |name: &str, (kind, contains), statistics: &[(&str, f64)]| {
            Assertion::Metric(MetricSummary {
                scenario: "buyers".to_owned(),
                group: "::shop::cart".to_owned(),
                metric: name.to_owned(),
                kind,
                contains,
                run: String::new(),
                statistics: statistics
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), *value))
                    .collect(),
            })
        };
        let all = [
            metric("wait", (Kind::Trend, Contains::Time), &[("p(95)", 312.5), ("count", 1e3)]),
            metric("ok", (Kind::Rate, Contains::Default), &[("rate", 0.5), ("fails", 2.0)]),
            metric("sent", (Kind::Counter, Contains::Data), &[("count", 2000.0), ("rate", 1e6)]),
            metric("tls", (Kind::Trend, Contains::Time), &[("avg", 0.0), ("count", 9.0)]),
        ];
        let rows: Vec<String> = metric_rows(&all).iter().map(|row| row.join(" | ")).collect();
        assert_eq!(
            rows,
            [
                "wait | buyers | shop / cart | p(95)=312.5ms count=1000",
                "ok | buyers | shop / cart | rate=50.00% fails=2",
                "sent | buyers | shop / cart | count=2.0 kB rate=1.0 MB/s",
            ]
        );
        assert_eq!(
            properties(&all)[0],
            (
                "wait, scenario buyers, group shop / cart".to_owned(),
                "p(95)=312.5ms count=1000".to_owned()
            )
        );
        let json = json(&all[..1]).unwrap();
        let expect = "[{\"metric\":\"wait\",\"scenario\":\"buyers\",\"group\":\"::shop::cart\",\"type\":\"trend\",\
            \"contains\":\"time\",\"values\":{\"p(95)\":312.5,\"count\":1000}}]";
        assert_eq!(json, expect);
    }
}
