//! `runs`: what its first operand names is done with the runs of the store.

use std::io::{Read as _, Write as _};
use std::path::Path;

use cli::{
    CommandError, CommandResult, ExitCode, ExitError, Invocation, Output, ParsedArgs, eprint_line,
    nearest, usage_error,
};
use jiff::Timestamp;
use session::save::store_failure;
use store::{Filter, Listing, Manifest, Run, Scope, Selector, Store, folder_of};

use super::flags::{RUNS, RunsFlags};
use super::table;
use crate::analyze::stored;

/// What the help says beside the flags.
pub(crate) const ABOUT: &str = "The store has a folder for each run that was saved (-save), with its results, reports and manifest.
RUN is an id, the beginning of one, a name (its newest run), last, best, git:BRANCH, or a name with @N (its N newest).

  list                    the runs, newest first
  show RUN                what is known of a run, and its report
  compare RUN RUN…        as brunt compare, which takes runs as well as files
  label RUN KEY=VALUE…    add labels; KEY= takes one away; -note=TEXT and -name=NAME change those
  export RUN              the run as one file, ID.tar.gz
  import FILE…            add runs that were exported, or files of results (of Vegeta as well)
  rm RUN…                 remove runs
  prune                   remove old runs (-keep=N, -older-than=30d); runs of a baseline stay

Without -store the store is BRUNT_STORE, else .brunt/runs of the project (the closest folder with .brunt or .git),
else the user's own. With BRUNT_SAVE=1 every run is saved.";

/// The operands that say what to do.
const WORDS: [&str; 8] = ["list", "show", "compare", "label", "export", "import", "rm", "prune"];

/// Commands that do part of the work: `compare`, and `report` for a run that was cut off.
#[derive(Clone, Copy)]
pub(crate) struct Others {
    pub(crate) compare: fn(&Invocation) -> Result<ExitCode, CommandError>,
    pub(crate) report: fn(&Invocation) -> Result<ExitCode, CommandError>,
}

/// Does what the first operand names.
pub(crate) fn run(invocation: &Invocation, others: Others) -> Result<ExitCode, CommandError> {
    if invocation.args.first().is_some_and(|word| word == "compare") {
        let args = invocation.args[1..].to_vec();
        return (others.compare)(&Invocation { args, ..invocation.clone() });
    }
    let typed = invocation.parse(RUNS)?;
    let store = Store::at(folder_of(typed.flags.store.as_deref()));
    let operands: Vec<&str> = typed.operands.iter().map(String::as_str).collect();
    match operands[..] {
        ["list" | "ls"] => Ok(list(&store, &typed)?),
        ["show", word] => show(&store, word, (&typed, invocation), others),
        ["label", word, ref labels @ ..] => Ok(label(&store, word, labels, &typed.flags)?),
        ["export", word] => Ok(export(&store, word, &typed.flags)?),
        ["import", _, ..] => import(&store, &operands[1..], &typed.flags),
        ["rm", _, ..] => Ok(remove(&store, &operands[1..])?),
        ["prune"] => prune(&store, &typed.flags),
        ["compare", ..] => Err(usage_error("compare comes first: give brunt runs compare RUN RUN")),
        ["show" | "export" | "label"] => Err(usage_error("which run? (brunt runs list)")),
        ["rm" | "import"] => Err(usage_error("an operand is missing (brunt help runs)")),
        [] => Err(usage_error(format!("an operand is missing (expected {})", WORDS.join(", ")))),
        [word, ..] if WORDS.contains(&word) => {
            Err(usage_error(format!("too many operands of runs {word} (brunt help runs)")))
        }
        [word, ..] => {
            let near = nearest(word, WORDS.into_iter());
            let hint = near.map_or(String::new(), |near| format!(" (did you mean {near}?)"));
            let words = WORDS.join(", ");
            Err(usage_error(format!("unknown operand \"{word}\" (expected {words}){hint}")))
        }
    }
}

