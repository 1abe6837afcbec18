//! The file of a study, read and checked as a whole: every problem is reported at once, with its line. Nothing is looked up or
//! started here.

use std::time::Duration;

use nix::sys::signal::Signal;
use stdx::Nanos;
use study::plan::Ordering;
use toml::de::DeTable;

use super::check;
use super::command_family::CommandFamily;
use super::facts::flatten;
use super::model::{
    Forms, Mode, MonitorPlan, Required, Requirement, ServerPlan, Study, Timing, Variant, Workload,
};
use super::toml_reader::{Problem, Table, TomlReader};
use super::toml_values::SpannedText;
use super::workload_check::{CommandLines, WorkloadCheck};
use crate::readiness::ReadinessProbe;

/// Repeats, at most: as many as are compared.
const REPEATS_MAX: u64 = study::contrast::RUNS_MAX as u64;
/// Load generators of one run, at most.
const GENERATORS_MAX: u64 = 64;
/// How long servers may take to get ready, unless the file says otherwise.
const WITHIN: Nanos = Nanos::from_secs(20);

/// Reads a study.
///
/// # Errors
/// Everything that is wrong in it, by line.
pub(crate) fn read(text: &str, mode: Mode, commands: &CommandLines) -> Result<Study, Vec<Problem>> {
    let reader = TomlReader::new(text);
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let at = error.span().map_or(0, |span| span.start);
        reader.problem(at, error.message());
    }
    if !errors.is_empty() {
        return Err(reader.problems());
    }
    let root = root.get_ref();
    let study = whole_file(&Table::new(&reader, root, String::new(), 0), mode, commands);
    let problems = reader.problems();
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut study = study.expect("a missing part is a problem");
    flatten(root, "", &mut study.facts);
    Ok(study)
}

