//! Runs of the store for people, and as JSON.

use serde_json::{Value, json};
use stdx::Nanos;
use store::{Listing, Run};

use crate::analyze::run_facts::{attacked, facts, labels, shortened, started};

/// The columns of the list.
const HEAD: [&str; 11] = [
    "ID", "NAME", "COMMAND", "STARTED", "ATTACKED", "SERVER", "VERDICT", "REQUESTS", "P95",
    "ERRORS", "LABELS",
];
/// Columns of numbers, which stand at the right.
const RIGHT: [usize; 3] = [7, 8, 9];
/// Characters of what was attacked; more are cut.
const ATTACKED_MAX: usize = 50;
/// Characters of the server's result; more are cut.
const SERVER_MAX: usize = 60;

/// The list as a table.
pub(super) fn table(runs: &[&Run]) -> String {
    let rows: Vec<[String; 11]> =
        [HEAD.map(str::to_owned)].into_iter().chain(runs.iter().map(|run| row(run))).collect();
    let widths: Vec<usize> = (0..HEAD.len())
        .map(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0))
        .collect();
    let line = |row: &[String; 11]| {
        let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, width))| {
            if RIGHT.contains(&at) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

fn row(run: &Run) -> [String; 11] {
    let manifest = &run.manifest;
    let figures = manifest.figures.as_ref().filter(|figures| figures.requests > 0);
    let of = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    [
        manifest.id.clone(),
        manifest.name.clone(),
        manifest.command.clone(),
        started(&manifest.started),
        of(attacked(run).map(|attacked| shortened(&attacked, ATTACKED_MAX))),
        of(manifest.server.as_ref().map(|server| shortened(&server.result, SERVER_MAX))),
        verdict(run),
        of(figures.map(|figures| figures.requests.to_string())),
        of(figures.map(|figures| Nanos(figures.response_ns.p95).to_three_digits().to_string())),
        of(figures.map(|figures| format!("{:.2}%", figures.errors * 100.0))),
        labels(run),
    ]
    // A manifest may come from elsewhere; a line break of its would look like another run.
    .map(|cell| stdx::terminal_line(&cell))
}

/// The verdict, and the code of a command that ended with another than 0: a threshold or a gate was crossed.
fn verdict(run: &Run) -> String {
    let code = run.manifest.exit_code.filter(|code| *code != 0);
    let code = code.map(|code| format!(" (exit {code})"));
    format!("{}{}", run.verdict(), code.unwrap_or_default())
}

/// The list as JSON: `runs`, newest first, and the folders that cannot be read.
pub(super) fn list_json(runs: &[&Run], listing: &Listing, store: &str) -> String {
    let problems = listing.problems.iter();
    let problems = problems.map(|one| json!({ "id": one.id, "error": one.error.to_string() }));
    let document = json!({
        "store": store,
        "runs": runs.iter().map(|run| entry_json(run)).collect::<Vec<_>>(),
        "problems": problems.collect::<Vec<_>>(),
    });
    pretty(&document)
}

/// A run in a list of JSON; `show` has all that is known of it.
fn entry_json(run: &Run) -> Value {
    let manifest = &run.manifest;
    json!({
        "id": manifest.id,
        "name": manifest.name,
        "command": manifest.command,
        "attacked": attacked(run),
        "server": manifest.server,
        "verdict": run.verdict(),
        "started": manifest.started,
        "ended": manifest.ended,
        "exit_code": manifest.exit_code,
        "conclusion": manifest.conclusion.first(),
        "labels": manifest.labels,
        "note": manifest.note,
        "baseline": manifest.baseline,
        "git": manifest.git,
        "figures": manifest.figures,
        "folder": run.folder.display().to_string(),
    })
}

/// A run as JSON: its manifest, with the verdict that a list shows.
pub(super) fn run_json(run: &Run) -> Value {
    let mut value = serde_json::to_value(&run.manifest).unwrap_or_default();
    value["verdict"] = json!(run.verdict());
    // They may have been kept without what is redacted now.
    value["attacked"] = json!(attacked(run));
    value["args"] = json!(store::without_secrets(&run.manifest.args));
    value["folder"] = json!(run.folder.display().to_string());
    value
}

/// What is known of a run, a line each.
pub(super) fn fact_lines(run: &Run) -> String {
    let line =
        |(name, text): (&str, String)| format!("{name:<9}{}\n", report::terminal_lines(&text));
    facts(run).into_iter().map(line).collect()
}

/// JSON for people and programs. Control characters that JSON may have as they are (those of Latin-1, which steer terminals
/// too) are escaped.
pub(super) fn pretty(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default() + "\n";
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{7f}'..='\u{9f}' => escaped.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use store::{Figures, Manifest, ServerResult, State};

    use super::*;

    #[test]
    fn a_list_is_a_table() {
        let manifest = Manifest {
            id: "20261124-061512-0a1b".to_owned(),
            name: "home".to_owned(),
            command: "attack".to_owned(),
            started: "2026-11-24T06:15:12.345Z".to_owned(),
            state: State::Finished,
            attacked: Some(format!("GET http://h/{}", "y".repeat(50))),
            server: Some(ServerResult { outcome: "failing".to_owned(), result: "x".repeat(61) }),
            verdict: Some("VALID".to_owned()),
            labels: [("server".to_owned(), "puma\u{1b}[2J".to_owned())].into(),
            figures: Some(Figures { requests: 1500, errors: 0.0125, ..Figures::default() }),
            ..Manifest::default()
        };
        let run = Run { manifest, folder: "/x".into(), is_under_way: false };
        let text = table(&[&run]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("ID                    NAME  COMMAND  STARTED"));
        assert!(
            lines[1].contains("2026-11-24 06:15:12Z  GET http://h/yyy")
                && lines[1].contains("yy…  xxx")
                && lines[1].contains("xx…  VALID        1500   0s   1.25%  server=puma"),
            "{text}"
        );
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }

    /// Names, ids and times were written as the manifest had them.
    #[test]
    fn issue_19_nothing_of_a_manifest_steers_the_terminal() {
        let hostile = || "\u{1b}[2Jx\n\u{9b}2J".to_owned();
        let manifest = Manifest {
            id: hostile(),
            name: hostile(),
            command: hostile(),
            started: hostile(),
            attacked: Some(hostile()),
            server: Some(ServerResult { outcome: hostile(), result: hostile() }),
            verdict: Some(hostile()),
            state: State::Finished,
            labels: [(hostile(), hostile())].into(),
            inputs: vec![store::Input { path: hostile(), sha256: "é".to_owned() }],
            ..Manifest::default()
        };
        let run = Run { manifest, folder: "/x".into(), is_under_way: false };
        let list = table(&[&run]);
        assert_eq!(list.lines().count(), 2, "{list:?}");
        for text in [list, fact_lines(&run), pretty(&run_json(&run))] {
            assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
        }
        let json: Value = serde_json::from_str(&pretty(&run_json(&run))).unwrap();
        assert_eq!(json["name"], hostile(), "a program reads what the manifest has");
    }
}
