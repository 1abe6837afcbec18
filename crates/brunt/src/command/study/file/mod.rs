//! The file of a study, read and checked as a whole: whatever is wrong in it is told at once, with its line. Nothing is looked
//! up or started here.

mod check;
mod sheet;
#[cfg(test)]
mod tests;
mod words;

use std::time::Duration;

use nix::sys::signal::Signal;
use stdx::Nanos;
use study::plan::{Cell, Ordering};
use toml::de::{DeTable, DeValue};

pub(super) use sheet::{PROBLEMS_MAX, Problem};
pub(super) use words::Filling;

use self::sheet::{Placed, Sheet, Table};
use super::command_lines::CommandLines;
use super::ready::Ready;
use super::workload::Family;

/// Repeats, at most: as many as are compared.
const REPEATS_MAX: u64 = study::contrast::RUNS_MAX as u64;
/// Load generators of one run, at most.
const GENERATORS_MAX: u64 = 64;
/// How long servers may take to get ready, unless the file says otherwise.
const WITHIN: Nanos = Nanos::from_secs(20);

/// A study as it is meant.
#[derive(Clone, Debug)]
pub(super) struct Study {
    pub(super) name: String,
    pub(super) title: String,
    /// Decides the order of runs.
    pub(super) seed: u64,
    pub(super) times: Times,
    pub(super) monitor: Option<Monitor>,
    pub(super) variants: Vec<Variant>,
    pub(super) workloads: Vec<Workload>,
    /// Names of workloads that are not part of the short form, where that is meant.
    pub(super) skipped: Vec<String>,
    /// Every key that decides what is run, with its value: what must be the same for runs to be of one study.
    pub(super) facts: Vec<(String, String)>,
}

/// How often, and how long around each run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) repeats: usize,
    pub(super) warm_up: Nanos,
    pub(super) cool_down: Nanos,
}

/// What is watched beside each run.
#[derive(Clone, Debug)]
pub(super) struct Monitor {
    pub(super) every: Nanos,
    pub(super) scrape: Vec<String>,
    /// `KIND:PATH` each.
    pub(super) logs: Vec<String>,
}

/// A set-up that is compared.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    pub(super) name: String,
    pub(super) note: String,
    pub(super) requires: Vec<Requirement>,
    /// Where something required is missing, it is left out.
    pub(super) optional: bool,
    pub(super) values: Vec<(String, String)>,
    pub(super) before: Vec<Vec<String>>,
    pub(super) after: Vec<Vec<String>>,
    pub(super) generators: usize,
    pub(super) prefix: Vec<String>,
    pub(super) servers: Vec<ServerPlan>,
}

/// What a variant cannot be run without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Requirement {
    pub(super) what: Required,
    /// How to get it; may be empty.
    pub(super) install: String,
}

/// A thing required.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Required {
    /// A program in the PATH, or by its path.
    Command(String),
    /// A file or folder.
    File(String),
}

/// How a server is started and stopped.
#[derive(Clone, Debug)]
pub(super) struct ServerPlan {
    pub(super) name: String,
    pub(super) command: Vec<String>,
    pub(super) folder: String,
    pub(super) environment: Vec<(String, String)>,
    /// `None`: it is taken for ready once it was started.
    pub(super) ready: Option<String>,
    pub(super) within: Duration,
    pub(super) stop: Signal,
    pub(super) version: Vec<String>,
}

/// What is offered.
#[derive(Clone, Debug)]
pub(super) struct Workload {
    pub(super) name: String,
    /// brunt's arguments, without the output flag.
    pub(super) command: Vec<String>,
    pub(super) family: Family,
    /// How often, where it is not as often as the study's other workloads.
    repeats: Option<usize>,
    /// Names of variants; empty for all.
    pub(super) only: Vec<String>,
    /// Its variants are one set-up under several loads: a model is fitted to them.
    pub(super) fit: bool,
    pub(super) expect: Vec<Ordering>,
    form: Form,
}

/// The forms of a study that a workload is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Both.
    Both,
    /// The full one alone: its `quick` is empty.
    FullOnly,
}

