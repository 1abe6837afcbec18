//! What was asked of a test, for every report: gates, and a script's thresholds and checks, as cells, with the figures they were judged by.
//! It judges nothing itself.

use metrics::tally::{Assertion, Check, Contains, Kind, ThresholdOutcome};

use crate::columns::Columns;
use crate::escape;
use crate::gates::{self, GATE_HEADS, gate_rows};
use crate::k6_summary::figure_text;
use crate::number::{counted, go_json, grouped};
use crate::object::{Object, json_list};
use crate::run_name::{json_of_run, of_run};
use crate::script_metrics::{METRIC_HEADS, metric_rows};
use crate::test_case::JunitCase;

/// Gates and thresholds that the first line names; the rest is counted.
const FAILED_SHOWN: usize = 5;
/// The heads of a table of thresholds.
const THRESHOLD_HEADS: [&str; 4] = ["Threshold", "limit", "seen", "outcome"];
/// The heads of a table of checks.
const CHECK_HEADS: [&str; 4] = ["Check", "held", "failed", "outcome"];

/// A threshold: its metric, the limit, what was seen, and how it came out.
fn threshold_rows(all: &[Assertion]) -> Vec<Vec<String>> {
    let row = |one: &Assertion| match one {
        Assertion::Threshold { outcome, kind, contains } => {
            let word = if outcome.holds { "kept" } else { "CROSSED" };
            let figure = compared_figure(outcome, *kind, *contains);
            let metric = of_run(&outcome.metric, &outcome.run);
            Some(vec![metric, outcome.source.clone(), figure, word.to_owned()])
        }
        _ => None,
    };
    all.iter().filter_map(row).collect()
}

/// A check: its name with its groups, how often it held, how often not, and how it came out.
fn check_rows(all: &[Assertion]) -> Vec<Vec<String>> {
    let row = |one: &Assertion| match one {
        Assertion::Check(check) => {
            let word = if check.fails == 0 { "held" } else { "FAILED" };
            let counts = [check.passes, check.fails].map(grouped);
            let [passes, fails] = counts;
            Some(vec![name(check), passes, fails, word.to_owned()])
        }
        _ => None,
    };
    all.iter().filter_map(row).collect()
}

/// What was compared with the limit, such as `p(95)=312.4ms`.
fn compared_figure(outcome: &ThresholdOutcome, kind: Kind, contains: Contains) -> String {
    let what = outcome.aggregation();
    match outcome.figure {
        None => "no samples".to_owned(),
        Some(figure) => format!("{what}={}", figure_text(kind, contains, None, (what, figure))),
    }
}

/// A check's name after those of its groups.
fn name(check: &Check) -> String {
    let groups = check.group.split("::").filter(|group| !group.is_empty());
    groups.chain([check.name.as_str()]).collect::<Vec<_>>().join(" / ")
}

/// A threshold, check or gate as a test case; `None` for a metric.
pub(crate) fn case(one: &Assertion) -> Option<JunitCase> {
    let case = match one {
        Assertion::Threshold { outcome, kind, contains } => {
            let figure = compared_figure(outcome, *kind, *contains);
            let crossed = (!outcome.holds).then(|| format!("crossed: {figure}"));
            let name = format!("threshold {}: {}", outcome.metric, outcome.source);
            JunitCase::new(&of_run(&name, &outcome.run), figure, crossed)
        }
        Assertion::Check(check) => {
            let (all, fails) = (check.passes.saturating_add(check.fails), check.fails);
            let failed = (fails > 0).then(|| format!("failed {} of {all}", counted(fails, "time")));
            let held = format!("held {} of {all}", counted(check.passes, "time"));
            JunitCase::new(&format!("check {}", name(check)), held, failed)
        }
        Assertion::Gate(outcome) => gates::case(outcome),
        Assertion::Metric(_)
        | Assertion::Agent(_)
        | Assertion::Event(_)
        | Assertion::Provenance(_) => return None,
    };
    Some(case)
}

