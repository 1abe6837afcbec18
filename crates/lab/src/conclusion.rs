//! The end of a study: the figures of every run, read where they are not known yet, as one page and one document.

use std::path::PathBuf;

use ::report::{StudyInput, StudyReport, StudyRun, StudyState, StudyVariant, StudyWorkload};
use cli::{ExitCode, ExitError, Output};
use metrics::server::Side;
use recordings::RecordedRun;
use stdx::Nanos;
use study::contrast::Measure;
use study::plan::{GivenUp, RunOutcome, Slot, given_up};

use super::console::Console;
use super::ending::Ending;
use super::figures::run::MeasuredFigures;
use super::file::{Mode, Study};
use super::machine;
use super::plan::StudyPlan;
use super::state::atomic_file::replace_file;
use super::state::checkpoint::Checkpoint;
use super::state::record::RunRecord;
use super::until_sure::UntilSure;

/// Why a variant under a workload is run no more.
pub(crate) const GIVEN_UP: &str = "three of its runs failed in a row";
/// Why a variant is run no more.
pub(crate) const NEVER_READY: &str =
    "three of its runs in a row failed before its servers were ready";

/// What this call of the study has found.
pub(crate) struct Measured {
    /// Figures of the runs of this call, by the index of the run.
    pub(crate) figures: Vec<Option<MeasuredFigures>>,
    /// What the servers of each variant print as their versions.
    pub(crate) versions: Vec<Vec<(String, String)>>,
    /// How a study that goes on until it is sure ended; `None` for others, and one that was interrupted.
    pub(crate) ending: Option<Ending>,
}

/// How a study ended, and what it has written.
#[derive(Clone, Debug)]
pub struct StudyOutcome {
    /// The code to end with.
    pub code: ExitCode,
    /// Runs whose measurement is INVALID.
    pub invalid: usize,
    /// The findings, a line each.
    pub conclusion: Vec<String>,
    /// The document of all runs, as JSON.
    pub document: PathBuf,
    /// The report, as a page.
    pub report: PathBuf,
}

/// Writes the report and the document, and prints the findings.
///
/// # Errors
/// They cannot be written.
pub(crate) fn conclude(
    plan: &StudyPlan<'_>,
    checkpoint: &Checkpoint,
    measured: Measured,
    console: &Console,
) -> Result<StudyOutcome, ExitError> {
    let given_up = given_up(&checkpoint.slots, &checkpoint.ended());
    let runs = checkpoint.slots.iter().zip(&checkpoint.records).zip(measured.figures);
    let runs = runs.enumerate().map(|(at, ((slot, record), figures))| match record {
        Some(record) => ended_run(plan, checkpoint, (at, record), figures),
        None => pending_run(slot),
    });
    let mut runs: Vec<StudyRun> = runs.collect();
    if measured.ending.is_some() {
        // The runs after the end were never due.
        runs.retain(|run| run.state != StudyState::NotRun);
    }
    let cells = given_up.iter().filter_map(|one| match one {
        GivenUp::Cell(cell) => Some((*cell, GIVEN_UP.to_owned())),
        GivenUp::Variant(_) => None,
    });
    let input = StudyInput {
        name: plan.study.name.clone(),
        title: plan.study.title.clone(),
        form: if plan.mode == Mode::Quick { "quick" } else { "full" }.to_owned(),
        seed: plan.study.seed,
        facts: machine::facts(),
        provenance: Some(plan.provenance.clone()),
        variants: variants(plan, checkpoint, &given_up, measured.versions),
        workloads: workloads(plan.study),
        skipped: plan.study.skipped.clone(),
        unlike: checkpoint.differences(),
        left_out: cells.collect(),
        looks: plan.until_sure.map_or(1, UntilSure::looks),
        primary: plan.until_sure.and_then(|until| Measure::first_of(&until.measures)),
        ended: measured.ending.as_ref().map_or(String::new(), |ending| ending.text.clone()),
        runs,
    };
    let is_complete = input.runs.iter().all(|run| run.state == StudyState::Measured);
    let invalid = input.runs.iter().filter(|run| !run.invalid.is_empty()).count();
    let report = StudyReport::of(input);
    write(plan, &report, console)?;
    let is_open = measured.ending.is_some_and(|ending| !ending.open.is_empty());
    let code = match (is_complete, is_open) {
        (false, _) => ExitCode::Incomplete,
        (true, true) => ExitCode::Undecided,
        (true, false) => ExitCode::Ok,
    };
    let (document, page) = (plan.folder.document(), plan.folder.report());
    Ok(StudyOutcome { code, invalid, conclusion: report.conclusion(), document, report: page })
}

