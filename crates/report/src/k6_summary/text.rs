//! The summary as text: thresholds, totals, groups and scenarios.

use std::fmt::Write as _;

use metrics::tally::{BUILTIN, Contains, Kind, Metric, Submetric, ThresholdOutcome, Trend, Value};

use super::checks::{checks, mark};
use super::figures::{bytes, number, percent, seconds, statistic, trimmed};
use super::input::{K6Input, K6Part, base};
use crate::escape::terminal_lines;

/// The blocks after the checks, and their metrics.
const BLOCKS: [(&str, Belongs); 6] = [
    ("CUSTOM", |name| BUILTIN.iter().all(|(known, ..)| *known != name)),
    ("HTTP", |name| name.starts_with("http_req") && is_builtin(name)),
    ("EXECUTION", |name| EXECUTION.contains(&name)),
    ("NETWORK", |name| NETWORK.contains(&name)),
    ("WEBSOCKET", |name| name.starts_with("ws_") && is_builtin(name)),
    ("GRPC", |name| name.starts_with("grpc_") && is_builtin(name)),
];

/// Whether a metric of this name belongs to a block.
type Belongs = fn(&str) -> bool;

const EXECUTION: [&str; 5] =
    ["dropped_iterations", "iteration_duration", "iterations", "vus", "vus_max"];
const NETWORK: [&str; 2] = ["data_received", "data_sent"];
/// What the compact summary leaves out.
pub(super) const HIDDEN: [&str; 8] = [
    "checks",
    "group_duration",
    "http_req_blocked",
    "http_req_connecting",
    "http_req_tls_handshaking",
    "http_req_sending",
    "http_req_waiting",
    "http_req_receiving",
];
/// What the full one leaves out as well.
const HIDDEN_ALWAYS: usize = 2;

fn is_builtin(name: &str) -> bool {
    BUILTIN.iter().any(|(known, ..)| *known == name)
}

/// The summary: compact, or full where `parts` are given.
#[must_use]
pub fn text(input: &K6Input<'_>) -> String {
    let mut text = String::new();
    thresholds(&mut text, input);
    text.push_str("\n  █ TOTAL RESULTS \n");
    let hidden = if input.parts.is_none() { &HIDDEN[..] } else { &HIDDEN[..HIDDEN_ALWAYS] };
    section(&mut text, input, &Section { indent: "    ", only: None, hidden });
    text.push('\n');
    let parts = input.parts.unwrap_or_default();
    // Groups outside of scenarios come first.
    let top = |part: &&K6Part| part.scenario.is_empty() && part.group.rfind("::") == Some(0);
    for part in parts.iter().filter(top) {
        group(&mut text, input, part, &Depth { indent: "  ", mark: "█" });
        text.push('\n');
    }
    for part in parts.iter().filter(|part| part.group.is_empty()) {
        write!(text, "\n  █ SCENARIO: {} \n", terminal_lines(&part.scenario)).ok();
        let of = K6Input { tally: &part.tally, thresholds: &[], named: &[], ..*input };
        section(&mut text, &of, &Section { indent: "    ", only: None, hidden });
        groups(&mut text, input, part, "    ");
        text.push('\n');
    }
    text
}

/// The indent of a group, and its mark.
struct Depth<'a> {
    indent: &'a str,
    mark: &'static str,
}

/// A group, with the groups in it.
fn group(text: &mut String, input: &K6Input<'_>, part: &K6Part, at: &Depth<'_>) {
    let name = terminal_lines(part.group.rsplit("::").next().unwrap_or_default());
    write!(text, "\n{}{} GROUP: {name} \n", at.indent, at.mark).ok();
    let indent = format!("{}  ", at.indent);
    let of = K6Input { tally: &part.tally, thresholds: &[], named: &[], ..*input };
    let hidden = &HIDDEN[..HIDDEN_ALWAYS];
    section(text, &of, &Section { indent: &indent, only: Some(&part.group), hidden });
    groups(text, input, part, &indent);
}

/// The groups in a part.
fn groups(text: &mut String, input: &K6Input<'_>, outer: &K6Part, indent: &str) {
    let is_inner = |part: &&K6Part| {
        let parent = part.group.rsplit_once("::").map(|(parent, _)| parent);
        part.scenario == outer.scenario && parent == Some(outer.group.as_str())
    };
    for part in input.parts.unwrap_or_default().iter().filter(is_inner) {
        group(text, input, part, &Depth { indent, mark: "↳" });
    }
}

/// How a section is laid out.
struct Section<'a> {
    indent: &'a str,
    /// The group of this section; metrics without samples in it are left out.
    only: Option<&'a str>,
    hidden: &'a [&'a str],
}

