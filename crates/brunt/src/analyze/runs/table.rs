//! Runs of the store for people, and as JSON.

use serde_json::{Value, json};
use stdx::Nanos;
use store::{Listing, Run};

/// The columns of the list.
const HEAD: [&str; 9] =
    ["ID", "NAME", "COMMAND", "STARTED", "VERDICT", "REQUESTS", "P95", "ERRORS", "LABELS"];
/// Columns of numbers, which stand at the right.
const RIGHT: [usize; 3] = [5, 6, 7];

/// The list as a table.
pub(super) fn table(runs: &[&Run]) -> String {
    let rows: Vec<[String; 9]> =
        [HEAD.map(str::to_owned)].into_iter().chain(runs.iter().map(|run| row(run))).collect();
    let widths: Vec<usize> = (0..HEAD.len())
        .map(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0))
        .collect();
    let line = |row: &[String; 9]| {
        let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, width))| {
            if RIGHT.contains(&at) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

fn row(run: &Run) -> [String; 9] {
    let manifest = &run.manifest;
    let figures = manifest.figures.as_ref().filter(|figures| figures.requests > 0);
    let of = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    [
        manifest.id.clone(),
        manifest.name.clone(),
        manifest.command.clone(),
        started(&manifest.started),
        run.verdict().to_owned(),
        of(figures.map(|figures| figures.requests.to_string())),
        of(figures.map(|figures| Nanos(figures.response_ns.p95).to_string())),
        of(figures.map(|figures| format!("{:.2}%", figures.errors * 100.0))),
        report::terminal_lines(&labels(run)),
    ]
}

/// `2026-11-24 06:15:12Z` of an RFC 3339 time with milliseconds.
fn started(time: &str) -> String {
    let seconds = time.get(..19).unwrap_or(time);
    format!("{}Z", seconds.replace('T', " "))
}

/// Labels, the baseline among them, on one line.
fn labels(run: &Run) -> String {
    let own = run.manifest.labels.iter().map(|(key, value)| format!("{key}={value}"));
    let baseline = run.manifest.baseline.iter().map(|name| format!("[baseline {name}]"));
    own.chain(baseline).collect::<Vec<_>>().join(" ")
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
    value["folder"] = json!(run.folder.display().to_string());
    value
}

/// JSON for people and programs.
pub(super) fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// What is known of a run, a line each.
pub(super) fn facts(run: &Run) -> String {
    let manifest = &run.manifest;
    let git = manifest.git.as_ref().map(|git| {
        let dirty = if git.dirty { ", with changes" } else { "" };
        let branch = if git.branch.is_empty() { "no branch" } else { &git.branch };
        format!("{} ({branch}{dirty})", git.commit)
    });
    let machine = &manifest.machine;
    let cores = stdx::counted(machine.cores as u64, "core");
    let inputs = manifest.inputs.iter();
    let inputs = inputs.map(|input| format!("{} (SHA-256 {}…)", input.path, &input.sha256[..12]));
    let ended = manifest.ended.as_deref().map_or(String::new(), |ended| format!(" to {ended}"));
    let code = manifest.exit_code.map(|code| format!(", exit code {code}")).unwrap_or_default();
    let lines = [
        ("Run", format!("{} ({})", manifest.id, manifest.name)),
        ("Command", format!("brunt {} {}", manifest.command, quoted(&manifest.args))),
        ("Time", format!("{}{ended}", manifest.started)),
        ("Verdict", format!("{}{code}", run.verdict())),
        ("Labels", labels(run)),
        ("Note", manifest.note.clone()),
        ("Commit", git.unwrap_or_default()),
        (
            "Machine",
            format!("{}: {cores}, {}, {}", machine.host, machine.processor, machine.kernel),
        ),
        ("Inputs", inputs.collect::<Vec<_>>().join(", ")),
        ("Folder", run.folder.display().to_string()),
    ];
    let shown = lines.iter().filter(|(_, text)| !text.is_empty());
    shown.map(|(name, text)| format!("{name:<9}{}\n", report::terminal_lines(text))).collect()
}

/// Arguments as a shell reads them.
fn quoted(args: &[String]) -> String {
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "-_=./:,@%+".contains(one);
    let quote = |arg: &String| match !arg.is_empty() && arg.chars().all(is_plain) {
        true => arg.clone(),
        false => format!("'{}'", arg.replace('\'', "'\\''")),
    };
    args.iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use store::{Figures, Manifest, State};

    use super::*;

    #[test]
    fn a_list_is_a_table() {
        let manifest = Manifest {
            id: "20261124-061512-0a1b".to_owned(),
            name: "home".to_owned(),
            command: "attack".to_owned(),
            started: "2026-11-24T06:15:12.345Z".to_owned(),
            state: State::Finished,
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
            lines[1].contains("2026-11-24 06:15:12Z  VALID        1500   0s   1.25%  server=puma")
        );
        assert!(!text.contains('\u{1b}'), "{text:?}");
        assert_eq!(
            quoted(&["-rate=5".into(), "it's".into(), String::new()]),
            "-rate=5 'it'\\''s' ''"
        );
    }
}
