//! Samples as JSON, one a line, as k6 writes them.

use std::collections::HashSet;
use std::io::{self, Write};

use metrics::tally::MetricId;
use script::OutputSample;
use serde_json::{Map, Value, json};

use super::file::SampleFile;
use super::writer::{TestMetadata, Writer};

/// Writes JSON.
pub(super) struct Json {
    file: SampleFile,
    /// The metrics that were declared in the output.
    declared: HashSet<MetricId>,
}

impl Json {
    pub(super) fn new(file: SampleFile) -> Self {
        Self { file, declared: HashSet::new() }
    }
}

impl Writer for Json {
    fn point(&mut self, point: &OutputSample, known: &TestMetadata) -> io::Result<()> {
        let (name, kind, contains) = known.metric(point.metric);
        if self.declared.insert(point.metric) {
            let metric = metric(known, &name, kind, contains);
            writeln!(self.file, "{metric}")?;
        }
        let mut data = json!({
            "time": time(known.epoch_ns + i64::try_from(point.at.0).unwrap_or(i64::MAX)),
            "value": number(point.value),
            "tags": pairs(&point.tags.tags),
        });
        if !point.tags.metadata.is_empty() {
            data["metadata"] = pairs(&point.tags.metadata);
        }
        writeln!(self.file, "{}", json!({ "metric": name, "type": "Point", "data": data }))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.file.finish()
    }
}

/// What a metric is, with its thresholds and submetrics.
fn metric(known: &TestMetadata, name: &str, kind: &str, contains: &str) -> Value {
    let of_name = known.limits.iter().filter(|limit| limit.metric == name);
    let thresholds: Vec<&str> = of_name.map(|limit| limit.source()).collect();
    let subs = known.tally.metric(name).map_or(&[][..], |metric| &metric.subs);
    let sub = |selector: &str| {
        let tags: Map<String, Value> = selector
            .split(',')
            .filter_map(|pair| pair.split_once(':'))
            .map(|(name, value)| {
                let value = value.trim().trim_matches(['"', '\'']);
                (name.trim().to_owned(), value.into())
            })
            .collect();
        json!({ "name": format!("{name}{{{selector}}}"), "suffix": selector, "tags": tags })
    };
    let subs: Vec<Value> = subs.iter().map(|of| sub(&of.selector)).collect();
    let subs = if subs.is_empty() { Value::Null } else { subs.into() };
    let data = json!({
        "name": name,
        "type": kind,
        "contains": contains,
        "thresholds": thresholds,
        "submetrics": subs,
    });
    json!({ "type": "Metric", "data": data, "metric": name })
}

/// Whole numbers without a point.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

fn pairs(pairs: &[(String, String)]) -> Value {
    let pair = |(name, value): &(String, String)| (name.clone(), Value::from(value.as_str()));
    Value::Object(pairs.iter().map(pair).collect())
}

/// RFC 3339 with nanoseconds.
fn time(unix_ns: i64) -> String {
    let time = jiff::Timestamp::from_nanosecond(i128::from(unix_ns)).unwrap_or_default();
    time.to_string()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use script::OutputTags;
    use stdx::Nanos;

    use super::*;

    #[test]
    fn a_metric_is_declared_once_before_its_points() {
        let scratch = tempfile::tempdir().unwrap();
        let place = scratch.path().join("json");
        let file = SampleFile::open(&place.display().to_string(), results::Encoding::Json).unwrap();
        let mut json = Json::new(file);
        let tags = OutputTags {
            tags: vec![("name".to_owned(), "x".to_owned())],
            metadata: vec![("vu".to_owned(), "1".to_owned())],
        };
        let point = OutputSample {
            metric: MetricId::HTTP_REQS,
            at: Nanos(1_500_000_000),
            value: 1.0,
            tags: Arc::new(tags),
        };
        let known = TestMetadata::example();
        json.point(&point, &known).unwrap();
        json.point(&point, &known).unwrap();
        json.finish().unwrap();
        let text = std::fs::read_to_string(&place).unwrap();
        std::fs::remove_file(&place).unwrap();
        let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(
            (&lines[0]["type"], &lines[0]["data"]["type"]),
            (&json!("Metric"), &json!("counter"))
        );
        let expect = json!({
            "time": "2023-11-14T22:13:21.5Z",
            "value": 1,
            "tags": { "name": "x" },
            "metadata": { "vu": "1" },
        });
        assert_eq!((&lines[1]["data"], &lines[2]), (&expect, &lines[1]));
    }
}
