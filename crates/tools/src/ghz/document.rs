//! The reports of ghz for programs: JSON and CSV.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::observer::Detail;
use super::options::GhzOptions;
use super::report::GhzReport;
use super::test::import_paths;

/// What ghz reports where only a duration ends a run.
const TOTAL_UNLIMITED: i64 = i32::MAX as i64;

/// What a report has beside its figures.
pub(super) struct Setting<'a> {
    pub(super) options: &'a GhzOptions,
    pub(super) data: &'a Value,
    pub(super) metadata: &'a Value,
    /// When the run ended, in nanoseconds of Unix time.
    pub(super) date_ns: i64,
    /// Why it ended: `normal`, `timeout` or `cancel`.
    pub(super) end_reason: &'static str,
}

/// The report as a document.
pub(super) fn document(report: &GhzReport<'_>, setting: &Setting<'_>) -> Value {
    let calls = report.calls;
    let counted = |list: &[(String, u64)]| -> Map<String, Value> {
        list.iter().map(|(name, count)| (name.clone(), json!(count))).collect()
    };
    let share = |count: u64| count as f64 / calls.count.max(1) as f64;
    let mut document = json!({
        "endReason": setting.end_reason,
        "options": options(setting),
        "date": rfc3339(setting.date_ns),
        "count": calls.count,
        "total": report.total.0,
        "average": report.average.0,
        "fastest": report.fastest.0,
        "slowest": report.slowest.0,
        "rps": report.rps,
        "errorDistribution": counted(&calls.errors),
        "statusCodeDistribution": counted(&report.statuses),
        "latencyDistribution": report.percentiles.iter()
            .map(|(percentage, latency)| json!({"percentage": percentage, "latency": latency.0}))
            .collect::<Vec<_>>(),
        "histogram": report.buckets.iter()
            .map(|bucket| json!({
                "mark": bucket.mark.0 as f64 / 1e9, "count": bucket.count, "frequency": share(bucket.count),
            }))
            .collect::<Vec<_>>(),
        "details": calls.details.iter().map(|detail| detail_json(report, detail)).collect::<Vec<_>>(),
    });
    if let Some(name) = setting.options.text("name") {
        document["name"] = name.into();
    }
    let tags =
        setting.options.text("tags").and_then(|text| serde_json::from_str::<Value>(text).ok());
    if let Some(tags) = tags {
        document["tags"] = tags;
    }
    document
}

fn detail_json(report: &GhzReport<'_>, detail: &Detail) -> Value {
    json!({
        "timestamp": rfc3339(detail.timestamp_ns),
        "latency": detail.latency.0,
        "error": error_of(report, detail),
        "status": detail.status.go_name(),
    })
}

/// The error of a call; empty where it has none.
pub(super) fn error_of<'a>(report: &GhzReport<'a>, detail: &Detail) -> &'a str {
    let error = detail.error.and_then(|number| report.calls.errors.get(number as usize));
    error.map_or("", |(text, _)| text)
}

/// The calls, one a line.
pub(super) fn csv(report: &GhzReport<'_>) -> String {
    let mut text = String::from("\nduration (ms),status,error\n");
    for detail in &report.calls.details {
        let error = error_of(report, detail);
        let error = match error.contains([',', '"', '\n']) {
            true => format!("\"{}\"", error.replace('"', "\"\"")),
            false => error.to_owned(),
        };
        let ms = detail.latency.0 as f64 / 1e6;
        text.push_str(&format!("{ms:4.2},{},{error}\n", detail.status.go_name()));
    }
    text
}

