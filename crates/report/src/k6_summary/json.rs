//! The summary as JSON: `--summary-export`, what `handleSummary` is given, and the newer form of both.

use metrics::tally::Value;
use serde_json::{Map, Value as Json, json};

use super::checks::{CheckCounts, by_name};
use super::figures::{seconds, statistic};
use super::input::K6Input;
use super::md5;
use super::text::{HIDDEN, is_shown, is_sub_shown, outcomes_of};

/// `--summary-export`, with the return value of `setup` as JSON.
#[must_use]
pub fn export(input: &K6Input<'_>, setup_data: Option<&str>) -> String {
    let mut metrics = Map::new();
    for (name, _, value) in shown_metrics(input) {
        let mut object = values(input, value, false);
        // k6 writes whether it was crossed.
        let thresholds: Map<String, Json> = outcomes_of(input, &name)
            .map(|outcome| (outcome.source.clone(), Json::Bool(!outcome.holds)))
            .collect();
        if !thresholds.is_empty() {
            object.insert("thresholds".to_owned(), Json::Object(thresholds));
        }
        metrics.insert(name, Json::Object(object));
    }
    let mut document = json!({ "root_group": group(input, "", "", false), "metrics": metrics });
    if let Some(data) = setup_data.and_then(|data| serde_json::from_str::<Json>(data).ok()) {
        document["setup_data"] = data;
    }
    pretty(&document)
}

/// The argument of `handleSummary`: figures, groups and the state of the run. `terminals` is whether standard output and
/// standard error are terminals.
#[must_use]
pub fn data(input: &K6Input<'_>, setup_data: Option<&str>, terminals: (bool, bool)) -> String {
    let mut metrics = Map::new();
    for (name, contains, value) in shown_metrics(input) {
        let mut object = json!({
            "type": value.kind().name(),
            "contains": contains,
            "values": values(input, value, true),
        });
        let thresholds: Map<String, Json> = outcomes_of(input, &name)
            .map(|outcome| (outcome.source.clone(), json!({ "ok": outcome.holds })))
            .collect();
        if !thresholds.is_empty() {
            object["thresholds"] = Json::Object(thresholds);
        }
        metrics.insert(name, object);
    }
    let mut document = json!({
        "metrics": metrics,
        "root_group": group(input, "", "", true),
        "options": {
            "summaryTrendStats": input.trend_stats,
            "summaryTimeUnit": input.time_unit.unwrap_or_default(),
            "noColor": !input.colored,
        },
        "state": {
            "isStdOutTTY": terminals.0,
            "isStdErrTTY": terminals.1,
            "testRunDurationMs": seconds(input.elapsed) * 1e3,
        },
    });
    if let Some(data) = setup_data.and_then(|data| serde_json::from_str::<Json>(data).ok()) {
        document["setup_data"] = data;
    }
    document.to_string()
}

/// The fields of the newer form besides figures.
#[derive(Clone, Copy, Debug)]
pub struct K6Machine<'a> {
    /// The script's text.
    pub script: &'a str,
    /// When it is made, RFC 3339.
    pub now: &'a str,
    /// The version of k6 that has this form.
    pub k6_version: &'a str,
}

/// `--new-machine-readable-summary`.
#[must_use]
pub fn machine(input: &K6Input<'_>, of: &K6Machine<'_>) -> String {
    let checks = &input.tally.checks;
    let (passes, fails): (u64, u64) =
        checks.iter().fold((0, 0), |(p, f), check| (p + check.passes, f + check.fails));
    let total = passes + fails;
    let share =
        |matches: u64| json!({ "matches": matches, "rate": ratio(matches, total), "total": total });
    let mut results = json!({});
    if total > 0 {
        let result = |check: CheckCounts<'_>| json!({ "name": check.name, "passes": check.passes, "fails": check.fails });
        results["checks"] = json!({
            "metrics": [
                { "name": "checks_total", "type": "counter", "contains": "default", "values": { "count": total } },
                { "name": "checks_failed", "type": "rate", "contains": "default", "values": share(fails) },
                { "name": "checks_succeeded", "type": "rate", "contains": "default", "values": share(passes) },
            ],
            "results": by_name(checks).into_iter().map(result).collect::<Vec<_>>(),
        });
    }
    let metric = |(name, contains, value): (String, &str, &Value)| {
        json!({
            "name": name,
            "type": value.kind().name(),
            "contains": contains,
            "values": machine_values(input, value),
        })
    };
    let is_visible = |name: &str| !HIDDEN.contains(&name.split('{').next().unwrap_or_default());
    results["metrics"] =
        shown_metrics(input).filter(|metric| is_visible(&metric.0)).map(metric).collect();
    pretty(&json!({
        "version": "1.0.0",
        "metadata": { "k6_version": of.k6_version, "generated_at": of.now },
        "config": { "script": of.script, "execution": "local", "duration": seconds(input.elapsed) },
        "results": results,
    }))
}

fn pretty(document: &Json) -> String {
    serde_json::to_string_pretty(document).unwrap_or_default() + "\n"
}