/// The runs that the flags select, newest first.
fn selected<'a>(listing: &'a Listing, flags: &RunsFlags) -> Vec<&'a Run> {
    let filter = Filter {
        name: flags.name.clone(),
        command: flags.command.clone(),
        labels: flags.labels.clone(),
        text: flags.search.clone(),
    };
    let max = flags.limit.map_or(usize::MAX, |max| usize::try_from(max).unwrap_or(usize::MAX));
    listing.runs.iter().filter(|run| filter.takes(run)).take(max).collect()
}

fn list(store: &Store, typed: &ParsedArgs<RunsFlags>) -> CommandResult {
    let listing = store.list().map_err(store_failure)?;
    let runs = selected(&listing, &typed.flags);
    let place = store.folder().display().to_string();
    if typed.flags.json {
        let text = table::list_json(&runs, &listing, &place);
        Output::Stdout.write(text.as_bytes())?;
        return Ok(ExitCode::Ok);
    }
    for problem in &listing.problems {
        eprint_line(&format!("brunt runs: {}", problem.error));
    }
    if runs.is_empty() {
        let words = if listing.runs.is_empty() {
            "no run is saved (brunt attack -save=NAME saves one)"
        } else {
            "no run is like that"
        };
        eprint_line(&format!("{place}: {words}"));
        return Ok(ExitCode::Ok);
    }
    Output::Stdout.write(table::table(&runs).as_bytes())?;
    Ok(ExitCode::Ok)
}

/// The one run that a word stands for.
fn find(store: &Store, word: &str) -> Result<Run, ExitError> {
    let selector = Selector::parse(word);
    if matches!(selector, Selector::Newest(_, 2..)) {
        let text = format!("\"{word}\" stands for several runs: name one of them");
        return Err(ExitError::new(ExitCode::Usage, text));
    }
    selector.find_one(store).map_err(store_failure)
}

/// All runs that a word stands for.
fn find_all(store: &Store, word: &str) -> Result<Vec<Run>, ExitError> {
    match Selector::parse(word) {
        several @ Selector::Newest(_, 2..) => {
            several.find(store, &Scope::default()).map_err(store_failure)
        }
        _ => find(store, word).map(|run| vec![run]),
    }
}

fn show(
    store: &Store,
    word: &str,
    (typed, invocation): (&ParsedArgs<RunsFlags>, &Invocation),
    others: Others,
) -> Result<ExitCode, CommandError> {
    let run = find(store, word)?;
    if typed.flags.json {
        let text = table::pretty(&table::run_json(&run));
        Output::Stdout.write(stdx::redacted_json(&text).unwrap_or(text).as_bytes())?;
        return Ok(ExitCode::Ok);
    }
    Output::Stdout.write(format!("{}\n", table::fact_lines(&run)).as_bytes())?;
    if let Some(text) = run.document("report.txt").map_err(store_failure)? {
        // It may have come from elsewhere.
        let text = report::terminal_lines(&redacted(&String::from_utf8_lossy(&text)));
        Output::Stdout.write(text.as_bytes())?;
        return Ok(ExitCode::Ok);
    }
    // A run that was cut off has its results, or their beginning.
    match run.results().map_err(store_failure)?.filter(|path| path.exists()) {
        None => Ok(ExitCode::Ok),
        Some(path) => {
            let args = vec![path.display().to_string()];
            (others.report)(&Invocation { args, ..invocation.clone() })
        }
    }
}

/// The lines of a stored report without what is to be redacted now, whatever was when it was written.
fn redacted(text: &str) -> String {
    let line = |line| stdx::redacted_message(line).unwrap_or_else(|| line.to_owned());
    text.split_inclusive('\n').map(line).collect()
}