/// The results of the thresholds in a few words, and whether all are met; `None` without thresholds.
fn thresholds_in_words(all: &[Assertion]) -> Option<(String, bool)> {
    let thresholds = all.iter().filter(|one| matches!(one, Assertion::Threshold { .. }));
    let outcomes: Vec<bool> = thresholds.map(Assertion::holds).collect();
    let crossed = outcomes.iter().filter(|holds| !**holds).count() as u64;
    let words = match (outcomes.len() as u64, crossed) {
        (0, _) => return None,
        (count, 0) => format!("{} kept", counted(count, "threshold")),
        (count, crossed) => format!("{crossed} of {} crossed", counted(count, "threshold")),
    };
    Some((words, crossed == 0))
}

/// The results of the gates, and those of the thresholds, in a few words each, and whether all are met.
pub(crate) fn in_words(all: &[Assertion]) -> impl Iterator<Item = (String, bool)> {
    gates::in_words(all).into_iter().chain(thresholds_in_words(all))
}

/// A table: its title, its heads and its rows.
type Table = (&'static str, [&'static str; 4], Vec<Vec<String>>);

/// Gates, thresholds and checks as tables, each that has rows. The outcome is the last column.
pub(crate) fn judged_tables(all: &[Assertion]) -> impl Iterator<Item = Table> {
    let tables = [
        ("Gates", GATE_HEADS, gate_rows(all)),
        ("Thresholds", THRESHOLD_HEADS, threshold_rows(all)),
        ("Checks", CHECK_HEADS, check_rows(all)),
    ];
    tables.into_iter().filter(|(_, _, rows)| !rows.is_empty())
}

/// The metrics of a script as a table, if there are any.
pub(crate) fn metric_table(all: &[Assertion]) -> Option<Table> {
    let rows = metric_rows(all);
    (!rows.is_empty()).then_some(("Metrics of the script", METRIC_HEADS, rows))
}

/// All tables.
fn tables(all: &[Assertion]) -> impl Iterator<Item = Table> {
    judged_tables(all).chain(metric_table(all))
}

/// As tables of text, each after an empty line.
#[must_use]
pub fn text(all: &[Assertion]) -> String {
    let mut out = String::new();
    for (_, heads, rows) in tables(all) {
        let mut table = Columns::default();
        table.row(heads.map(str::to_owned));
        for row in rows {
            table.add(row.iter().map(|cell| escape::terminal(cell)).collect());
        }
        out.push('\n');
        out.push_str(&table.lines());
    }
    out
}

/// What failed a run, as the first line of a document of Markdown and an empty line after it: gates and thresholds that did not
/// pass. Empty where all passed.
pub(crate) fn failed_markdown(all: &[Assertion]) -> String {
    let mut failed = gates::failed_gates(gates::gates(all));
    failed.extend(all.iter().filter_map(crossed_threshold));
    let more = failed.len().saturating_sub(FAILED_SHOWN);
    failed.truncate(FAILED_SHOWN);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    match failed.is_empty() {
        true => String::new(),
        false => format!("**Failed:** {}{more}.\n\n", escape::markdown(&failed.join("; "))),
    }
}

/// A crossed threshold as a sentence.
fn crossed_threshold(one: &Assertion) -> Option<String> {
    match one {
        Assertion::Threshold { outcome, kind, contains } if !outcome.holds => {
            let figure = compared_figure(outcome, *kind, *contains);
            let metric = of_run(&outcome.metric, &outcome.run);
            Some(format!("threshold {} of {metric} is crossed: {figure}", outcome.source))
        }
        _ => None,
    }
}

