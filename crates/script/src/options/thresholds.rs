//! Parts of the options: thresholds, the segment, limits.

use serde_json::{Map, Value};
use stdx::Nanos;
use workload::Segment;

use super::bounds::bound_entries;
use super::error::{OptionsError, Result, wrong};
use super::fields::{Fields, flag, limit, text, time};

/// One threshold of a metric or submetric.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdOption {
    /// The metric, with its selector: `http_req_duration{status:200}`.
    pub metric: String,
    /// The expression: `p(95)<500`.
    pub source: String,
    /// The run ends when it is crossed.
    pub abort: bool,
    /// It is not judged before this time of the test.
    pub delay: Nanos,
}

/// A limit, 0 for none, that is there unless it is said to be none.
pub(super) fn limited(fields: &Fields, name: &str, default: usize) -> Result<usize> {
    if fields.get(name).is_none_or(Value::is_null) {
        return Ok(default);
    }
    Ok(limit(fields, name)?.unwrap_or(0) as usize)
}

/// The part of the test that is to be run.
pub(super) fn segment(fields: &Fields) -> Result<Segment> {
    let sequence = text(fields, "executionSegmentSequence")?;
    match text(fields, "executionSegment")? {
        Some(own) => Segment::parse(&own, sequence.as_deref())
            .map_err(|error| OptionsError(error.to_string())),
        None => Ok(Segment::default()),
    }
}

/// The thresholds, and the metrics that they are of: one without any is watched all the same.
pub(super) fn thresholds(value: Option<&Value>) -> Result<(Vec<ThresholdOption>, Vec<String>)> {
    let list = match value {
        None | Some(Value::Null) => return Ok((Vec::new(), Vec::new())),
        Some(Value::Object(list)) => list,
        Some(_) => return wrong("thresholds is not an object"),
    };
    bound_entries("thresholds", list)?;
    let mut rules = Vec::new();
    let mut watched = Vec::new();
    for (metric, value) in list {
        // The samples that they select show no passwords, either.
        let metric = &*stdx::shown_selector(metric);
        watched.push(metric.to_owned());
        if value.is_null() {
            continue;
        }
        let Value::Array(items) = value else {
            return wrong(format!("thresholds of {metric} are not an array"));
        };
        for item in items {
            rules.push(rule(metric, item)?);
        }
    }
    Ok((rules, watched))
}

fn rule(metric: &str, item: &Value) -> Result<ThresholdOption> {
    let none = Map::new();
    let fields = item.as_object().unwrap_or(&none);
    let source = match item.as_str() {
        Some(source) => Some(source.to_owned()),
        None => text(fields, "threshold")?,
    };
    let Some(source) = source else {
        return wrong(format!("a threshold of {metric} is no expression"));
    };
    let abort = flag(fields, "abortOnFail")?;
    let delay = time(fields, "delayAbortEval")?.unwrap_or(Nanos::ZERO);
    Ok(ThresholdOption { metric: metric.to_owned(), source, abort, delay })
}