/// Whether the short form is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// As `[study]` says.
    Full,
    /// As `[study.quick]` and the workloads' `quick` say.
    Quick,
}

impl Workload {
    /// It is run for this variant.
    #[must_use]
    pub(super) fn is_for(&self, variant: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == variant)
    }
}

impl Study {
    /// All that is run in each repeat, without the variants at these places.
    #[must_use]
    pub(super) fn cells(&self, left_out: &[usize]) -> Vec<Cell> {
        let of = |workload: usize| {
            let variants = self.variants.iter().enumerate();
            variants
                .filter(move |(at, variant)| {
                    !left_out.contains(at) && self.workloads[workload].is_for(&variant.name)
                })
                .map(move |(variant, _)| Cell { workload, variant })
        };
        (0..self.workloads.len()).flat_map(of).collect()
    }

    /// The same, each with its repeats.
    #[must_use]
    pub(super) fn repeated(&self, left_out: &[usize]) -> Vec<(Cell, usize)> {
        let repeats = |cell: &Cell| self.workloads[cell.workload].repeats;
        let of = |cell: Cell| (cell, repeats(&cell).unwrap_or(self.times.repeats));
        self.cells(left_out).into_iter().map(of).collect()
    }
}

/// Reads a study.
///
/// # Errors
/// Everything that is wrong in it, by line.
pub(super) fn read(text: &str, mode: Mode, lines: &CommandLines) -> Result<Study, Vec<Problem>> {
    let sheet = Sheet::new(text);
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let at = error.span().map_or(0, |span| span.start);
        sheet.wrong(at, error.message());
    }
    if !errors.is_empty() {
        return Err(sheet.problems());
    }
    let root = root.get_ref();
    let study = whole(&Table::new(&sheet, root, String::new(), 0), mode, lines);
    let problems = sheet.problems();
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut study = study.expect("what is missing is a problem");
    flatten(root, "", &mut study.facts);
    Ok(study)
}

/// The whole file.
fn whole(root: &Table<'_, '_>, mode: Mode, lines: &CommandLines) -> Option<Study> {
    let head = root.table("study");
    if !root.has("study") {
        root.wrong("study", 0, "is missing");
    }
    let tables = |key| {
        let tables = root.tables(key);
        if tables.is_empty() {
            root.wrong(key, 0, format!("is missing (expected [[{key}]])"));
        }
        tables
    };
    let (variant_tables, workload_tables) = (tables("variant"), tables("workload"));
    let variants: Vec<Variant> = variant_tables.iter().filter_map(variant).collect();
    // What a variant that cannot be read has values for is not known.
    let read = if variants.len() == variant_tables.len() { &variants[..] } else { &[] };
    let monitor = root.table("monitor").map(|table| monitor(&table, read));
    let workloads: Vec<Workload> =
        workload_tables.iter().filter_map(|table| workload(table, mode, lines)).collect();
    check::names(&variant_tables);
    check::names(&workload_tables);
    if variants.len() == variant_tables.len() {
        check::workloads(&workload_tables, &variants, lines);
    }
    let studied = head.and_then(|head| header(&head, mode));
    root.finish();
    let (name, title, seed, times) = studied?;
    let part = |workload: &Workload| mode == Mode::Full || workload.form == Form::Both;
    let (workloads, skipped): (Vec<_>, Vec<_>) = workloads.into_iter().partition(part);
    let skipped = skipped.into_iter().map(|workload| workload.name).collect();
    Some(Study {
        name,
        title,
        seed,
        times,
        monitor,
        variants,
        workloads,
        skipped,
        facts: Vec::new(),
    })
}

/// `[study]`.
fn header(head: &Table<'_, '_>, mode: Mode) -> Option<(String, String, u64, Times)> {
    let name = head.needed("name");
    if let Some(name) = name.as_ref().filter(|name| !check::is_name(&name.text)) {
        head.wrong("name", name.at, check::NAME);
    }
    let title = head.text("title");
    let seed = head.count("seed", &(0..=u64::MAX)).unwrap_or(1);
    let full = times(head, Times { repeats: 5, warm_up: Nanos::ZERO, cool_down: Nanos::ZERO });
    let quick = head.table("quick").map(|table| {
        let quick = times(&table, full);
        table.finish();
        quick
    });
    head.finish();
    let times = match mode {
        Mode::Full => full,
        Mode::Quick => quick.unwrap_or(full),
    };
    let name = name?.text;
    let title = title.map_or_else(|| name.clone(), |title| title.text);
    Some((name, title, seed, times))
}

