//! `lint`: what is wrong with a script before it runs. Its init code is run, and nothing is sent.

use std::path::Path;

use cli::{CommandError, ExitCode, Invocation, Output, usage_error};
use lint::{Facts, Finding, Rule, ScriptFile, Severity};
use metrics::tally::Tally;
use workload::executor::{Executor, Scenario};

use crate::archive::operand;
use crate::arguments::typed;
use crate::config::{Loaded, load};
use crate::flags::LINT;

/// The functions that are called besides those of scenarios.
const AROUND: [&str; 3] = ["setup", "teardown", "handleSummary"];

/// Prints what is wrong with a script.
pub fn lint(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = match typed(invocation, LINT)? {
        Ok(typed) => typed,
        Err(code) => return Ok(code),
    };
    let Some(path) = operand(&typed) else { return Ok(ExitCode::Other) };
    let skipped = rules(&typed.flags.lint_skip)?;
    let loaded = match load(path, &typed.flags, false) {
        Ok(loaded) => loaded,
        Err(code) => return Ok(code),
    };
    let mut findings = findings(&loaded);
    findings.retain(|finding| !skipped.contains(&finding.rule));
    let document = match typed.flags.lint_format.as_str() {
        "json" => lint::json(&findings),
        "sarif" => lint::sarif(&findings, env!("CARGO_PKG_VERSION")),
        _ => lint::text(&findings),
    };
    Output::Stdout.write(document.as_bytes())?;
    let is_wrong = findings.iter().any(|finding| finding.rule.severity() != Severity::Note);
    Ok(if is_wrong { ExitCode::Found } else { ExitCode::Ok })
}

/// The rules of these names.
fn rules(names: &[String]) -> Result<Vec<Rule>, CommandError> {
    let rule = |name: &str| {
        let known = Rule::ALL.iter().find(|rule| rule.name() == name);
        known.copied().ok_or_else(|| {
            let near = stdx::nearest(name, Rule::ALL.iter().map(|rule| rule.name()));
            let near = near.map(|near| format!(" (did you mean {near}?)")).unwrap_or_default();
            usage_error(format!("-skip: there is no rule \"{name}\"{near}"))
        })
    };
    names.iter().flat_map(|list| list.split(',')).map(|name| rule(name.trim())).collect()
}

/// What is wrong with a script and with the files that it imports.
fn findings(loaded: &Loaded) -> Vec<Finding> {
    let source = &loaded.source;
    let folder = Path::new(&source.main).parent().unwrap_or(Path::new("/"));
    let mut read: Vec<(String, String)> = source
        .read_so_far()
        .into_iter()
        .filter(|(name, _)| is_script(name) || *name == source.main)
        .map(|(name, bytes)| (name, String::from_utf8_lossy(&bytes).into_owned()))
        .collect();
    // The script itself comes first.
    read.sort_by_key(|(name, _)| *name != source.main);
    let shown = |name: &str| {
        let below = Path::new(name).strip_prefix(folder);
        below.map_or_else(|_| name.to_owned(), |below| below.display().to_string())
    };
    let names: Vec<String> = read.iter().map(|(name, _)| shown(name)).collect();
    let files = names.iter().zip(&read).map(|(name, (_, text))| ScriptFile { name, text });
    script::with_deep_stack(|levels_max| {
        // Init code may have opened what it cannot run.
        let files: Vec<ScriptFile<'_>> =
            files.filter(|file| !script::nests_deeper(file.text, levels_max)).collect();
        lint::lint(&files, &facts(loaded))
    })
}

/// Whether a file that init code read is one of the script's own modules.
fn is_script(name: &str) -> bool {
    let endings = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"];
    !name.starts_with("https://") && endings.iter().any(|ending| name.ends_with(ending))
}

/// What the init code says.
fn facts(loaded: &Loaded) -> Facts {
    let options = &loaded.options;
    let with_nearest = |name: &String| {
        let nearest = script::nearest_option(name);
        (name.clone(), nearest.map(str::to_owned))
    };
    let functions = options.scenarios.iter().map(|scenario| scenario.exec.clone());
    Facts {
        unknown_options: options.unknown.iter().map(with_nearest).collect(),
        unmade_metrics: unmade(loaded),
        functions: functions.chain(AROUND.map(str::to_owned)).collect(),
        has_closed_loop: options.scenarios.iter().any(is_closed),
        is_at_rate: options.scenarios.iter().all(is_at_rate),
        discards_bodies: options.discard_bodies,
    }
}

/// The metrics that thresholds name, and that are neither k6's nor made by the init code.
fn unmade(loaded: &Loaded) -> Vec<String> {
    let mut tally = Tally::default();
    for own in loaded.program.metrics.from(0) {
        tally.declare(&own.name, own.kind, own.contains);
    }
    let named = loaded.options.watched.iter();
    let metrics = named.map(|name| name.split('{').next().unwrap_or_default().to_owned());
    let mut unmade: Vec<String> = metrics.filter(|name| tally.metric(name).is_none()).collect();
    unmade.dedup();
    unmade
}

fn is_closed(scenario: &Scenario) -> bool {
    matches!(scenario.executor, Executor::ConstantVus { .. } | Executor::RampingVus { .. })
}

fn is_at_rate(scenario: &Scenario) -> bool {
    matches!(scenario.executor, Executor::ArrivalRate { .. })
}