/// The checks and the blocks of metrics.
fn section(text: &mut String, input: &K6Input<'_>, of: &Section<'_>) {
    checks(text, input, of.indent);
    let mut lines = lines(input, of.hidden);
    if of.only.is_some() {
        lines.retain(|line| !NETWORK.contains(&line.metric.as_str()));
    }
    let name_width = lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0) + 3;
    let widths = column_widths(&lines);
    let indent = of.indent;
    for (title, belongs) in BLOCKS {
        let block: Vec<&Line> = lines.iter().filter(|line| belongs(&line.metric)).collect();
        if block.is_empty() {
            continue;
        }
        write!(text, "\n{indent}{title}\n").ok();
        for line in block {
            let dots = ".".repeat(name_width - line.name.chars().count());
            writeln!(text, "{indent}{}{dots}: {}", line.name, line.cells(&widths, input.colored))
                .ok();
        }
    }
}

fn thresholds(text: &mut String, input: &K6Input<'_>) {
    if input.thresholds.is_empty() {
        return;
    }
    text.push_str("\n  █ THRESHOLDS \n");
    let mut named = Vec::new();
    for outcome in input.thresholds {
        if !named.contains(&outcome.metric.as_str()) {
            named.push(outcome.metric.as_str());
        }
    }
    // Thresholds of a submetric follow those of its metric.
    named.sort_by(|one, other| (base(one), one).cmp(&(base(other), other)));
    for metric in &named {
        let base = base(metric);
        let (indent, name) = match metric.strip_prefix(base) {
            Some(selector) if !selector.is_empty() && named.contains(&base) => ("      ", selector),
            _ => ("    ", *metric),
        };
        write!(text, "\n{indent}{}\n", terminal_lines(name)).ok();
        outcomes_of(input, metric).for_each(|outcome| threshold(text, input, outcome, indent));
    }
    text.push('\n');
}

/// The result of a threshold.
fn threshold(text: &mut String, input: &K6Input<'_>, outcome: &ThresholdOutcome, indent: &str) {
    let mark = mark(outcome.holds, input.colored);
    let what = outcome.aggregation();
    let figure = outcome.figure.map_or_else(
        || "no samples".to_owned(),
        |figure| threshold_figure(input, &outcome.metric, what, figure),
    );
    writeln!(text, "{indent}{mark} '{}' {what}={figure}", outcome.source.trim()).ok();
}

/// A threshold's figure in the unit of its metric.
fn threshold_figure(input: &K6Input<'_>, metric: &str, what: &str, figure: f64) -> String {
    match input.tally.metric(base(metric)) {
        Some(metric) => {
            let (kind, contains) = (metric.value.kind(), metric.contains);
            figure_text(kind, contains, input.time_unit, (what, figure))
        }
        None => trimmed(figure, 6),
    }
}

/// A threshold's figure, of the aggregation `what`, in the unit of a metric of this type.
pub(crate) fn figure_text(
    kind: Kind,
    contains: Contains,
    time_unit: Option<&str>,
    (what, figure): (&str, f64),
) -> String {
    match kind {
        Kind::Rate => percent(figure),
        Kind::Counter if what == "rate" => format!("{}/s", trimmed(figure, 6)),
        _ => number(figure, contains, time_unit),
    }
}

/// A line of the summary.
pub(super) struct Line {
    pub(super) metric: String,
    pub(super) name: String,
    pub(super) cells: Vec<String>,
    pub(super) is_trend: bool,
}

impl Line {
    /// The cells, each as wide as the widest of its column.
    pub(super) fn cells(&self, widths: &[Vec<usize>; 2], colored: bool) -> String {
        let widths = &widths[usize::from(self.is_trend)];
        let last = self.cells.len().saturating_sub(1);
        let cell = |(at, cell): (usize, &String)| {
            let pad = if at < last || self.is_trend { widths[at] } else { 0 };
            if colored { format!("\x1b[36m{cell:<pad$}\x1b[0m") } else { format!("{cell:<pad$}") }
        };
        self.cells.iter().enumerate().map(cell).collect::<Vec<_>>().join(" ")
    }
}

/// The widths of the columns: of other metrics, and of trends.
pub(super) fn column_widths(lines: &[Line]) -> [Vec<usize>; 2] {
    let mut widths = [Vec::new(), Vec::new()];
    for line in lines {
        let of = &mut widths[usize::from(line.is_trend)];
        for (at, cell) in line.cells.iter().enumerate() {
            if of.len() <= at {
                of.push(0);
            }
            of[at] = of[at].max(cell.chars().count());
        }
    }
    widths
}

