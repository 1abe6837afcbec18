//! The command behind `study run`: reads the study, leaves out the variants that cannot run, and carries the rest out.

use std::path::Path;

use anyhow::anyhow;
use cli::{ExitCode, ExitError, Interrupts, nearest};
use session::web;

use super::conclusion::StudyOutcome;
use super::console::{Console, Style};
use super::file::{self, CommandLines, Mode, PROBLEMS_MAX, Problem, Study};
use super::page::StudyPage;
use super::plan::{ExcludedVariant, StudyPlan};
use super::process::group::RunGuard;
use super::process::reaper::Reaper;
use super::progress;
use super::requirements;
use super::state::checkpoint::{Checkpoint, StartMode};
use super::state::folder::StudyFolder;
use super::targets_check;
use super::until_sure::UntilSure;

/// How a study is run: what its flags say.
#[derive(Clone, Debug)]
pub struct StudyOptions {
    /// The full form, or the short one.
    pub mode: Mode,
    /// Names of the variants to run; empty for all.
    pub only: Vec<String>,
    /// The folder of the results; `NAME-study` unless given.
    pub out: Option<String>,
    /// Whether earlier runs of the same study count.
    pub start: StartMode,
    /// When the study ends, if it goes on until it is sure.
    pub until_sure: Option<UntilSure>,
    /// How progress is printed.
    pub style: Style,
    /// The address of the live page, where one is asked for; empty for any that is free.
    pub web: Option<String>,
}

/// Runs the study in this file from where it stopped to its end.
///
/// # Errors
/// The study is wrong (every problem is listed with its line), a required program is missing, or the folder of the results cannot
/// be used.
pub fn run_study(
    path: &str,
    options: &StudyOptions,
    commands: &CommandLines,
) -> Result<StudyOutcome, ExitError> {
    let text = String::from_utf8(cli::input::read_text(path)?)
        .map_err(|_| input_error(format!("{path} is not UTF-8")))?;
    let mut study = file::read(&text, options.mode, commands)
        .map_err(|problems| problems_error(path, &problems))?;
    let file = Path::new(path);
    let parent = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let mut excluded = not_requested(&study, &options.only)?;
    let unmet = unmet(&study, parent, &excluded)?;
    excluded.extend(unmet);
    excluded.sort_unstable_by_key(|one| one.variant);
    let indices = indices(&excluded);
    if study.cells(&indices).is_empty() {
        return Err(input_error(format!("{path}: nothing is left to run")));
    }
    let problems = targets_check::problems(&study, parent, &indices);
    if !problems.is_empty() {
        return Err(input_error(format!("nothing was started:\n{}", problems.join("\n"))));
    }
    let until_sure = options.until_sure.as_ref();
    until_sure.map_or(Ok(()), |until| until.plan(&mut study, &indices))?;
    let out = options.out.clone().unwrap_or_else(|| format!("{}-study", study.name));
    let folder = StudyFolder::open(Path::new(&out), file)?;
    let checkpoint = Checkpoint::open(&folder, &study, options.mode, &indices, options.start)?;
    let interrupts = Interrupts::watch_until(ExitCode::Incomplete)?;
    let guard = RunGuard { reaper: Reaper::start()?, interrupts };
    let provenance = session::provenance();
    let console = Console { style: options.style, runs: checkpoint.slots.len() };
    let page = options.web.as_deref().and_then(|address| web::open(address, &guard.interrupts));
    let page = page.map(|page| StudyPage::new(page, &study.name));
    let plan = StudyPlan {
        study: &study,
        folder: &folder,
        mode: options.mode,
        excluded,
        until_sure,
        provenance,
    };
    progress::run(&plan, checkpoint, &guard, (console, page))
}

/// The problems of a study's text, by line; empty if it has none. Nothing is looked up or started.
#[must_use]
pub fn problems(text: &str, mode: Mode, commands: &CommandLines) -> Vec<Problem> {
    file::read(text, mode, commands).err().unwrap_or_default()
}

/// The indices of excluded variants.
fn indices(excluded: &[ExcludedVariant]) -> Vec<usize> {
    excluded.iter().map(|one| one.variant).collect()
}

/// The variants that `-only` leaves out.
fn not_requested(study: &Study, only: &[String]) -> Result<Vec<ExcludedVariant>, ExitError> {
    for name in only {
        if !study.variants.iter().any(|variant| variant.name == *name) {
            let near = nearest(name, study.variants.iter().map(|variant| variant.name.as_str()));
            let hint = near.map_or(String::new(), |near| format!(" (did you mean {near}?)"));
            let error = anyhow!("flag -only: no variant is called \"{name}\"{hint}");
            return Err(ExitError { code: ExitCode::Usage, error });
        }
    }
    let variants = study.variants.iter().enumerate();
    let out = variants.filter(|(_, variant)| !only.is_empty() && !only.contains(&variant.name));
    let reason = "-only names others";
    Ok(out.map(|(variant, _)| ExcludedVariant { variant, reason: reason.to_owned() }).collect())
}

/// Optional variants that lack a requirement.
///
/// # Errors
/// A variant that is not optional lacks one: the error lists all that is missing, and how to install it.
fn unmet(
    study: &Study,
    folder: &Path,
    excluded: &[ExcludedVariant],
) -> Result<Vec<ExcludedVariant>, ExitError> {
    let excluded = indices(excluded);
    let unmet = requirements::unmet(study, folder, &excluded);
    let (optional, needed): (Vec<_>, Vec<_>) =
        unmet.into_iter().partition(|one| study.variants[one.variant].optional);
    if needed.is_empty() {
        let optional = optional.into_iter();
        let excluded =
            optional.map(|one| ExcludedVariant { variant: one.variant, reason: one.words() });
        return Ok(excluded.collect());
    }
    let lines = needed
        .iter()
        .map(|one| format!("\n  variant {}: {}", study.variants[one.variant].name, one.words()));
    let mut text =
        format!("something is missing, nothing was started:{}", lines.collect::<String>());
    let installs = requirements::install_lines(&needed);
    if !installs.is_empty() {
        text.push_str(&format!("\ninstall it with:\n  {}", installs.join("\n  ")));
    }
    let variants = study.variants.iter().enumerate();
    let can_run =
        |at: usize| !excluded.contains(&at) && !needed.iter().any(|one| one.variant == at);
    let others: Vec<&str> =
        variants.filter(|(at, _)| can_run(*at)).map(|(_, variant)| variant.name.as_str()).collect();
    if !others.is_empty() {
        text.push_str(&format!("\nor leave it out with: -only={}", others.join(",")));
    }
    Err(ExitError { code: ExitCode::Missing, error: anyhow!(text) })
}

/// Every problem of a file, one a line.
fn problems_error(path: &str, problems: &[Problem]) -> ExitError {
    let lines = problems.iter().take(PROBLEMS_MAX);
    let mut lines: Vec<String> =
        lines.map(|problem| format!("{path}:{}: {}", problem.line, problem.text)).collect();
    if problems.len() > PROBLEMS_MAX {
        lines.push(format!("and {} more", problems.len() - PROBLEMS_MAX));
    }
    input_error(format!("nothing was started:\n{}", lines.join("\n")))
}

fn input_error(text: String) -> ExitError {
    ExitError { code: ExitCode::Input, error: anyhow!(text) }
}
