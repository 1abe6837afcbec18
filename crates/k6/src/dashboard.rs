//! The live page of a script: where k6's and our own words ask for it, and what it has beside the requests.

use metrics::tally::{MetricSummary, Tally, ThresholdOutcome};
use script::Instance;
use serde_json::{Value, json};

/// Where k6's dashboard listens.
const HOST: &str = "localhost";
const PORT: &str = "5665";
/// The output of k6 that is its dashboard.
const OUTPUT: &str = "web-dashboard";
/// Rows of a table, at most.
const ROWS_MAX: usize = 500;

/// The address of the live page that flag, outputs or environment ask for; `None` where none of them does. Outputs that are files
/// stay in `outputs`.
pub(super) fn address(
    flag: Option<&str>,
    outputs: &mut Vec<String>,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let is_page = |output: &String| output.split('=').next() == Some(OUTPUT);
    let named: Vec<String> = outputs.iter().filter(|output| is_page(output)).cloned().collect();
    outputs.retain(|output| !is_page(output));
    if let Some(address) = flag {
        return Some(address.to_owned());
    }
    let is_on = |value: String| ["true", "1"].contains(&&*value.to_ascii_lowercase());
    if named.is_empty() && !variable("K6_WEB_DASHBOARD").is_some_and(is_on) {
        return None;
    }
    // `web-dashboard=host=0.0.0.0&port=8080`.
    let options = named.last().and_then(|output| output.split_once('=')).map_or("", |(_, all)| all);
    let option = |name: &str| {
        let pairs = options.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(known, _)| *known == name).map(|(_, value)| value.to_owned()).next_back()
    };
    let host = option("host").or_else(|| variable("K6_WEB_DASHBOARD_HOST"));
    let port = option("port").or_else(|| variable("K6_WEB_DASHBOARD_PORT"));
    let host = host.filter(|host| !host.is_empty()).unwrap_or_else(|| HOST.to_owned());
    // There, port -1 serves nothing, and 0 takes a free one.
    let port = port.unwrap_or_else(|| PORT.to_owned());
    (port != "-1").then(|| format!("{host}:{port}"))
}

/// What the page shows beside the requests: VUs, iterations, thresholds with their distance, checks and metrics.
pub(super) fn beside(
    tally: &Tally,
    seconds: f64,
    thresholds: &[ThresholdOutcome],
    seen: &Instance,
) -> Value {
    let tiles = [
        ("VUs", seen.active.to_string()),
        ("iterations", seen.completed.to_string()),
        ("iterations interrupted", seen.interrupted.to_string()),
    ];
    let shown = |figure: f64| format!("{}", (figure * 1000.0).round() / 1000.0);
    let thresholds: Vec<Value> = thresholds
        .iter()
        .take(ROWS_MAX)
        .map(|one| {
            let figure = one.figure.map_or_else(|| "no samples yet".to_owned(), shown);
            let state = if one.holds { "met" } else { "not met" };
            json!([one.metric, one.source, figure, state])
        })
        .collect();
    let checks: Vec<Value> = tally
        .checks
        .iter()
        .take(ROWS_MAX)
        .map(|check| json!([path(&check.group, &check.name), check.passes, check.fails]))
        .collect();
    let metrics: Vec<Value> = MetricSummary::of_test(tally, seconds, &[])
        .iter()
        .take(ROWS_MAX)
        .map(|metric| {
            let statistics = metric.statistics.iter();
            let text: Vec<String> =
                statistics.map(|(name, value)| format!("{name}={}", shown(*value))).collect();
            json!([metric.metric, text.join("  ")])
        })
        .collect();
    json!({
        "tiles": tiles,
        "tables": [
            { "title": "Thresholds", "columns": ["Metric", "Threshold", "Figure", "State"], "rows": thresholds },
            { "title": "Checks", "columns": ["Check", "Passed", "Failed"], "rows": checks },
            { "title": "Metrics", "columns": ["Metric", "Statistics (times in ms)"], "rows": metrics },
        ],
    })
}

/// A check with its group.
fn path(group: &str, name: &str) -> String {
    match group.trim_start_matches("::") {
        "" => name.to_owned(),
        group => format!("{}: {name}", group.replace("::", " / ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(flag: Option<&str>, outputs: &[&str], variables: &[(&str, &str)]) -> Option<String> {
        let mut outputs: Vec<String> = outputs.iter().map(|text| (*text).to_owned()).collect();
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let address = address(flag, &mut outputs, variable);
        assert_eq!(outputs, ["json=a.json"]);
        address
    }

    #[test]
    fn k6s_words_lead_to_the_live_page() {
        let out = "json=a.json";
        assert_eq!(asked(None, &[out], &[]), None);
        assert_eq!(asked(Some(""), &[out], &[]).as_deref(), Some(""));
        let on = ("K6_WEB_DASHBOARD", "true");
        let default = asked(None, &[out], &[on]);
        assert_eq!(default.as_deref(), Some("localhost:5665"));
        let port = ("K6_WEB_DASHBOARD_PORT", "0");
        assert_eq!(asked(None, &[out], &[on, port]).as_deref(), Some("localhost:0"));
        assert_eq!(asked(None, &[out], &[on, ("K6_WEB_DASHBOARD_PORT", "-1")]), None);
        assert_eq!(asked(None, &[out], &[("K6_WEB_DASHBOARD", "false")]), None);
        let output = "web-dashboard=host=127.0.0.1&port=81";
        assert_eq!(asked(None, &[output, out], &[port]).as_deref(), Some("127.0.0.1:81"));
        assert_eq!(asked(None, &[out, "web-dashboard"], &[]), default);
    }

    #[test]
    fn the_page_has_checks_and_thresholds() {
        let mut tally = Tally::default();
        tally.check("::home", "status is 200", true);
        tally.check("::home", "status is 200", false);
        let outcome = ThresholdOutcome {
            metric: "checks".to_owned(),
            source: "rate>0.9".to_owned(),
            figure: Some(0.5),
            holds: false,
            run: String::new(),
        };
        let seen = Instance { completed: 3, interrupted: 0, active: 2, ..Instance::default() };
        let page = beside(&tally, 1.0, &[outcome], &seen);
        assert_eq!(page["tiles"][0], json!(["VUs", "2"]));
        assert_eq!(page["tables"][0]["rows"][0], json!(["checks", "rate>0.9", "0.5", "not met"]));
        assert_eq!(page["tables"][1]["rows"][0], json!(["home: status is 200", 1, 1]));
    }
}