pub(super) fn lines(input: &K6Input<'_>, hidden: &[&str]) -> Vec<Line> {
    let mut lines = Vec::new();
    for (name, metric) in input.tally.metrics() {
        if hidden.contains(&name) || !is_shown(input, name, metric) {
            continue;
        }
        lines.push(line(name, name.to_owned(), metric, &metric.value, input));
        for sub in metric.subs.iter().filter(|sub| is_sub_shown(input, name, sub)) {
            let shown = format!("  {{ {} }}", terminal_lines(&sub.selector));
            lines.push(line(name, shown, metric, &sub.value, input));
        }
    }
    lines
}

/// Whether a summary shows a metric: it has samples, or a threshold names it or one of its submetrics.
pub(super) fn is_shown(input: &K6Input<'_>, name: &str, metric: &Metric) -> bool {
    metric.value.count() > 0 || NETWORK.contains(&name) || input.names(name)
}

pub(super) fn is_sub_shown(input: &K6Input<'_>, name: &str, sub: &Submetric) -> bool {
    sub.value.count() > 0 || input.named.contains(&format!("{name}{{{}}}", sub.selector))
}

/// The thresholds of a metric or submetric.
pub(super) fn outcomes_of<'a>(
    input: &'a K6Input<'_>,
    metric: &str,
) -> impl Iterator<Item = &'a ThresholdOutcome> {
    input.thresholds.iter().filter(move |outcome| outcome.metric == metric)
}

fn line(metric: &str, name: String, of: &Metric, value: &Value, input: &K6Input<'_>) -> Line {
    let cells = match value {
        Value::Counter { sum, .. } => {
            let rate = sum / seconds(input.elapsed);
            let rate = match of.contains {
                Contains::Data => format!("{}/s", bytes(rate)),
                _ => format!("{}/s", trimmed(rate, 6)),
            };
            vec![number(*sum, of.contains, input.time_unit), rate]
        }
        Value::Gauge { last, min, max, .. } => {
            let of = |value: &f64| number(*value, of.contains, input.time_unit);
            vec![of(last), format!("min={}", of(min)), format!("max={}", of(max))]
        }
        Value::Rate { passes, total } => {
            vec![
                percent(*passes as f64 / (*total).max(1) as f64),
                format!("{passes} out of {total}"),
            ]
        }
        Value::Trend(trend) => {
            let stats = input.trend_stats.iter();
            stats
                .map(|stat| format!("{stat}={}", stat_text(trend, stat, of.contains, input)))
                .collect()
        }
    };
    Line { metric: metric.to_owned(), name, cells, is_trend: value.kind() == Kind::Trend }
}