fn times(table: &Table<'_, '_>, unless: Times) -> Times {
    let repeats = table.count("repeats", &(1..=REPEATS_MAX));
    Times {
        repeats: repeats.map_or(unless.repeats, |repeats| repeats as usize),
        warm_up: table.duration("warm_up").unwrap_or(unless.warm_up),
        cool_down: table.duration("cool_down").unwrap_or(unless.cool_down),
    }
}

fn monitor(table: &Table<'_, '_>, variants: &[Variant]) -> Monitor {
    let texts = |words: Vec<Placed>| words.into_iter().map(|word| word.text).collect();
    let every = table.duration("every").unwrap_or(Nanos::SECOND);
    let logs = table.words("logs");
    for log in logs.iter().filter(|log| !log.text.contains(':')) {
        table.wrong("logs", log.at, format!("\"{}\" is not KIND:PATH", log.text.escape_debug()));
    }
    let scrape = table.words("scrape");
    check::watched(table, "scrape", &scrape, variants);
    check::watched(table, "logs", &logs, variants);
    table.finish();
    Monitor { every, scrape: texts(scrape), logs: texts(logs) }
}

fn variant(table: &Table<'_, '_>) -> Option<Variant> {
    let name = table.needed("name");
    let note = table.text("note").unwrap_or_default().text;
    let requires = table.tables("requires");
    let optional = table.switch("optional").unwrap_or(false);
    let values = check::values(table);
    let (before, after) = (table.commands("before"), table.commands("after"));
    let generators = table.count("generators", &(1..=GENERATORS_MAX)).unwrap_or(1) as usize;
    let prefix = table.words("prefix");
    let servers = table.tables("server");
    let known: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
    let beforehand = check::beforehand(&values);
    let in_runs = (&check::ALWAYS[..], &known[..]);
    [&before, &after].iter().for_each(|list| check::filled(table, list.iter().flatten(), in_runs));
    check::filled(table, &prefix, in_runs);
    let requires = requires.iter().filter_map(|table| requirement(table, &beforehand)).collect();
    let servers = servers.iter().filter_map(|table| server(table, &known)).collect();
    table.finish();
    let texts = |words: Vec<Placed>| words.into_iter().map(|word| word.text).collect::<Vec<_>>();
    let commands = |list: Vec<Vec<Placed>>| list.into_iter().map(texts).collect();
    Some(Variant {
        name: name?.text,
        note,
        requires,
        optional,
        values,
        before: commands(before),
        after: commands(after),
        generators,
        prefix: texts(prefix),
        servers,
    })
}

fn requirement(table: &Table<'_, '_>, known: &[&str]) -> Option<Requirement> {
    let (command, file) = (table.text("command"), table.text("file"));
    check::filled(table, command.iter().chain(&file), (&check::BEFOREHAND, known));
    let install = table.text("install").unwrap_or_default().text;
    table.finish();
    let what = match (command, file) {
        (Some(command), None) => Required::Command(command.text),
        (None, Some(file)) => Required::File(file.text),
        _ => {
            table.wrong("command", table.at, "expected command = \"…\" or file = \"…\"");
            return None;
        }
    };
    Some(Requirement { what, install })
}