fn variants(
    plan: &StudyPlan<'_>,
    checkpoint: &Checkpoint,
    given_up: &[GivenUp],
    versions: Vec<Vec<(String, String)>>,
) -> Vec<StudyVariant> {
    let variants = plan.study.variants.iter().zip(versions).enumerate();
    let variants = variants.map(|(at, (variant, versions))| {
        let before = plan.excluded.iter().find(|one| one.variant == at);
        let before = before.map(|one| one.reason.clone());
        let later = given_up.contains(&GivenUp::Variant(at)).then(|| NEVER_READY.to_owned());
        StudyVariant {
            name: variant.name.clone(),
            note: variant.note.clone(),
            // A report that is written again shows the servers that were measured, not those installed now.
            versions: checkpoint.versions(at).map_or(versions, <[_]>::to_vec),
            left_out: before.or(later).unwrap_or_default(),
        }
    });
    variants.collect()
}

fn workloads(study: &Study) -> Vec<StudyWorkload> {
    let workloads = study.workloads.iter().map(|workload| StudyWorkload {
        name: workload.name.clone(),
        command: store::without_secrets(&workload.command).join(" "),
        fit: workload.fit,
        expect: workload.expect.clone(),
    });
    workloads.collect()
}

/// A run that is still to come.
fn pending_run(slot: &Slot) -> StudyRun {
    StudyRun {
        cell: slot.cell,
        repeat: slot.repeat,
        state: StudyState::NotRun,
        began: 0,
        took: Nanos::ZERO,
        start: Nanos::ZERO,
        load_before: None,
        codes: Vec::new(),
        notes: Vec::new(),
        invalid: Vec::new(),
        figures: Vec::new(),
        attacked: String::new(),
        results: None,
        side: Side::default(),
    }
}

/// A run that has ended. The figures of one that an earlier call measured are read now; where that fails, the run counts as failed.
fn ended_run(
    plan: &StudyPlan<'_>,
    checkpoint: &Checkpoint,
    (at, record): (usize, &RunRecord),
    figures: Option<MeasuredFigures>,
) -> StudyRun {
    let mut run = pending_run(&checkpoint.slots[at]);
    run.state = match record.ended {
        RunOutcome::Measured => StudyState::Measured,
        RunOutcome::Failed | RunOutcome::Unready => StudyState::Failed(record.reason.clone()),
    };
    (run.began, run.took, run.start) = (record.began, record.took, record.start);
    run.load_before = record.load_before;
    (run.codes, run.notes) = (record.codes.clone(), record.notes.clone());
    let figures = match (figures, record.ended) {
        (Some(figures), _) => Some(figures),
        (None, RunOutcome::Failed | RunOutcome::Unready) => None,
        (None, RunOutcome::Measured) => match plan.figures(checkpoint, at, record) {
            Ok(figures) => Some(figures),
            Err(failed) => {
                run.state = StudyState::Failed(format!("its results cannot be read: {failed}"));
                None
            }
        },
    };
    if let Some(figures) = figures {
        run.attacked = attacked(figures.run.as_ref());
        run.results = figures.run.as_ref().map(RecordedRun::variant_run);
        run.notes.extend(figures.notes);
        (run.figures, run.invalid, run.side) = (figures.figures, figures.invalid, figures.side);
    }
    run
}

/// What a run attacked, in a few words.
fn attacked(run: Option<&RecordedRun>) -> String {
    let targets = run.and_then(|run| run.attacked.as_ref());
    targets.map_or_else(String::new, ::report::attacked)
}

fn write(plan: &StudyPlan<'_>, report: &StudyReport, console: &Console) -> Result<(), ExitError> {
    replace_file(&plan.folder.document(), report.json().as_bytes())?;
    replace_file(&plan.folder.report(), report.html().as_bytes())?;
    replace_file(&plan.folder.junit(), report.junit().as_bytes())?;
    cli::append_job_summary(|| report.markdown());
    if console.is_json() {
        return Ok(());
    }
    let mut text = String::new();
    for line in report.conclusion() {
        text.push_str(&format!("{line}\n"));
    }
    text.push_str(&format!("\n{}\n", plan.folder.report().display()));
    Output::Stdout.write(text.as_bytes())
}
