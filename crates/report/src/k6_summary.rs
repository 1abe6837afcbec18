//! k6's end-of-test summary, compact, and its `--summary-export`, of a [`Tally`].

use std::fmt::Write as _;

use metrics::tally::{Contains, Kind, Metric, Tally, Trend, Value};
use serde_json::{Map, Value as Json, json};
use stdx::Nanos;

/// What a summary is made of.
#[derive(Clone, Copy, Debug)]
pub struct K6Input<'a> {
    /// The metrics.
    pub tally: &'a Tally,
    /// How long the test took; rates are over it.
    pub elapsed: Nanos,
    /// The statistics of trends: `avg`, `p(95)`.
    pub trend_stats: &'a [String],
    /// The thresholds' outcomes, in the order of their metrics.
    pub judged: &'a [Judged],
}

/// What became of one threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The metric, with its selector.
    pub metric: String,
    /// The expression.
    pub source: String,
    /// What was compared with the limit; `None` without samples.
    pub figure: Option<f64>,
    /// Whether it holds.
    pub holds: bool,
}

/// The blocks after the checks, and which metrics stand in them.
const BLOCKS: [(&str, Belongs); 4] = [
    ("CUSTOM", |name| {
        !HTTP.contains(&name) && !EXECUTION.contains(&name) && !NETWORK.contains(&name)
    }),
    ("HTTP", |name| HTTP.contains(&name)),
    ("EXECUTION", |name| EXECUTION.contains(&name)),
    ("NETWORK", |name| NETWORK.contains(&name)),
];

/// Whether a metric of this name stands in a block.
type Belongs = fn(&str) -> bool;

const HTTP: [&str; 3] = ["http_req_duration", "http_req_failed", "http_reqs"];
const EXECUTION: [&str; 5] =
    ["dropped_iterations", "iteration_duration", "iterations", "vus", "vus_max"];
const NETWORK: [&str; 2] = ["data_received", "data_sent"];
/// What the compact summary leaves out.
const HIDDEN: [&str; 8] = [
    "checks",
    "group_duration",
    "http_req_blocked",
    "http_req_connecting",
    "http_req_tls_handshaking",
    "http_req_sending",
    "http_req_waiting",
    "http_req_receiving",
];

/// The compact summary.
#[must_use]
pub fn k6_summary(input: &K6Input<'_>) -> String {
    let mut text = String::new();
    thresholds(&mut text, input);
    text.push_str("\n  █ TOTAL RESULTS \n");
    checks(&mut text, input);
    let lines = lines(input);
    let name_width = lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0) + 3;
    let widths = column_widths(&lines);
    for (title, belongs) in BLOCKS {
        let block: Vec<&Line> = lines.iter().filter(|line| belongs(&line.metric)).collect();
        if block.is_empty() {
            continue;
        }
        write!(text, "\n    {title}\n").ok();
        for line in block {
            let dots = ".".repeat(name_width - line.name.chars().count());
            writeln!(text, "    {}{dots}: {}", line.name, line.cells(&widths)).ok();
        }
    }
    text.push('\n');
    text
}

fn thresholds(text: &mut String, input: &K6Input<'_>) {
    if input.judged.is_empty() {
        return;
    }
    text.push_str("\n  █ THRESHOLDS \n");
    let mut metric = "";
    for judged in input.judged {
        if judged.metric != metric {
            metric = &judged.metric;
            write!(text, "\n    {metric}\n").ok();
        }
        let mark = if judged.holds { '✓' } else { '✗' };
        let what = judged.source.split(['<', '>', '=', '!']).next().unwrap_or_default().trim();
        let figure = judged.figure.map_or_else(
            || "no samples".to_owned(),
            |figure| figure_text(input.tally, &judged.metric, what, figure),
        );
        writeln!(text, "    {mark} '{}' {what}={figure}", judged.source).ok();
    }
    text.push('\n');
}

/// A threshold's figure in the unit of its metric.
fn figure_text(tally: &Tally, metric: &str, what: &str, figure: f64) -> String {
    let base = metric.split('{').next().unwrap_or_default();
    let of = tally.metrics().find(|(name, _)| *name == base).map(|(_, metric)| metric);
    match of.map(|metric| (metric.value.kind(), metric.contains)) {
        Some((Kind::Rate, _)) => percent(figure),
        Some((Kind::Counter, _)) if what == "rate" => format!("{}/s", trimmed(figure, 6)),
        Some((_, contains)) => number(figure, contains),
        None => trimmed(figure, 6),
    }
}

