//! The table by target that every report has where there is more than one: the worst first, by the share of failures and then by
//! the 95th percentile, and no more rows than one look takes in. `-by` has all rows, in the order they were first seen.

use metrics::{Group, OTHER};

use crate::columns::Columns;
use crate::figure::shortened;
use crate::number::{duration, grouped, number};
use crate::object::{Object, json_list};
use crate::{Input, escape, page};

/// Rows, at most; the rest is counted.
const ROWS_MAX: usize = 10;
/// Characters of a target in a table; more are cut.
const NAME_MAX: usize = 120;
/// The columns after the target.
const HEADS: [&str; 6] = ["requests", "failures", "rate", "p50", "p95", "p99"];
/// Reasons of a target's failures in its row; the rest is counted.
const REASONS_SHOWN: usize = 3;

/// The rows of the table.
struct Table<'a> {
    rows: Vec<(&'a str, &'a Group)>,
    more: More,
    /// The reasons of failures have a column.
    has_failures: bool,
    /// Requests a second of the run for each request of it.
    rate: f64,
}

/// The targets that have no row.
#[derive(Clone, Copy)]
struct More {
    count: usize,
    /// There were more of them than were counted one by one.
    is_least: bool,
}

impl<'a> Table<'a> {
    /// `None` where there is one target, or none is known, or the report has a table of them all.
    fn of(input: &Input<'a>) -> Option<Self> {
        let all = input.by_target?.list();
        let is_least = all.iter().any(|(key, _)| key == OTHER);
        let named = all.iter().filter(|(key, _)| key != OTHER);
        let mut rows: Vec<(&str, &Group)> =
            named.map(|(key, group)| (key.as_str(), group)).collect();
        if rows.len() < 2 {
            return None;
        }
        rows.sort_by(|a, b| {
            let worst = failed(b.1).total_cmp(&failed(a.1));
            worst.then_with(|| p95(b.1).cmp(&p95(a.1))).then_with(|| a.0.cmp(b.0))
        });
        let more = More { count: rows.len().saturating_sub(ROWS_MAX), is_least };
        rows.truncate(ROWS_MAX);
        let rate = input.summary.rate() / input.summary.requests.max(1) as f64;
        let has_failures = rows.iter().any(|row| row.1.hits > row.1.successes);
        Some(Self { rows, more, has_failures, rate })
    }

    fn heads(&self) -> impl Iterator<Item = &'static str> {
        HEADS.into_iter().chain(self.has_failures.then_some("failed by"))
    }

    fn cells(&self, (name, group): &(&str, &Group)) -> Vec<String> {
        let failures = match group.hits - group.successes {
            0 => "0".to_owned(),
            count => format!("{} ({:.2}%)", grouped(count), failed(group) * 100.0),
        };
        let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|q| duration(group.response.quantile(q)));
        let rate = format!("{}/s", number(group.hits as f64 * self.rate));
        let mut cells =
            vec![shortened(name, NAME_MAX), grouped(group.hits), failures, rate, p50, p95, p99];
        cells.extend(self.has_failures.then(|| reasons(group)));
        cells
    }

    /// `and 14 more, none worse`; `None` where all have a row.
    fn more(&self) -> Option<String> {
        let count = grouped(self.more.count as u64);
        match (self.more.count, self.more.is_least) {
            (0, false) => None,
            (_, false) => Some(format!("and {count} more, none worse")),
            // Those that were not counted one by one may be.
            (_, true) => Some(format!("and more than {count} more")),
        }
    }
}

/// `status 500: 45, timed out: 3`, the most frequent first.
fn reasons(group: &Group) -> String {
    let all = group.failures.most_frequent();
    let shown = all.iter().take(REASONS_SHOWN);
    let mut words: Vec<String> =
        shown.map(|(why, hits)| format!("{}: {}", why.in_words(), grouped(*hits))).collect();
    let hidden = all.iter().skip(REASONS_SHOWN).map(|(_, hits)| hits).sum::<u64>();
    match hidden + group.failures.more() {
        0 => {}
        rest => words.push(format!("other: {}", grouped(rest))),
    }
    words.join(", ")
}

/// `{"500":45,"timeout":3}`, the most frequent first; `other` where there are more than are counted one by one.
pub(crate) fn json_reasons(group: &Group) -> String {
    let all = group.failures.most_frequent();
    let object =
        all.iter().fold(Object::new(), |object, (why, hits)| object.number(&why.key(), *hits));
    match group.failures.more() {
        0 => object.end(),
        more => object.number("other", more).end(),
    }
}

fn failed(group: &Group) -> f64 {
    (group.hits - group.successes) as f64 / group.hits.max(1) as f64
}

fn p95(group: &Group) -> stdx::Nanos {
    group.response.quantile(0.95)
}

/// A block of a text.
pub(crate) fn text(input: &Input<'_>) -> String {
    let Some(table) = Table::of(input) else { return String::new() };
    let mut columns = Columns::default().right(&[1, 2, 3, 4, 5, 6]);
    columns.add(["Target"].into_iter().chain(table.heads()).map(str::to_owned).collect());
    for row in &table.rows {
        let cells = table.cells(row).into_iter().filter(|cell| !cell.is_empty());
        columns.add(cells.map(|cell| escape::terminal(&cell)).collect());
    }
    let more = table.more().map_or(String::new(), |more| more + "\n");
    format!("\n{}{more}", columns.lines())
}