fn stat_text(trend: &Trend, stat: &str, contains: Contains, input: &K6Input<'_>) -> String {
    if stat == "count" {
        return trend.count().to_string();
    }
    number(statistic(trend, stat), contains, input.time_unit)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use metrics::tally::{MetricId, Tally};
    use stdx::Nanos;

    use super::super::json::export;
    use super::super::legacy::legacy;
    use super::*;

    #[test]
    fn a_trend_may_have_no_columns() {
        let (metric, name, cells) = (String::new(), String::new(), Vec::new());
        let line = Line { metric, name, cells, is_trend: true };
        assert_eq!(line.cells(&column_widths(&[]), false), "");
    }

    #[test]
    fn a_full_summary_has_scenarios_and_their_groups() {
        let tally = |n: u32| {
            let mut tally = Tally::default();
            (0..n).for_each(|_| tally.add(MetricId::HTTP_REQS, 1.0, &()));
            tally.check("", "ok", true);
            tally.add(MetricId::CHECKS, 1.0, &());
            tally
        };
        let part = |scenario: &str, group: &str, n: u32| K6Part {
            scenario: scenario.to_owned(),
            group: group.to_owned(),
            tally: tally(n),
        };
        let parts = [
            part("", "::setup", 1),
            part("buy", "", 5),
            part("buy", "::cart", 3),
            part("buy", "::cart::pay", 2),
            part("look", "", 4),
        ];
        let whole = tally(10);
        let input = K6Input {
            tally: &whole,
            elapsed: Nanos::from_secs(1),
            trend_stats: &[],
            thresholds: &[],
            named: &[],
            time_unit: None,
            colored: false,
            grouped: true,
            parts: Some(&parts),
        };
        let text = text(&input);
        let seen = text.lines().map(str::trim_end).filter(|line| {
            ["█", "↳", "http_reqs"].iter().any(|mark| line.trim_start().starts_with(mark))
        });
        let expect = [
            "  █ TOTAL RESULTS",
            "    http_reqs.......: 10  10/s",
            "  █ GROUP: setup",
            "    http_reqs...: 1 1/s",
            "  █ SCENARIO: buy",
            "    http_reqs.......: 5   5/s",
            "    ↳ GROUP: cart",
            "      http_reqs...: 3 3/s",
            "      ↳ GROUP: pay",
            "        http_reqs...: 2 2/s",
            "  █ SCENARIO: look",
            "    http_reqs.......: 4   4/s",
        ];
        assert_eq!(seen.collect::<Vec<_>>(), expect, "{text}");
        assert_eq!(text.matches("✓ ok").count(), 6);
    }

    #[test]
    fn a_submetric_stands_below_its_metric_and_is_shown_without_samples() {
        let mut tally = Tally::default();
        tally.declare_sub("http_reqs", "a:b");
        tally.declare_sub("vus", "a:b");
        tally.declare_sub("ws_sessions", "a:b");
        let outcome = |metric: &str, source: &str| ThresholdOutcome {
            metric: metric.to_owned(),
            source: source.to_owned(),
            figure: Some(0.0),
            holds: true,
            run: String::new(),
        };
        // In the order of names, another metric may come between a metric and its submetric.
        let outcomes = [
            outcome("http_reqs", "count<1"),
            outcome("http_reqs_2", "count<2"),
            outcome("http_reqs{a:b}", " count<3 "),
            outcome("vus{a:b}", "value<1"),
        ];
        let named = ["http_reqs", "http_reqs_2", "http_reqs{a:b}", "vus{a:b}", "ws_sessions{a:b}"];
        let named = named.map(str::to_owned);
        let input = K6Input {
            tally: &tally,
            elapsed: Nanos::from_secs(2),
            trend_stats: &[],
            thresholds: &outcomes,
            named: &named,
            time_unit: None,
            colored: false,
            grouped: true,
            parts: None,
        };
        let text = text(&input);
        let expect = "
    http_reqs
    ✓ 'count<1' count=0

      {a:b}
      ✓ 'count<3' count=0

    http_reqs_2
    ✓ 'count<2' count=0

    vus{a:b}
    ✓ 'value<1' value=0

";
        assert!(text.contains(expect), "{text}");
        for line in ["ws_sessions.....: 0", "  { a:b }.......: 0"] {
            assert!(text.contains(line), "{line}: {text}");
        }
        let export: Json = serde_json::from_str(&export(&input, None)).unwrap();
        assert_eq!(export["metrics"]["ws_sessions{a:b}"]["count"], 0, "{export}");
    }

    #[test]
    fn a_summary_stands_in_k6s_columns() {
        let mut tally = Tally::default();
        tally.declare_sub("http_req_duration", "expected_response:true");
        for n in [1.0, 2.5] {
            tally.add(MetricId::HTTP_REQ_DURATION, n, &());
            tally.add(MetricId::HTTP_REQS, 1.0, &());
            tally.add(MetricId::DATA_SENT, 70.0, &());
        }
        for (group, name, passed) in [("", "ok", true), ("::g", "never", false)] {
            tally.check(group, name, passed);
            tally.add(MetricId::CHECKS, f64::from(u8::from(passed)), &());
        }
        tally.group("::g");
        let stats = ["avg", "max"].map(str::to_owned);
        let outcomes = [ThresholdOutcome {
            metric: "http_reqs".to_owned(),
            source: "count>1".to_owned(),
            figure: Some(2.0),
            holds: true,
            run: String::new(),
        }];
        let input = K6Input {
            tally: &tally,
            elapsed: Nanos::from_secs(2),
            trend_stats: &stats,
            thresholds: &outcomes,
            named: &["http_reqs".to_owned()],
            time_unit: None,
            colored: false,
            grouped: true,
            parts: None,
        };
        let expect = "
  █ THRESHOLDS 

    http_reqs
    ✓ 'count>1' count=2


  █ TOTAL RESULTS 

    checks_total.......: 2      1/s
    checks_succeeded...: 50.00% 1 out of 2
    checks_failed......: 50.00% 1 out of 2

    ✓ ok
    ✗ never
      ↳  0% — ✓ 0 / ✗ 1

    HTTP
    http_req_duration...: avg=1.75ms max=2.5ms
    http_reqs...........: 2     1/s

    NETWORK
    data_received.......: 0 B   0 B/s
    data_sent...........: 140 B 70 B/s

";
        assert_eq!(text(&input), expect);
        let mut hostile = tally.clone();
        hostile.check("::\x1b]0;g\x07", "\x1b[2Jname", true);
        hostile.group("::\x1b]0;g\x07");
        let input_hostile = K6Input { tally: &hostile, ..input };
        for text in [text(&input_hostile), legacy(&input_hostile)] {
            assert!(text.contains("\u{fffd}[2Jname") && !text.contains(['\x1b', '\x07']), "{text}");
        }
        let export: Json = serde_json::from_str(&export(&input, None)).unwrap();
        assert_eq!(
            export["metrics"]["http_reqs"],
            json!({"count": 2, "rate": 1, "thresholds": {"count>1": false}})
        );
        assert_eq!(export["root_group"]["groups"]["g"]["checks"]["never"]["fails"], 1);
    }
}