fn checks(text: &mut String, input: &K6Input<'_>) {
    let checks = &input.tally.checks;
    let (passes, fails): (u64, u64) =
        checks.iter().fold((0, 0), |(p, f), check| (p + check.passes, f + check.fails));
    let total = passes + fails;
    if total == 0 {
        return;
    }
    let share =
        |count: u64| format!("{} {count} out of {total}", percent(count as f64 / total as f64));
    let rate = trimmed(total as f64 / seconds(input.elapsed), 6);
    let width =
        percent(passes as f64 / total as f64).len().max(percent(fails as f64 / total as f64).len());
    write!(
        text,
        "\n    checks_total.......: {total:<width$} {rate}/s\n    checks_succeeded...: {}\n    checks_failed......: {}\n\n",
        share(passes),
        share(fails)
    )
    .ok();
    for check in checks {
        if check.fails == 0 {
            writeln!(text, "    ✓ {}", check.name).ok();
        } else {
            let share = 100 * check.passes / (check.passes + check.fails);
            let (passes, fails) = (check.passes, check.fails);
            writeln!(text, "    ✗ {}\n      ↳  {share}% — ✓ {passes} / ✗ {fails}", check.name).ok();
        }
    }
}

/// A line of the summary.
struct Line {
    metric: String,
    name: String,
    cells: Vec<String>,
    is_trend: bool,
}

impl Line {
    /// The cells, each as wide as the widest of its column.
    fn cells(&self, widths: &[Vec<usize>; 2]) -> String {
        let widths = &widths[usize::from(self.is_trend)];
        let last = self.cells.len() - 1;
        let cell = |(at, cell): (usize, &String)| {
            let pad = if at < last || self.is_trend { widths[at] } else { 0 };
            format!("{cell:<pad$}")
        };
        self.cells.iter().enumerate().map(cell).collect::<Vec<_>>().join(" ")
    }
}

/// The widths of the columns: of other metrics, and of trends.
fn column_widths(lines: &[Line]) -> [Vec<usize>; 2] {
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

fn lines(input: &K6Input<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    for (name, metric) in input.tally.metrics() {
        let seen = metric.value.count() > 0 || NETWORK.contains(&name);
        if HIDDEN.contains(&name) || !seen {
            continue;
        }
        lines.push(line(name, name.to_owned(), metric, &metric.value, input));
        for sub in metric.subs.iter().filter(|sub| sub.value.count() > 0) {
            lines.push(line(name, format!("  {{ {} }}", sub.selector), metric, &sub.value, input));
        }
    }
    lines
}

fn line(metric: &str, name: String, of: &Metric, value: &Value, input: &K6Input<'_>) -> Line {
    let cells = match value {
        Value::Counter { sum, .. } => {
            let rate = sum / seconds(input.elapsed);
            let rate = match of.contains {
                Contains::Data => format!("{}/s", bytes(rate)),
                _ => format!("{}/s", trimmed(rate, 6)),
            };
            vec![number(*sum, of.contains), rate]
        }
        Value::Gauge { last, min, max, .. } => {
            let of = |value: &f64| number(*value, of.contains);
            vec![of(last), format!("min={}", of(min)), format!("max={}", of(max))]
        }
        Value::Rate { passes, total } => {
            vec![percent(*passes as f64 / *total as f64), format!("{passes} out of {total}")]
        }
        Value::Trend(trend) => {
            let stats = input.trend_stats.iter();
            stats.map(|stat| format!("{stat}={}", stat_text(trend, stat, of.contains))).collect()
        }
    };
    Line { metric: metric.to_owned(), name, cells, is_trend: value.kind() == Kind::Trend }
}

fn stat_text(trend: &Trend, stat: &str, contains: Contains) -> String {
    if stat == "count" {
        return trend.count().to_string();
    }
    number(statistic(trend, stat), contains)
}

/// A statistic of a trend by k6's name; NaN where there is none of it.
fn statistic(trend: &Trend, stat: &str) -> f64 {
    match stat {
        "avg" => trend.mean(),
        "min" => trend.min(),
        "med" => trend.percentile(50.0),
        "max" => trend.max(),
        "count" => trend.count() as f64,
        other => {
            let p = other.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')'));
            p.and_then(|p| p.parse().ok()).map_or(f64::NAN, |p| trend.percentile(p))
        }
    }
}

/// Whether trends have a statistic of this name.
#[must_use]
pub fn is_trend_stat(stat: &str) -> bool {
    let mut trend = Trend::default();
    trend.add(1.0);
    statistic(&trend, stat).is_finite()
}

fn number(value: f64, contains: Contains) -> String {
    match contains {
        Contains::Time => milliseconds(value),
        Contains::Data => bytes(value),
        Contains::Default => trimmed(value, 6),
    }
}

/// A time in the unit that suits it, with two digits after the point at most: `1.68ms`, `1m3s`.
fn milliseconds(value: f64) -> String {
    let (sign, ms) = if value < 0.0 { ("-", -value) } else { ("", value) };
    if ms == 0.0 {
        return "0s".to_owned();
    }
    let text = match ms {
        ms if ms < 0.001 => format!("{}ns", trimmed(ms * 1e6, 2)),
        ms if ms < 1.0 => format!("{}µs", trimmed(ms * 1e3, 2)),
        ms if ms < 1e3 => format!("{}ms", trimmed(ms, 2)),
        ms if ms < 6e4 => format!("{}s", trimmed(ms / 1e3, 2)),
        ms => format!("{}m{}s", (ms / 6e4).floor(), trimmed((ms / 1e3) % 60.0, 0)),
    };
    format!("{sign}{text}")
}

