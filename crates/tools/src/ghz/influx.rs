//! The report of ghz as InfluxDB's lines: one for the run, or one for each call.

use serde_json::Value;

use super::document::{Setting, error_of, total};
use super::observer::Detail;
use super::options::GhzOptions;
use super::report::GhzReport;

/// The run as one line.
pub(super) fn influx_summary(report: &GhzReport<'_>, setting: &Setting<'_>) -> String {
    let errors = report.calls.errors.iter().map(|(_, count)| count).sum::<u64>();
    let mut tags = tags(setting);
    tags.push(format!("errors={errors}"));
    tags.push(format!("has_errors={}", errors > 0));
    let mut fields = vec![
        format!("count={}", report.calls.count),
        format!("total={}", report.total.0),
        format!("average={}", report.average.0),
        format!("fastest={}", report.fastest.0),
        format!("slowest={}", report.slowest.0),
        format!("rps={:4.2}", report.rps),
    ];
    for (name, percent) in [("median", 50), ("p95", 95)] {
        let of = report.percentiles.iter().find(|(of, _)| *of == percent);
        fields.extend(of.map(|(_, latency)| format!("{name}={}", latency.0)));
    }
    fields.push(format!("errors={errors}"));
    line("ghz_run", &tags, &fields, setting.date_ns)
}

/// The calls, a line each.
pub(super) fn influx_details(report: &GhzReport<'_>, setting: &Setting<'_>) -> String {
    let common = tags(setting);
    let one = |detail: &Detail| {
        let error = error_of(report, detail);
        let mut tags = common.clone();
        tags.push(format!("hasError={}", !error.is_empty()));
        let fields = [
            format!("latency={}", detail.latency.0),
            format!("error=\"{}\"", escaped(error)),
            format!("status=\"{}\"", detail.status.go_name()),
        ];
        line("ghz_detail", &tags, &fields, detail.timestamp_ns) + "\n"
    };
    report.calls.details.iter().map(one).collect()
}

fn line(measurement: &str, tags: &[String], fields: &[String], at_ns: i64) -> String {
    format!("{measurement},{} {} {}", tags.join(","), fields.join(","), at_ns.max(0))
}

/// The tags by which runs differ.
fn tags(setting: &Setting<'_>) -> Vec<String> {
    let of = setting.options;
    let mut tags = Vec::new();
    let name = of.text("name").map(|name| format!("name=\"{}\"", escaped(name.trim())));
    tags.extend(name);
    tags.extend(match (of.text("proto"), of.text("protoset")) {
        (Some(path), _) => Some(format!("proto=\"{path}\"")),
        (None, set) => set.map(|path| format!("Protoset=\"{path}\"")),
    });
    for name in ["call", "host"] {
        tags.push(format!("{name}=\"{}\"", of.text(name).unwrap_or_default()));
    }
    tags.push(format!("n={}", total(of)));
    tags.extend(schedule(of, "concurrency", ("c", 50)));
    tags.extend(schedule(of, "load", ("rps", of.number("rps", 0))));
    let time_ns =
        |name: &str, default_s: u64| of.time(name).map_or(default_s * 1_000_000_000, |time| time.0);
    tags.push(format!("z={}", time_ns("duration", 0)));
    for (tag, name, default_s) in [
        ("timeout", "timeout", 20),
        ("dial_timeout", "connect-timeout", 10),
        ("keepalive", "keepalive", 0),
    ] {
        tags.push(format!("{tag}={}", time_ns(name, default_s) as f64 / 1e9));
    }
    let given = of.text("tags").and_then(|text| serde_json::from_str(text).ok());
    tags.push(format!("data={}", quoted(setting.data, "\"null\"")));
    tags.push(format!("metadata={}", quoted(setting.metadata, "\"\"")));
    tags.push(format!("tags={}", quoted(&given.unwrap_or_default(), "\"\"")));
    tags
}

/// The number of a constant schedule under its short name, or all that a schedule is made of.
fn schedule(of: &GhzOptions, what: &str, (constant, default): (&str, i64)) -> Vec<String> {
    let kind = of.text(&format!("{what}-schedule")).unwrap_or("const");
    if kind == "const" {
        let value = if what == "load" { default } else { of.number(what, default) };
        return vec![format!("{constant}={value}")];
    }
    let mut tags = vec![format!("{what}-schedule={kind}")];
    for name in ["start", "end", "step"] {
        tags.push(format!("{what}-{name}={}", of.number(&format!("{what}-{name}"), 0)));
    }
    for name in ["step-duration", "max-duration"] {
        let time = of.time(&format!("{what}-{name}")).unwrap_or_default();
        tags.push(format!("{what}-{name}={time}"));
    }
    tags
}

/// A document as a quoted text; `none` where there is none.
fn quoted(document: &Value, none: &str) -> String {
    match document {
        Value::Null => none.to_owned(),
        document => escaped(&Value::from(document.to_string()).to_string()),
    }
}

/// A text without what separates parts of a line.
fn escaped(text: &str) -> String {
    text.replace(' ', "\\ ").replace(',', "\\,").replace('=', "\\=")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_tell_runs_apart() {
        let line =
            "--proto a.proto --call p.S.M -n 5 -c 3 -z 2s --name my=run h:1 --tags {\"a\":\"b\"}";
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let options = GhzOptions::of_args(&args).expect("options");
        let setting = Setting {
            options: &options,
            data: &serde_json::json!({"text": "x"}),
            metadata: &Value::Null,
            date_ns: 1,
            end_reason: "normal",
        };
        assert_eq!(
            tags(&setting).join(","),
            "name=\"my\\=run\",proto=\"a.proto\",call=\"p.S.M\",host=\"h:1\",n=2147483647,c=3,rps=0,z=2000000000,timeout=20,dial_timeout=10,keepalive=0,data=\"{\\\"text\\\":\\\"x\\\"}\",metadata=\"\",tags=\"{\\\"a\\\":\\\"b\\\"}\""
        );
    }

    #[test]
    fn schedules_are_whole() {
        let line = "--concurrency-schedule step --concurrency-start 2 --concurrency-step 3 --concurrency-end 9 --concurrency-step-duration 5s";
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let options = GhzOptions::of_args(&args).expect("options");
        assert_eq!(
            schedule(&options, "concurrency", ("c", 50)).join(","),
            "concurrency-schedule=step,concurrency-start=2,concurrency-end=9,concurrency-step=3,concurrency-step-duration=5s,concurrency-max-duration=0s"
        );
    }
}
