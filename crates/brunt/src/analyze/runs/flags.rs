//! The flags of `runs`.

use cli::{Flag, ValueError, ValueKind, switch, text, value};
use session::save::read_label;
use stdx::Nanos;

/// The flags of `runs` as typed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RunsFlags {
    /// The folder of the store.
    pub(crate) store: Option<String>,
    pub(crate) json: bool,
    /// Only runs of this name; for `label` and `import` the new name.
    pub(crate) name: Option<String>,
    /// Only runs of this command.
    pub(crate) command: Option<String>,
    /// Only runs with these labels.
    pub(crate) labels: Vec<(String, String)>,
    /// Only runs in which this text occurs.
    pub(crate) search: Option<String>,
    /// At most so many.
    pub(crate) limit: Option<u64>,
    /// What people note of a run.
    pub(crate) note: Option<String>,
    /// The file of an export.
    pub(crate) output: Option<String>,
    /// `prune`: the newest runs of each name that stay.
    pub(crate) keep: Option<u64>,
    /// `prune`: the age from which runs go.
    pub(crate) older: Option<Nanos>,
    /// `prune`: say what would go.
    pub(crate) dry_run: bool,
}

/// The flags of `runs`.
pub(crate) const RUNS: &[Flag<RunsFlags>] = &[
    text!(
        RunsFlags,
        "store",
        "DIR",
        "Folder of the store of runs; by default the project's .brunt/runs.",
        store
    )
    .native(),
    switch!(RunsFlags, "json", "list, show: print JSON.", json).native(),
    text!(
        RunsFlags,
        "name",
        "NAME",
        "list, prune: runs of this name; label, import: the new name.",
        name
    )
    .native(),
    text!(RunsFlags, "command", "COMMAND", "list, prune: runs of this command.", command).native(),
    Flag::new(
        "label",
        ValueKind::Text("KEY=VALUE"),
        "",
        "list, prune: runs with this label. May be repeated.",
        |t: &mut RunsFlags, v| read_label(v).map(|label| t.labels.push(label)),
    )
    .native(),
    text!(
        RunsFlags,
        "search",
        "TEXT",
        "list: runs with this text in name, command line, targets, labels, note, result or conclusion.",
        search
    )
    .native(),
    Flag::new(
        "n",
        ValueKind::Text("N"),
        "all",
        "list: so many runs at most, the newest.",
        |t: &mut RunsFlags, v| value::number(v).map(|count| t.limit = Some(count)),
    )
    .native(),
    text!(RunsFlags, "note", "TEXT", "label: a note on the run.", note).native(),
    text!(
        RunsFlags,
        "output",
        "FILE",
        "export: the file; ID.tar.gz by default, - for standard output.",
        output
    )
    .also(&["o"])
    .native(),
    Flag::new(
        "keep",
        ValueKind::Text("N"),
        "",
        "prune: the newest runs of each name that stay.",
        |t: &mut RunsFlags, v| value::number(v).map(|count| t.keep = Some(count)),
    )
    .native(),
    Flag::new(
        "older-than",
        ValueKind::Text("TIME"),
        "",
        "prune: remove runs that are older, such as 30d or 12h.",
        |t: &mut RunsFlags, v| age(v).map(|age| t.older = Some(age)),
    )
    .native(),
    switch!(RunsFlags, "dry-run", "prune: say what would be removed, and remove nothing.", dry_run)
        .native(),
];

/// A Go duration, or days.
fn age(text: &str) -> Result<Nanos, ValueError> {
    const DAY: u64 = 24 * 3600;
    match text.strip_suffix('d').and_then(|days| days.parse::<u32>().ok()) {
        Some(days) => Ok(Nanos::from_secs(u64::from(days) * DAY)),
        None => value::duration(text),
    }
}