/// As tables of Markdown.
pub(crate) fn markdown(all: &[Assertion]) -> String {
    let mut out = String::new();
    for (_, heads, rows) in tables(all) {
        out.push_str(&format!("\n| {} |\n|---|---:|---:|---|\n", heads.join(" | ")));
        for row in rows {
            let cells: Vec<String> = row.iter().map(|cell| escape::markdown(cell)).collect();
            out.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
    }
    out
}

/// The thresholds as a JSON list; `None` without any.
pub(crate) fn thresholds_json(all: &[Assertion]) -> Option<String> {
    let one = |one: &Assertion| match one {
        Assertion::Threshold { outcome, .. } => Some(
            json_of_run(&outcome.run)
                .text("metric", &outcome.metric)
                .text("limit", &outcome.source)
                .put("seen", outcome.figure.map_or("null".to_owned(), go_json))
                .put("kept", if outcome.holds { "true" } else { "false" })
                .end(),
        ),
        _ => None,
    };
    some_list(all.iter().filter_map(one).collect())
}

/// The checks as a JSON list; `None` without any.
pub(crate) fn checks_json(all: &[Assertion]) -> Option<String> {
    let one = |one: &Assertion| match one {
        Assertion::Check(check) => Some(
            Object::new()
                .text("group", &check.group)
                .text("name", &check.name)
                .number("passes", check.passes)
                .number("fails", check.fails)
                .end(),
        ),
        _ => None,
    };
    some_list(all.iter().filter_map(one).collect())
}

fn some_list(list: Vec<String>) -> Option<String> {
    (!list.is_empty()).then(|| json_list(list.into_iter()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threshold(source: &str, figure: Option<f64>, holds: bool) -> Assertion {
        let outcome = ThresholdOutcome {
            metric: "m".to_owned(),
            source: source.to_owned(),
            figure,
            holds,
            run: String::new(),
        };
        Assertion::Threshold { outcome, kind: Kind::Trend, contains: Contains::Time }
    }

    fn check(passes: u64, fails: u64) -> Assertion {
        let (group, name) = ("::shop::cart".to_owned(), "is | 200".to_owned());
        Assertion::Check(Check { group, name, passes, fails })
    }

    #[test]
    fn outcomes_are_reported_with_their_figures() {
        let all = [
            threshold("p(95)<200", Some(312.25), false),
            threshold("avg<1s", None, false),
            threshold("max < 5000", Some(1234.0), true),
            check(19, 1),
            check(1_200, 0),
        ];
        let expect = "
Threshold  limit       seen            outcome
m          p(95)<200   p(95)=312.25ms  CROSSED
m          avg<1s      no samples      CROSSED
m          max < 5000  max=1.23s       kept

Check                   held   failed  outcome
shop / cart / is | 200  19     1       FAILED
shop / cart / is | 200  1,200  0       held
";
        assert_eq!(text(&all), expect);
        assert!(markdown(&all).contains("| shop / cart / is \\| 200 | 19 | 1 | FAILED |"));
        let JunitCase { name, failure: failed, .. } = case(&all[3]).unwrap();
        let failed = failed.unwrap();
        assert_eq!(
            (name.as_str(), failed.as_str()),
            ("check shop / cart / is | 200", "failed 1 time of 20")
        );
        let words = thresholds_in_words(&all).unwrap();
        assert_eq!(words, ("2 of 3 thresholds crossed".to_owned(), false));
        assert_eq!(thresholds_in_words(&all[2..]).unwrap(), ("1 threshold kept".to_owned(), true));
        assert_eq!(thresholds_in_words(&all[3..]), None);
        assert_eq!(
            failed_markdown(&all),
            "**Failed:** threshold p(95)&lt;200 of m is crossed: p(95)=312.25ms; threshold avg&lt;1s of m is crossed: no samples.\n\n"
        );
        assert_eq!(failed_markdown(&all[2..]), "", "checks are no reason to fail");
        let many = vec![threshold("avg<1s", None, false); FAILED_SHOWN + 2];
        assert!(failed_markdown(&many).ends_with("; and 2 more.\n\n"));
        assert!(text(&[]).is_empty() && markdown(&[]).is_empty());
        assert!(thresholds_json(&[]).is_none() && checks_json(&[]).is_none());
    }
}