fn label(store: &Store, word: &str, labels: &[&str], flags: &RunsFlags) -> CommandResult {
    let wrong = |text: &&&str| !text.contains('=') || text.starts_with('=');
    if let Some(text) = labels.iter().find(wrong) {
        let text = format!("\"{text}\" is not KEY=VALUE (KEY= takes a label away)");
        return Err(ExitError::new(ExitCode::Usage, text));
    }
    if labels.is_empty() && flags.note.is_none() && flags.name.is_none() {
        let text = "nothing to change (give KEY=VALUE, -note=TEXT or -name=NAME)";
        return Err(ExitError::new(ExitCode::Usage, text));
    }
    let id = find(store, word)?.manifest.id;
    let changed = store.change(&id, |manifest| {
        for (key, value) in labels.iter().filter_map(|label| label.split_once('=')) {
            match value {
                "" => manifest.labels.remove(key),
                value => manifest.labels.insert(key.to_owned(), value.to_owned()),
            };
        }
        if let Some(note) = &flags.note {
            manifest.note.clone_from(note);
        }
        if let Some(name) = &flags.name {
            manifest.name.clone_from(name);
        }
    });
    let run = changed.map_err(store_failure)?;
    Output::Stdout.write(table::fact_lines(&run).as_bytes())?;
    Ok(ExitCode::Ok)
}

fn export(store: &Store, word: &str, flags: &RunsFlags) -> CommandResult {
    let run = find(store, word)?;
    let own = format!("{}.tar.gz", run.manifest.id);
    let output = Output::named(Some(flags.output.as_deref().unwrap_or(&own)));
    check_archive_name(&output)?;
    if let Output::File(path) = &output
        && run.is_under_way
    {
        let text = format!("run {} is under way, and {path} would be half of it", run.manifest.id);
        return Err(ExitError::new(ExitCode::Usage, text));
    }
    let path = output.to_string();
    let unwritten = |error: std::io::Error| output.unwritten(&error);
    if let Some(mut archive) = output.replacement()? {
        run.export(Path::new(&path), &mut archive).map_err(store_failure)?;
        archive.publish().map_err(unwritten)?;
    } else {
        let mut sink = output.open()?;
        run.export(Path::new(&path), &mut sink).map_err(store_failure)?;
        sink.flush().map_err(unwritten)?;
    }
    eprint_line(&format!("run {} is in {output}", run.manifest.id));
    Ok(ExitCode::Ok)
}

/// An archive has an ending that says so, or none.
fn check_archive_name(output: &Output) -> Result<(), ExitError> {
    let Output::File(path) = output else { return Ok(()) };
    let lower = path.to_ascii_lowercase();
    let is_plain = std::fs::metadata(path).map_or(true, |meta| meta.is_file());
    let ending = Path::new(path).extension();
    if !is_plain || ending.is_none() || lower.ends_with(".tar.gz") || lower.ends_with(".tgz") {
        return Ok(());
    }
    let text =
        format!("flag -output: \"{path}\" does not end in .tar.gz, which a run is exported as");
    Err(ExitError::new(ExitCode::Usage, text))
}

fn import(store: &Store, paths: &[&str], flags: &RunsFlags) -> Result<ExitCode, CommandError> {
    for path in paths {
        let run = if is_archive(path) {
            store.import(Path::new(path)).map_err(store_failure)?
        } else {
            let name = flags.name.clone().map_or_else(|| stored::name_of(path), Ok)?;
            stored::add_results(store, path, &name)?
        };
        eprint_line(&format!("{path} is run {} ({})", run.manifest.id, run.manifest.name));
    }
    Ok(ExitCode::Ok)
}

/// Whether a file is a `.tar.gz`, and no results that are compressed. One that breaks off before its first name was none of ours.
fn is_archive(path: &str) -> bool {
    let Ok(file) = std::fs::File::open(path) else { return false };
    let mut head = Vec::new();
    let read = stdx::decompressed(file).take(TAR_HEAD).read_to_end(&mut head);
    head.get(TAR_MARK).map_or(read.is_err(), |mark| mark == b"ustar")
}

/// The head of a tar archive, and its mark (POSIX, pax: ustar interchange format).
const TAR_HEAD: u64 = 512;
const TAR_MARK: std::ops::Range<usize> = 257..262;

fn remove(store: &Store, words: &[&str]) -> CommandResult {
    // All are found before the first one goes.
    let runs = words.iter().map(|word| find_all(store, word)).collect::<Result<Vec<_>, _>>()?;
    for run in runs.into_iter().flatten() {
        store.remove(&run).map_err(store_failure)?;
        let Manifest { id, name, baseline, .. } = &run.manifest;
        let of = baseline.as_ref().map(|baseline| format!(", a run of the baseline {baseline}"));
        eprint_line(&format!("removed run {id} ({name}){}", of.unwrap_or_default()));
    }
    Ok(ExitCode::Ok)
}