fn server(table: &Table<'_, '_>, known: &[&str]) -> Option<ServerPlan> {
    let command = table.needed_words("command");
    let first = command.first().map(|word| word.text.clone());
    let name = table.text("name").map(|name| name.text);
    let folder = table.text("folder");
    let environment = table.pairs("environment");
    let ready = table.text("ready");
    if let Some(wrong) = ready.as_ref().filter(|ready| !Ready::is_written_so(&ready.text)) {
        let text = wrong.text.escape_debug();
        table.wrong("ready", wrong.at, format!("\"{text}\" is no http:// or tcp:// address"));
    }
    let within = table.duration("within").unwrap_or(WITHIN);
    let stop = table.text("stop").map_or(Some(Signal::SIGTERM), |name| {
        let signal = format!("SIG{}", name.text.trim_start_matches("SIG")).parse().ok();
        if signal.is_none() {
            let text = name.text.escape_debug();
            table.wrong(
                "stop",
                name.at,
                format!("\"{text}\" is no signal (such as TERM, INT, QUIT)"),
            );
        }
        signal
    });
    let version = table.words("version");
    let texts = command.iter().chain(&version).chain(&folder).chain(&ready);
    let texts = texts.chain(environment.iter().map(|(_, text)| text));
    check::filled(table, texts, (&check::ALWAYS, known));
    table.finish();
    let texts = |words: Vec<Placed>| words.into_iter().map(|word| word.text).collect::<Vec<_>>();
    Some(ServerPlan {
        name: name.or(first)?,
        command: texts(command),
        folder: folder.map_or_else(|| ".".to_owned(), |folder| folder.text),
        environment: environment.into_iter().map(|(name, text)| (name, text.text)).collect(),
        ready: ready.map(|ready| ready.text),
        within: Duration::from_nanos(within.0),
        stop: stop?,
        version: texts(version),
    })
}

fn workload(table: &Table<'_, '_>, mode: Mode, lines: &CommandLines) -> Option<Workload> {
    let name = table.needed("name");
    let full = table.needed("command");
    let quick = table.text_again("quick").filter(|quick| !quick.text.is_empty());
    let is_short = !table.has("quick") || table.is_text("quick") && quick.is_some();
    let read = |key: &str, line: &Option<Placed>| -> Option<(Vec<String>, Family)> {
        let line = line.as_ref()?;
        check::command(table, key, line, lines)
    };
    let (full, quick) = (read("command", &full), read("quick", &quick));
    let repeats = table.count("repeats", &(1..=REPEATS_MAX)).map(|repeats| repeats as usize);
    let only = table.words("only").into_iter().map(|word| word.text).collect();
    let fit = table.switch("fit").unwrap_or(false);
    let expect = table.words("expect");
    let expect: Vec<Ordering> = expect
        .iter()
        .filter_map(|text| match text.text.parse() {
            Ok(ordering) => Some(ordering),
            Err(error) => {
                let error: study::plan::OrderingError = error;
                table.wrong("expect", text.at, error);
                None
            }
        })
        .collect();
    table.finish();
    // The short form has repeats of its own.
    let (command, family, repeats) = match (mode, full?) {
        (Mode::Full, (command, family)) => (command, family, repeats),
        (Mode::Quick, full) => {
            let (command, family) = quick.unwrap_or(full);
            (command, family, None)
        }
    };
    let form = if is_short { Form::Both } else { Form::FullOnly };
    Some(Workload { name: name?.text, command, family, repeats, only, fit, expect, form })
}

/// Keys that say nothing of what is run.
const TOLD_ONLY: [&str; 5] = ["title", "note", "expect", "fit", "install"];

/// Every key with its value, by its path; lists by number.
fn flatten(table: &DeTable<'_>, path: &str, out: &mut Vec<(String, String)>) {
    for (name, value) in table {
        let name = name.get_ref().as_ref();
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        if !TOLD_ONLY.contains(&name) {
            flatten_value(value.get_ref(), &path, out);
        }
    }
}

fn flatten_value(value: &DeValue<'_>, path: &str, out: &mut Vec<(String, String)>) {
    let text = match value {
        DeValue::Table(table) => return flatten(table, path, out),
        DeValue::Array(list) => {
            for (number, one) in list.iter().enumerate() {
                flatten_value(one.get_ref(), &format!("{path}[{}]", number + 1), out);
            }
            return;
        }
        DeValue::String(text) => text.clone().into_owned(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(on) => on.to_string(),
        DeValue::Datetime(time) => time.to_string(),
    };
    out.push((path.to_owned(), text));
}