/// The options of the run, with the defaults that ghz reports.
fn options(setting: &Setting<'_>) -> Value {
    let of = setting.options;
    let mut all = Map::new();
    let mut texts = |names: &[(&str, &str)]| {
        for (name, key) in names {
            if let Some(text) = of.text(name) {
                all.insert((*key).to_owned(), text.into());
            }
        }
    };
    texts(&[
        ("call", "call"),
        ("host", "host"),
        ("proto", "proto"),
        ("cacert", "cacert"),
        ("cert", "cert"),
        ("key", "key"),
        ("cname", "cname"),
        ("authority", "authority"),
        ("name", "name"),
    ]);
    let schedule = |name: &str| of.text(name).unwrap_or("const").to_owned();
    all.insert("load-schedule".to_owned(), schedule("load-schedule").into());
    all.insert("concurrency-schedule".to_owned(), schedule("concurrency-schedule").into());
    let paths = import_paths(of);
    if !paths.is_empty() {
        all.insert("import-paths".to_owned(), json!(paths));
    }
    all.insert("insecure".to_owned(), of.is_on("insecure").into());
    all.insert(
        "binary".to_owned(),
        (of.is_on("binary") || of.text("binary-file").is_some()).into(),
    );
    for name in ["skipTLS", "async", "count-errors"] {
        if of.is_on(name) {
            all.insert(name.to_owned(), true.into());
        }
    }
    if of.is_on("enable-compression") {
        all.insert("enableCompression".to_owned(), true.into());
    }
    numbers(of, &mut all);
    if !setting.data.is_null() {
        all.insert("data".to_owned(), setting.data.clone());
    }
    if !setting.metadata.is_null() {
        all.insert("metadata".to_owned(), shown_metadata(setting.metadata));
    }
    Value::Object(all)
}

/// The metadata as documents show it: without what is to be redacted.
fn shown_metadata(metadata: &Value) -> Value {
    let Value::Object(fields) = metadata else { return metadata.clone() };
    let field = |(name, value): (&String, &Value)| {
        let hidden = value.as_str().and_then(|text| stdx::redacted_value(name, text.as_bytes()));
        (name.clone(), hidden.map_or_else(|| value.clone(), Value::String))
    };
    Value::Object(fields.iter().map(field).collect())
}

/// The number of calls as ghz reports it.
pub(super) fn total(of: &GhzOptions) -> i64 {
    match of.time("duration") {
        Some(_) => TOTAL_UNLIMITED,
        None => of.number("total", 200),
    }
}

/// Numbers and times, in nanoseconds; those that are 0 are left out.
fn numbers(of: &GhzOptions, all: &mut Map<String, Value>) {
    let time = |name: &str, default: i64| of.time(name).map_or(default, |time| time.0 as i64);
    let second = 1_000_000_000;
    for (key, value) in [
        ("total", total(of)),
        ("concurrency", of.number("concurrency", 50)),
        ("connections", of.number("connections", 1)),
        ("rps", of.number("rps", 0)),
        ("skipFirst", of.number("skipFirst", 0)),
        ("duration", time("duration", 0)),
        ("timeout", time("timeout", 20 * second)),
        ("dial-timeout", time("connect-timeout", 10 * second)),
        ("keepalive", time("keepalive", 0)),
        ("concurrency-start", of.number("concurrency-start", 0)),
        ("concurrency-end", of.number("concurrency-end", 0)),
        ("concurrency-step", of.number("concurrency-step", 0)),
        ("concurrency-step-duration", time("concurrency-step-duration", 0)),
        ("concurrency-max-duration", time("concurrency-max-duration", 0)),
        ("load-start", of.number("load-start", 0)),
        ("load-end", of.number("load-end", 0)),
        ("load-step", of.number("load-step", 0)),
        ("load-step-duration", time("load-step-duration", 0)),
        ("load-max-duration", time("load-max-duration", 0)),
    ] {
        if value != 0 {
            all.insert(key.to_owned(), value.into());
        }
    }
}

/// A time as Go writes it in JSON, in UTC.
fn rfc3339(unix_ns: i64) -> String {
    Timestamp::from_nanosecond(i128::from(unix_ns))
        .map_or_else(|_| String::new(), |at| at.to_string())
}