/// Bytes in SI units, one digit after the point below 10 of a unit.
fn bytes(value: f64) -> String {
    let (mut value, mut unit) = (value, 0);
    while value >= 1000.0 && unit < 4 {
        value /= 1000.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && value < 10.0);
    format!("{value:.digits$} {}", ["B", "kB", "MB", "GB", "TB"][unit])
}

fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

/// A number with so many digits after the point at most.
fn trimmed(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

fn seconds(time: Nanos) -> f64 {
    (time.0 as f64 / 1e9).max(1e-9)
}

/// `--summary-export`.
#[must_use]
pub fn k6_summary_export(input: &K6Input<'_>) -> String {
    let mut metrics = Map::new();
    for (name, metric) in input.tally.metrics() {
        let always = NETWORK.contains(&name);
        if always || metric.value.count() > 0 || judged_of(input, name).next().is_some() {
            metrics.insert(name.to_owned(), exported(input, name, &metric.value));
        }
        for sub in &metric.subs {
            let name = format!("{name}{{{}}}", sub.selector);
            if sub.value.count() > 0 || judged_of(input, &name).next().is_some() {
                let value = exported(input, &name, &sub.value);
                metrics.insert(name, value);
            }
        }
    }
    let document = json!({ "root_group": group(input.tally, "", ""), "metrics": metrics });
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn judged_of<'a>(input: &'a K6Input<'_>, metric: &'a str) -> impl Iterator<Item = &'a Judged> {
    input.judged.iter().filter(move |judged| judged.metric == metric)
}

fn exported(input: &K6Input<'_>, name: &str, value: &Value) -> Json {
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
            set("value", if *total == 0 { 0.0 } else { *passes as f64 / *total as f64 });
        }
        Value::Trend(trend) => {
            input.trend_stats.iter().for_each(|stat| set(stat, statistic(trend, stat)));
        }
    }
    let thresholds: Map<String, Json> = judged_of(input, name)
        // k6 tells whether it was crossed.
        .map(|judged| (judged.source.clone(), Json::Bool(!judged.holds)))
        .collect();
    if !thresholds.is_empty() {
        object.insert("thresholds".to_owned(), Json::Object(thresholds));
    }
    Json::Object(object)
}

/// A number as JavaScript writes it: whole ones without a point.
fn whole_or_not(value: f64) -> Json {
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

/// A group with its checks and the groups in it.
fn group(tally: &Tally, path: &str, name: &str) -> Json {
    let inner = tally.groups.iter().filter_map(|inner| {
        let (outer, name) = inner.rsplit_once("::")?;
        (outer == path).then(|| (name.to_owned(), group(tally, inner, name)))
    });
    let checks = tally.checks.iter().filter(|check| check.group == path).map(|check| {
        let path = format!("{path}::{}", check.name);
        let (passes, fails) = (check.passes, check.fails);
        let value = json!({ "name": check.name, "path": path, "passes": passes, "fails": fails });
        (check.name.clone(), value)
    });
    json!({
        "name": name,
        "path": path,
        "groups": inner.collect::<Map<_, _>>(),
        "checks": checks.collect::<Map<_, _>>(),
    })
}

#[cfg(test)]
mod tests {
    use metrics::tally::MetricId;

    use super::*;

    #[test]
    fn figures_are_written_as_k6s() {
        for (ms, text) in [
            (0.0, "0s"),
            (0.24183, "241.83µs"),
            (12.5, "12.5ms"),
            (1770.0, "1.77s"),
            (102.99369, "102.99ms"),
            (63_000.0, "1m3s"),
        ] {
            assert_eq!(milliseconds(ms), text);
        }
        for (count, text) in
            [(972.0, "972 B"), (3129.8, "3.1 kB"), (72_000.0, "72 kB"), (1_500_000.0, "1.5 MB")]
        {
            assert_eq!(bytes(count), text);
        }
        assert_eq!(
            (trimmed(19.319_94, 6), trimmed(12.0, 6)),
            ("19.31994".to_owned(), "12".to_owned())
        );
        assert!(is_trend_stat("p(99.9)") && !is_trend_stat("p99"));
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
        tally.check("", "ok", true);
        tally.check("::g", "never", false);
        tally.group("::g");
        let stats = ["avg", "max"].map(str::to_owned);
        let judged = [Judged {
            metric: "http_reqs".to_owned(),
            source: "count>1".to_owned(),
            figure: Some(2.0),
            holds: true,
        }];
        let input = K6Input {
            tally: &tally,
            elapsed: Nanos::from_secs(2),
            trend_stats: &stats,
            judged: &judged,
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
    data_sent...........: 140 B 70 B/s

";
        assert_eq!(k6_summary(&input), expect);
        let export: Json = serde_json::from_str(&k6_summary_export(&input)).unwrap();
        assert_eq!(
            export["metrics"]["http_reqs"],
            json!({"count": 2, "rate": 1, "thresholds": {"count>1": false}})
        );
        assert_eq!(export["root_group"]["groups"]["g"]["checks"]["never"]["fails"], 1);
    }
}
