//! The live page of a script: where k6's and our own words ask for it, and what it has beside the requests.

use metrics::tally::{MetricSummary, Tally, ThresholdOutcome};
use script::Instance;
use serde_json::{Value, json};
use session::{PageOpened, PageRequest, ReportFiles};

use crate::flags::RunFlags;

/// Where k6's dashboard listens.
const HOST: &str = "localhost";
const PORT: &str = "5665";
/// The output of k6 that is its dashboard.
const OUTPUT: &str = "web-dashboard";
/// Rows of a table, at most.
const ROWS_MAX: usize = 500;

/// What was asked of the dashboard.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Dashboard {
    /// The address of the live page; `None` where it is not served.
    pub(super) address: Option<String>,
    /// The file of the report as a page.
    pub(super) export: Option<String>,
    /// Who opens the page.
    pub(super) opened: PageOpened,
}

impl Dashboard {
    /// The page that is asked for, where one is.
    pub(super) fn request(&self) -> Option<PageRequest> {
        let page = self.address.as_deref().map(PageRequest::at)?;
        Some(PageRequest { opened: self.opened, ..page })
    }
}

/// What flag, outputs and environment ask for. Outputs that are not the dashboard stay in `outputs`.
pub(super) fn read(
    flag: Option<&str>,
    outputs: &mut Vec<String>,
    variable: impl Fn(&str) -> Option<String>,
) -> Dashboard {
    let is_page = |output: &String| output.split('=').next() == Some(OUTPUT);
    let named: Vec<String> = outputs.iter().filter(|output| is_page(output)).cloned().collect();
    outputs.retain(|output| !is_page(output));
    let is_on = |value: &str| ["true", "1"].contains(&&*value.to_ascii_lowercase());
    let in_k6s_words =
        !named.is_empty() || variable("K6_WEB_DASHBOARD").is_some_and(|value| is_on(&value));
    if !in_k6s_words {
        return Dashboard { address: flag.map(str::to_owned), ..Dashboard::default() };
    }
    // `web-dashboard=host=0.0.0.0&port=8080`.
    let options = named.last().and_then(|output| output.split_once('=')).map_or("", |(_, all)| all);
    let option = |name: &str| {
        let pairs = options.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(known, _)| *known == name).map(|(_, value)| value.to_owned()).next_back()
    };
    let of = |name: &str, variables: &[&str]| {
        let set = || variables.iter().find_map(|name| variable(name));
        option(name).or_else(set).filter(|value| !value.is_empty())
    };
    let export = of("export", &["K6_WEB_DASHBOARD_EXPORT", "K6_WEB_DASHBOARD_REPORT"]);
    let host = of("host", &["K6_WEB_DASHBOARD_HOST"]).unwrap_or_else(|| HOST.to_owned());
    // There, port -1 serves nothing, and 0 takes a free one.
    let port = of("port", &["K6_WEB_DASHBOARD_PORT"]).unwrap_or_else(|| PORT.to_owned());
    let served = (port != "-1").then(|| format!("{host}:{port}"));
    let opened = match of("open", &["K6_WEB_DASHBOARD_OPEN"]) {
        Some(value) if is_on(&value) => PageOpened::InBrowser,
        _ => PageOpened::ByHand,
    };
    Dashboard { address: flag.map(str::to_owned).or(served), export, opened }
}

/// The files of reports, with that of the dashboard. A part of a fleet writes none.
pub(super) fn reports(flags: &RunFlags, export: Option<&str>) -> ReportFiles {
    if flags.is_part {
        return ReportFiles::default();
    }
    let mut reports = flags.saving.reports.clone();
    export.into_iter().for_each(|path| reports.add_page(path));
    reports
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

    fn read_of(flag: Option<&str>, outputs: &[&str], variables: &[(&str, &str)]) -> Dashboard {
        let mut outputs: Vec<String> = outputs.iter().map(|text| (*text).to_owned()).collect();
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let read = read(flag, &mut outputs, variable);
        assert_eq!(outputs, ["json=a.json"]);
        read
    }

    #[test]
    fn k6s_words_lead_to_the_live_page() {
        let out = "json=a.json";
        let asked =
            |flag, outputs: &[&str], variables: &[_]| read_of(flag, outputs, variables).address;
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
        let export = ("K6_WEB_DASHBOARD_EXPORT", "page.html");
        let off = ("K6_WEB_DASHBOARD_PORT", "-1");
        let exported = |variables: &[_]| read_of(None, &[out], variables).export;
        assert_eq!(exported(&[on, off, export]).as_deref(), Some("page.html"));
        assert_eq!(
            exported(&[export]),
            None,
            "without the dashboard it stands for nothing, as in k6"
        );
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