/// The whole file.
fn whole_file(root: &Table<'_, '_>, mode: Mode, commands: &CommandLines) -> Option<Study> {
    let head = root.table("study");
    if !root.has("study") {
        root.problem("study", 0, "is missing");
    }
    let tables = |key| {
        let tables = root.tables(key);
        if tables.is_empty() {
            root.problem(key, 0, format!("is missing (expected [[{key}]])"));
        }
        tables
    };
    let (variant_tables, workload_tables) = (tables("variant"), tables("workload"));
    let variants: Vec<Variant> = variant_tables.iter().filter_map(variant).collect();
    // The values of a variant with a problem are unknown.
    let read = if variants.len() == variant_tables.len() { &variants[..] } else { &[] };
    let monitor = root.table("monitor").map(|table| monitor(&table, read));
    let workloads: Vec<Workload> =
        workload_tables.iter().filter_map(|table| workload(table, mode, commands)).collect();
    check::names(&variant_tables);
    check::names(&workload_tables);
    if variants.len() == variant_tables.len() {
        WorkloadCheck { commands, variants: &variants }.check(&workload_tables);
    }
    let header = head.and_then(|head| header(&head, mode));
    root.finish();
    let (name, title, seed, times) = header?;
    let part = |workload: &Workload| mode == Mode::Full || workload.forms == Forms::Both;
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
fn header(head: &Table<'_, '_>, mode: Mode) -> Option<(String, String, u64, Timing)> {
    let name = head.needed("name");
    if let Some(name) = name.as_ref().filter(|name| !check::is_name(&name.text)) {
        head.problem("name", name.at, check::NAME);
    }
    let title = head.text("title");
    let seed = head.count("seed", &(0..=u64::MAX)).unwrap_or(1);
    let full = times(head, Timing { repeats: 5, warm_up: Nanos::ZERO, cool_down: Nanos::ZERO });
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

fn times(table: &Table<'_, '_>, unless: Timing) -> Timing {
    let repeats = table.count("repeats", &(1..=REPEATS_MAX));
    Timing {
        repeats: repeats.map_or(unless.repeats, |repeats| repeats as usize),
        warm_up: table.duration("warm_up").unwrap_or(unless.warm_up),
        cool_down: table.duration("cool_down").unwrap_or(unless.cool_down),
    }
}

fn monitor(table: &Table<'_, '_>, variants: &[Variant]) -> MonitorPlan {
    let texts = |words: Vec<SpannedText>| words.into_iter().map(|word| word.text).collect();
    let every = table.duration("every").unwrap_or(Nanos::SECOND);
    let logs = table.words("logs");
    for log in logs.iter().filter(|log| !log.text.contains(':')) {
        table.problem("logs", log.at, format!("\"{}\" is not KIND:PATH", log.text.escape_debug()));
    }
    let scrape = table.words("scrape");
    check::watched(table, "scrape", &scrape, variants);
    check::watched(table, "logs", &logs, variants);
    table.finish();
    MonitorPlan { every, scrape: texts(scrape), logs: texts(logs) }
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
    let early = check::available_early(&values);
    let in_runs = (&check::ALWAYS[..], &known[..]);
    [&before, &after]
        .iter()
        .for_each(|list| check::placeholders(table, list.iter().flatten(), in_runs));
    check::placeholders(table, &prefix, in_runs);
    let requires = requires.iter().filter_map(|table| requirement(table, &early)).collect();
    let servers = servers.iter().filter_map(|table| server(table, &known)).collect();
    table.finish();
    let texts =
        |words: Vec<SpannedText>| words.into_iter().map(|word| word.text).collect::<Vec<_>>();
    let commands = |list: Vec<Vec<SpannedText>>| list.into_iter().map(texts).collect();
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
    check::placeholders(table, command.iter().chain(&file), (&check::EARLY, known));
    let install = table.text("install").unwrap_or_default().text;
    table.finish();
    let what = match (command, file) {
        (Some(command), None) => Required::Command(command.text),
        (None, Some(file)) => Required::File(file.text),
        _ => {
            table.problem("command", table.at, "expected command = \"…\" or file = \"…\"");
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
    if let Some(wrong) =
        ready.as_ref().filter(|ready| !ReadinessProbe::may_become_probe(&ready.text))
    {
        let text = wrong.text.escape_debug();
        table.problem("ready", wrong.at, format!("\"{text}\" is no http:// or tcp:// address"));
    }
    let within = table.duration("within").unwrap_or(WITHIN);
    let stop = table.text("stop").map_or(Some(Signal::SIGTERM), |name| {
        let signal = format!("SIG{}", name.text.trim_start_matches("SIG")).parse().ok();
        if signal.is_none() {
            let text = name.text.escape_debug();
            table.problem(
                "stop",
                name.at,
                format!("\"{text}\" is no signal (such as TERM, INT, QUIT)"),
            );
        }
        signal
    });
    let version = table.words("version");
    let watched = table.switch("watch").unwrap_or(true);
    let texts = command.iter().chain(&version).chain(&folder).chain(&ready);
    let texts = texts.chain(environment.iter().map(|(_, text)| text));
    check::placeholders(table, texts, (&check::ALWAYS, known));
    table.finish();
    let texts =
        |words: Vec<SpannedText>| words.into_iter().map(|word| word.text).collect::<Vec<_>>();
    Some(ServerPlan {
        name: name.or(first)?,
        command: texts(command),
        folder: folder.map_or_else(|| ".".to_owned(), |folder| folder.text),
        environment: environment.into_iter().map(|(name, text)| (name, text.text)).collect(),
        ready: ready.map(|ready| ready.text),
        within: Duration::from_nanos(within.0),
        stop: stop?,
        version: texts(version),
        watched,
    })
}

fn workload(table: &Table<'_, '_>, mode: Mode, commands: &CommandLines) -> Option<Workload> {
    let name = table.needed("name");
    let full = table.needed("command");
    let quick = table.text_again("quick").filter(|quick| !quick.text.is_empty());
    let is_short = !table.has("quick") || table.is_text("quick") && quick.is_some();
    let read = |key: &str, line: &Option<SpannedText>| -> Option<(Vec<String>, CommandFamily)> {
        let line = line.as_ref()?;
        commands.parse(table, key, line)
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
                table.problem("expect", text.at, error);
                None
            }
        })
        .collect();
    table.finish();
    // `[study.quick]` has its own repeats.
    let (command, family, repeats) = match (mode, full?) {
        (Mode::Full, (command, family)) => (command, family, repeats),
        (Mode::Quick, full) => {
            let (command, family) = quick.unwrap_or(full);
            (command, family, None)
        }
    };
    let forms = if is_short { Forms::Both } else { Forms::FullOnly };
    Some(Workload { name: name?.text, command, family, repeats, only, fit, expect, forms })
}