/// A table of a page.
pub(crate) fn html(out: &mut String, input: &Input<'_>) {
    let Some(table) = Table::of(input) else { return };
    let mut rows: Vec<Vec<String>> = table.rows.iter().map(|row| table.cells(row)).collect();
    rows.extend(table.more().map(|more| vec![more]));
    let heads: Vec<&str> = [""].into_iter().chain(table.heads()).collect();
    page::table(out, "By target, the worst first", &heads, &rows, 0);
}

/// A table of Markdown.
pub(crate) fn markdown(input: &Input<'_>) -> String {
    let Some(table) = Table::of(input) else { return String::new() };
    let heads: Vec<&str> = table.heads().collect();
    let reasons = if table.has_failures { "---|" } else { "" };
    let mut out =
        format!("\n| target | {} |\n|---|{}{reasons}\n", heads.join(" | "), "---:|".repeat(6));
    for row in &table.rows {
        let cells: Vec<String> =
            table.cells(row).iter().map(|cell| escape::markdown(cell)).collect();
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    out + &table.more().map_or(String::new(), |more| format!("\n{more}\n"))
}

/// `{"rows":[{"target":"GET http://h/","requests":5,…}],"more":0}`; `None` where there is no table.
pub(crate) fn json(input: &Input<'_>) -> Option<String> {
    let table = Table::of(input)?;
    let row = |(name, group): &(&str, &Group)| {
        let quantile = |q| group.response.quantile(q).0;
        Object::new()
            .text("target", name)
            .number("requests", group.hits)
            .number("failures", group.hits - group.successes)
            .put("failed_by", json_reasons(group))
            .float("rate", group.hits as f64 * table.rate)
            .number("p50", quantile(0.5))
            .number("p95", quantile(0.95))
            .number("p99", quantile(0.99))
            .end()
    };
    let rows = json_list(table.rows.iter().map(row));
    Some(Object::new().put("rows", rows).number("more", table.more.count as u64).end())
}

#[cfg(test)]
mod tests {
    use metrics::{Batch, Groups, NO_TARGET, Sample, Summary, TargetTable, Verdict};
    use stdx::Nanos;

    use super::*;

    /// Rows of `count` targets, of which the last fails half of its requests and the last but one is slow.
    fn rows(count: u64) -> (Summary, Groups) {
        let (mut summary, mut groups) = (Summary::new(), Groups::by_request());
        for n in 0..4 * count {
            let mut batch = Batch::default();
            let target = n % count;
            let line = batch.add_text(format!("GET http://me:pw1234@h/|{target}").as_bytes());
            let status = if target == count - 1 && n >= 2 * count { 500 } else { 200 };
            let done = Nanos(if target + 2 == count { 90_000_000 } else { 1_000_000 });
            let intended = Nanos(n * 10_000_000);
            batch.samples.push(Sample {
                target: NO_TARGET,
                line,
                outcome: metrics::Outcome::http(status),
                intended,
                done: Nanos(intended.0 + done.0),
                ..Sample::default()
            });
            summary.add(&batch);
            groups.add(&batch, &TargetTable::default());
        }
        (summary, groups)
    }

    fn check(count: u64, by: impl Fn(&Input<'_>)) {
        let ((summary, groups), verdict) = (rows(count), Verdict::default());
        by(&Input {
            title: "",
            summary: &summary,
            verdict: &verdict,
            generator: None,
            losses: &[],
            groups: None,
            by_target: Some(&groups),
            attacked: None,
            timeline: None,
            traffic: None,
            buckets: None,
            server: None,
            selected: "",
            parts: &[],
            assertions: &[],
        });
    }

    #[test]
    fn the_worst_come_first_and_no_more_than_ten() {
        check(13, |input| {
            let text = text(input);
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines.len(), 1 + 1 + ROWS_MAX + 1, "{text}");
            let start = "Target                   requests    failures     rate   p50   p95   p99  failed by";
            assert!(lines[1].starts_with(start), "{text}");
            assert!(
                lines[2]
                    .starts_with("GET http://me:***@h/|12         4  2 (50.00%)  7.843/s   1ms"),
                "{text}"
            );
            assert!(
                lines[3].starts_with("GET http://me:***@h/|11         4           0"),
                "{text}"
            );
            assert!(lines[3].contains("90ms"), "{text}");
            assert_eq!(lines[12], "and 3 more, none worse");
            assert!(lines[2].ends_with("1ms  status 500: 2"), "{text}");
            let row = "\\@h/\\|12 | 4 | 2 (50.00%) | 7.843/s | 1ms | 1ms | 1ms | status 500: 2 |\n";
            assert!(markdown(input).contains(row), "{}", markdown(input));
            let mut page = String::new();
            html(&mut page, input);
            assert!(page.contains("By target, the worst first") && page.contains("and 3 more"));
            let json: serde_json::Value = serde_json::from_str(&json(input).unwrap()).unwrap();
            assert_eq!(json["rows"].as_array().unwrap().len(), ROWS_MAX);
            assert_eq!(json["rows"][0]["failed_by"]["500"], 2);
            assert_eq!((&json["rows"][0]["failures"], &json["more"]), (&2.into(), &3.into()));
        });
    }

    #[test]
    fn one_target_has_no_table_and_very_many_are_at_least_so_many() {
        check(1, |input| assert_eq!((text(input), json(input)), (String::new(), None)));
        check(2, |input| assert!(!text(input).contains("more"), "{}", text(input)));
        check(300, |input| assert!(text(input).ends_with("\nand more than 190 more\n")));
    }
}
