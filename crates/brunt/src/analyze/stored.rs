//! Runs of the store as inputs of commands that read results, and results as runs of the store.

use std::fs;
use std::path::Path;

use cli::{ExitError, Interrupts, usage_error};
use metrics::Verdict;
use recordings::{RecordedRun, read_run, undamaged};
use report::RunMachine;
use results::{Encoding, Format};
use session::save::{figures_of, store_failure, verdict_word};
use store::{Begin, Finish, Run, Scope, Selector, Store};

/// An operand of a comparison: files of results, or runs of the store.
#[derive(Clone, Debug)]
pub(crate) struct StoredOperand {
    /// The operands with the paths of results in place of runs.
    pub(crate) paths: Vec<String>,
    /// The runs.
    pub(crate) runs: Vec<Run>,
}

/// Replaces runs of the store by their results, `[LABEL=]RUN` each. What exists as a file or folder is one.
///
/// # Errors
/// An operand is neither.
pub(crate) fn look_up(operand: &str, store: &Store) -> Result<StoredOperand, ExitError> {
    let exists = |path: &str| cli::input::is_stdin(path) || Path::new(path).exists();
    let (label, word) = match operand.split_once('=') {
        Some((label, word)) if !exists(operand) => (label, word),
        _ => (operand, operand),
    };
    if exists(word) {
        return Ok(StoredOperand { paths: vec![operand.to_owned()], runs: Vec::new() });
    }
    let found = Selector::parse(word).find(store, &Scope::default());
    let runs = found.map_err(|error| match error {
        store::StoreError::Unknown { .. } => ExitError::new(
            cli::ExitCode::Input,
            format!("open {word}: no such file or directory, and {error}"),
        ),
        error => store_failure(error),
    })?;
    of_runs(label, runs)
}

/// Runs of the store as operands of one label.
///
/// # Errors
/// The results of one are no file of its folder.
pub(crate) fn of_runs(label: &str, runs: Vec<Run>) -> Result<StoredOperand, ExitError> {
    let mut paths = Vec::new();
    for run in &runs {
        let results = run.results().map_err(store_failure)?;
        paths.extend(results.map(|path| format!("{label}={}", path.display())));
    }
    Ok(StoredOperand { paths, runs })
}

/// The machine that offered the load of a run; `None` where its manifest does not say.
pub(crate) fn machine_of(run: &Run) -> Option<RunMachine> {
    let machine = &run.manifest.machine;
    let cores = stdx::counted(machine.cores as u64, "core");
    (!machine.host.is_empty()).then(|| RunMachine {
        host: machine.host.clone(),
        processor: format!("{cores}, {}", machine.processor),
    })
}

/// The test of these runs, if all are of one.
pub(crate) fn test_of(runs: &[Run]) -> Option<(&str, &str)> {
    fn test(run: &Run) -> (&str, &str) {
        (&run.manifest.name, &run.manifest.command)
    }
    let first = test(runs.first()?);
    runs.iter().all(|run| test(run) == first).then_some(first)
}

/// Adds a file of results to the store, under a name.
///
/// # Errors
/// It holds no results, or damaged ones: the store would have a part of a run for good. The store cannot be written.
pub(crate) fn add_results(store: &Store, path: &str, name: &str) -> Result<Run, ExitError> {
    if cli::input::is_stdin(path) || !Path::new(path).is_file() {
        return Err(ExitError::new(
            cli::ExitCode::Usage,
            format!("{path}: only a file of results can be added to the store"),
        ));
    }
    let read =
        read_run(path, &[path.to_owned()], &metrics::Selector::default(), &Interrupts::watch()?)?;
    undamaged([&read])?;
    let begin = Begin {
        name: name.to_owned(),
        command: "import".to_owned(),
        args: vec![path.to_owned()],
        brunt: env!("CARGO_PKG_VERSION").to_owned(),
        made: (read.summary.requests > 0).then_some((read.summary.earliest, read.summary.end)),
        ..Begin::default()
    };
    let mut run = store.begin(begin).map_err(store_failure)?;
    let place = run.results(&stored_name(path)).map_err(store_failure)?;
    let copied = fs::copy(path, &place);
    copied.map_err(|error| {
        let text = format!("writing to {}: {}", place.display(), cli::reason(&error));
        ExitError::new(cli::ExitCode::Failure, text)
    })?;
    run.conclude(finish_of(&read));
    let id = run.id().to_owned();
    run.finish(0).map_err(store_failure)?;
    store.read(&id).map_err(store_failure)
}

/// The name of results in their run's folder. Their form is found by their content; the ending is for people.
fn stored_name(path: &str) -> String {
    const OF_JMETER: [&str; 2] = [".jtl", ".xml"];
    let lower = path.to_ascii_lowercase();
    if let Some(ending) = OF_JMETER.into_iter().find(|ending| lower.ends_with(ending)) {
        return format!("results{ending}");
    }
    let format = Format::of_path(path, None, Encoding::Arrow);
    format!("results{}", format.unwrap_or_else(|_| Encoding::Arrow.into()).ending())
}

fn finish_of(read: &RecordedRun) -> Finish {
    let Verdict { reasons, blind, .. } = &read.verdict;
    Finish {
        verdict: (!blind).then(|| verdict_word(&read.verdict)),
        reasons: reasons.iter().map(ToString::to_string).collect(),
        conclusion: Vec::new(),
        attacked: read.attacked.as_ref().map(report::attacked),
        server: None,
        figures: Some(figures_of(&read.summary)),
    }
}

/// A name for the results of a file: that of the file, without its ending.
pub(crate) fn name_of(path: &str) -> Result<String, cli::CommandError> {
    let stem = Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let stem = stem.split('.').next().unwrap_or_default();
    let fits = |one: char| one.is_alphanumeric() || "_-".contains(one);
    if !stem.is_empty() && stem.chars().all(fits) {
        return Ok(stem.to_owned());
    }
    Err(usage_error(format!("{path}: its name is none of a run (give -name=NAME)")))
}