/// Every metric and submetric that there is something to say of: its whole name, what its values are, what was seen.
fn shown_metrics<'a>(
    input: &'a K6Input<'_>,
) -> impl Iterator<Item = (String, &'static str, &'a Value)> {
    input.tally.metrics().filter(|(name, metric)| is_shown(input, name, metric)).flat_map(
        move |(name, metric)| {
            let contains = metric.contains.name();
            let subs = metric.subs.iter().filter(move |sub| is_sub_shown(input, name, sub));
            let subs =
                subs.map(move |sub| (format!("{name}{{{}}}", sub.selector), contains, &sub.value));
            std::iter::once((name.to_owned(), contains, &metric.value)).chain(subs)
        },
    )
}

/// A number as JavaScript writes it: whole ones without a point.
fn whole_or_not(value: f64) -> Json {
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

fn ratio(part: u64, of: u64) -> Json {
    whole_or_not(part as f64 / of.max(1) as f64)
}

/// The figures of a metric. A rate is called `value` in the export, and `rate` in what scripts are given.
fn values(input: &K6Input<'_>, value: &Value, to_script: bool) -> Map<String, Json> {
    let mut object = Map::new();
    let mut set =
        |name: &str, value: f64| drop(object.insert(name.to_owned(), whole_or_not(value)));
    match value {
        Value::Counter { sum, .. } => {
            set("count", *sum);
            set("rate", sum / seconds(input.elapsed));
        }
        Value::Gauge { last, min, max, .. } => {
            set("value", *last);
            set("min", *min);
            set("max", *max);
        }
        Value::Rate { passes, total } => {
            set("passes", *passes as f64);
            set("fails", (total - passes) as f64);
            let share = *passes as f64 / (*total).max(1) as f64;
            set(if to_script { "rate" } else { "value" }, share);
        }
        Value::Trend(trend) => {
            input.trend_stats.iter().for_each(|stat| set(stat, statistic(trend, stat)));
        }
    }
    object
}

/// The figures of the newer form.
fn machine_values(input: &K6Input<'_>, value: &Value) -> Json {
    match value {
        Value::Counter { sum, .. } => json!({ "count": whole_or_not(*sum) }),
        Value::Rate { passes, total } => {
            json!({ "matches": passes, "total": total, "rate": ratio(*passes, *total) })
        }
        Value::Gauge { .. } => Json::Object(values(input, value, true)),
        Value::Trend(trend) => {
            let stats = ["avg", "min", "med", "max", "p(90)", "p(95)"];
            let pair =
                |stat: &str| (stat.replace(['(', ')'], ""), whole_or_not(statistic(trend, stat)));
            Json::Object(stats.into_iter().map(pair).collect())
        }
    }
}

/// A group with its checks and the groups in it: as lists for scripts, by their names in the export.
fn group(input: &K6Input<'_>, path: &str, name: &str, as_lists: bool) -> Json {
    let tally = input.tally;
    let inner = tally.groups.iter().filter_map(|inner| {
        let (outer, name) = inner.rsplit_once("::")?;
        (outer == path).then(|| (name.to_owned(), group(input, inner, name, as_lists)))
    });
    let checks = tally.checks.iter().filter(|check| input.grouped && check.group == path);
    let checks = checks.map(|check| {
        let path = format!("{path}::{}", check.name);
        let value = json!({
            "name": check.name,
            "path": path,
            "id": md5::hex(&path),
            "passes": check.passes,
            "fails": check.fails,
        });
        (check.name.clone(), value)
    });
    let (groups, checks) = if as_lists {
        (inner.map(|pair| pair.1).collect::<Json>(), checks.map(|pair| pair.1).collect::<Json>())
    } else {
        let (groups, checks) = (inner.collect::<Map<_, _>>(), checks.collect::<Map<_, _>>());
        (Json::Object(groups), Json::Object(checks))
    };
    json!({ "name": name, "path": path, "id": md5::hex(path), "groups": groups, "checks": checks })
}

#[cfg(test)]
mod tests {
    use metrics::tally::{Kind, MetricId, Tally};
    use stdx::Nanos;

    use super::*;

    #[test]
    fn scripts_are_given_lists_and_rates() {
        let mut tally = Tally::default();
        tally.add(MetricId::CHECKS, 1.0, &());
        tally.check("::g", "ok", true);
        tally.group("::g");
        let input = K6Input {
            tally: &tally,
            elapsed: Nanos::from_secs(2),
            trend_stats: &[],
            thresholds: &[],
            named: &[],
            time_unit: None,
            colored: false,
            grouped: true,
            parts: None,
        };
        let data: Json =
            serde_json::from_str(&data(&input, Some("{\"a\":1}"), (false, true))).unwrap();
        assert_eq!(
            data["metrics"]["checks"]["values"],
            json!({"rate": 1, "passes": 1, "fails": 0})
        );
        assert_eq!(data["root_group"]["groups"][0]["checks"][0]["name"], "ok");
        assert_eq!(
            (&data["setup_data"]["a"], &data["state"]["isStdErrTTY"]),
            (&json!(1), &json!(true))
        );
        let of = K6Machine { script: "x", now: "now", k6_version: "1" };
        let machine: Json = serde_json::from_str(&machine(&input, &of)).unwrap();
        assert_eq!(
            machine["results"]["checks"]["results"],
            json!([{"name": "ok", "passes": 1, "fails": 0}])
        );
        assert_eq!(data["metrics"]["checks"]["type"], Kind::Rate.name());
    }
}