fn prune(store: &Store, flags: &RunsFlags) -> Result<ExitCode, CommandError> {
    if flags.keep.is_none() && flags.older.is_none() {
        return Err(usage_error("which runs? (give -keep=N or -older-than=30d)"));
    }
    let listing = store.list().map_err(store_failure)?;
    let runs = selected(&listing, &RunsFlags { limit: None, ..flags.clone() });
    let now = Timestamp::now();
    let gone = outdated(&runs, flags, now);
    for run in &gone {
        let word = if flags.dry_run { "would remove" } else { "removed" };
        if !flags.dry_run {
            store.remove(run).map_err(store_failure)?;
        }
        let manifest = &run.manifest;
        eprint_line(&format!("{word} run {} ({})", manifest.id, manifest.name));
    }
    let swept = if flags.dry_run || listing.runs.is_empty() { 0 } else { sweep(store)? };
    if gone.is_empty() && swept == 0 {
        eprint_line("nothing to remove");
    }
    Ok(ExitCode::Ok)
}

fn sweep(store: &Store) -> Result<usize, ExitError> {
    let swept = store.sweep().map_err(store_failure)?;
    if swept > 0 {
        let folders = stdx::counted(swept as u64, "folder");
        eprint_line(&format!("removed {folders} that killed processes left"));
    }
    Ok(swept)
}

/// The runs that go: neither under way, nor of a baseline, nor among the newest of their name that stay, and old enough.
fn outdated<'a>(runs: &[&'a Run], flags: &RunsFlags, now: Timestamp) -> Vec<&'a Run> {
    let mut seen: std::collections::HashMap<&str, u64> = std::collections::HashMap::new();
    let mut gone = Vec::new();
    for run in runs {
        let newer = seen.entry(&run.manifest.name).or_default();
        let is_beyond = flags.keep.is_none_or(|keep| *newer >= keep);
        *newer += 1;
        let began: Option<Timestamp> = run.manifest.started.parse().ok();
        let age = began.map_or(0, |began| now.as_second().saturating_sub(began.as_second()));
        let is_old = flags.older.is_none_or(|older| age as f64 > older.as_secs_f64());
        if is_beyond && is_old && !run.is_under_way && run.manifest.baseline.is_none() {
            gone.push(*run);
        }
    }
    gone
}

#[cfg(test)]
mod tests {
    use store::Manifest;

    use super::*;

    fn run(name: &str, hour: u32, baseline: Option<&str>) -> Run {
        let manifest = Manifest {
            name: name.to_owned(),
            started: format!("2026-11-24T{hour:02}:00:00.000Z"),
            baseline: baseline.map(str::to_owned),
            ..Manifest::default()
        };
        Run { manifest, folder: "/x".into(), is_under_way: false }
    }

    #[test]
    fn what_is_pruned_is_old_and_beyond_those_that_stay() {
        let runs = [run("a", 10, None), run("b", 9, None), run("a", 8, None), run("a", 7, None)];
        let runs: Vec<&Run> = runs.iter().collect();
        let now = "2026-11-24T12:00:00Z".parse().unwrap();
        let hours = |keep, older: Option<u64>| {
            let older = older.map(|hours| stdx::Nanos::from_secs(hours * 3600));
            let flags = RunsFlags { keep, older, ..RunsFlags::default() };
            let gone = outdated(&runs, &flags, now);
            gone.iter().map(|run| run.manifest.started[11..13].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(hours(Some(1), None), ["08", "07"]);
        assert_eq!(hours(None, Some(3)), ["08", "07"], "nine o'clock is three hours ago, not more");
        assert_eq!(hours(Some(2), Some(1)), ["07"]);
        let marked = [run("a", 7, Some("main"))];
        let flags = RunsFlags { keep: Some(0), ..RunsFlags::default() };
        assert!(outdated(&[&marked[0]], &flags, now).is_empty(), "a baseline stays");
    }
}
