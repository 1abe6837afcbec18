//! `StudyProgress`: a study under way. It takes one run after the other, saves the checkpoint around each, and reports at the end.

use std::time::Duration;

use cli::ExitError;
use study::plan::{GivenUp, RunOutcome, Slot, given_up, is_given_up, next};

use super::conclusion::{self, GIVEN_UP, NEVER_READY, StudyOutcome, conclude};
use super::console::{Console, RunLine};
use super::ending::Ending;
use super::figures::run::MeasuredFigures;
use super::page::{StudyPage, StudyState};
use super::plan::StudyPlan;
use super::process::group::RunGuard;
use super::run::runner::Runner;
use super::run::versions;
use super::state::checkpoint::Checkpoint;

/// Carries out the runs that are left, and writes the report.
///
/// # Errors
/// A folder or a file of the study cannot be written.
pub(crate) fn run(
    plan: &StudyPlan<'_>,
    checkpoint: Checkpoint,
    guard: &RunGuard,
    (console, page): (Console, Option<StudyPage>),
) -> Result<StudyOutcome, ExitError> {
    for excluded in &plan.excluded {
        let name = &plan.study.variants[excluded.variant].name;
        console.note(&format!("{name} is left out: {}", excluded.reason));
    }
    let mut progress = StudyProgress::new(plan, checkpoint, guard, (console, page));
    progress.resume()?;
    let excluded: Vec<usize> = plan.excluded.iter().map(|one| one.variant).collect();
    progress.versions = versions::of_variants(&progress.runner, &excluded);
    let ending = loop {
        let at = next(&progress.checkpoint.slots, &progress.checkpoint.ended());
        let ending = progress.ending(at);
        let (None, Some(at)) = (&ending, at) else { break ending };
        if guard.interrupts.seen() > 0 || !progress.run_one(at)? {
            progress.console.note("interrupted: the same command goes on from here");
            break None;
        }
    };
    progress.show();
    let StudyProgress { checkpoint, figures, console, versions, page, .. } = progress;
    let outcome =
        conclude(plan, &checkpoint, conclusion::Measured { figures, versions, ending }, &console);
    // The page has what the conclusion printed, and then says that the study has ended.
    drop(page);
    outcome
}

/// A study under way.
struct StudyProgress<'a> {
    plan: &'a StudyPlan<'a>,
    runner: Runner<'a>,
    checkpoint: Checkpoint,
    /// Figures of the runs of this call, by the index of the run.
    figures: Vec<Option<MeasuredFigures>>,
    console: Console,
    page: Option<StudyPage>,
    /// What the servers of each variant print as their versions in this call.
    versions: Vec<Vec<(String, String)>>,
    /// Differences among the runs of earlier calls, which were printed; `None` once a run of this call was compared with them.
    differences: Option<Vec<String>>,
}

impl<'a> StudyProgress<'a> {
    fn new(
        plan: &'a StudyPlan<'a>,
        checkpoint: Checkpoint,
        guard: &RunGuard,
        (console, page): (Console, Option<StudyPage>),
    ) -> Self {
        Self {
            plan,
            runner: Runner { study: plan.study, folder: plan.folder, guard: guard.clone() },
            figures: checkpoint.slots.iter().map(|_| None).collect(),
            checkpoint,
            console,
            page,
            versions: Vec::new(),
            differences: None,
        }
    }

    /// Whether a study that goes on until it is sure ends before this run.
    fn ending(&self, next: Option<usize>) -> Option<Ending> {
        let until_sure = self.plan.until_sure?;
        let ending = until_sure.ending(self.plan, (&self.checkpoint, &self.figures), next)?;
        self.console.note(&ending.text);
        Some(ending)
    }

    /// Takes up what an earlier call left: prints what is done, and clears up after the run that was under way.
    fn resume(&mut self) -> Result<(), ExitError> {
        let (done, all) = (self.checkpoint.done(), self.checkpoint.slots.len());
        if done > 0 {
            let all = stdx::counted(all as u64, "run");
            self.console.note(&format!("going on: {done} of {all} done"));
        }
        let differences = self.checkpoint.differences();
        differences.iter().for_each(|text| self.console.note(&not_alike(text)));
        self.differences = Some(differences);
        match self.checkpoint.under_way.take() {
            Some(at) => self.runner.clear_up(&self.checkpoint.slots[at]),
            None => Ok(()),
        }
    }

    /// Carries out one run; false if the user interrupted it.
    fn run_one(&mut self, at: usize) -> Result<bool, ExitError> {
        let slot = self.checkpoint.slots[at];
        let (variant, workload) = self.plan.pair(&slot);
        let name = format!("{} on {}", workload.name, variant.name);
        let line = RunLine { number: at + 1, name: &name };
        self.console.run_started(line);
        self.checkpoint.under_way = Some(at);
        self.checkpoint.save()?;
        self.show();
        let Some(mut record) = self.runner.run(&slot)? else { return Ok(false) };
        if record.ended == RunOutcome::Measured {
            match self.plan.figures(&self.checkpoint, at, &record) {
                Ok(figures) => self.figures[at] = Some(figures),
                Err(failed) => {
                    (record.ended, record.reason) = (RunOutcome::Failed, failed.to_string());
                    self.runner.set_aside(&slot)?;
                }
            }
        }
        self.checkpoint.put(at, record.clone(), &self.versions[slot.cell.variant]);
        self.checkpoint.save()?;
        self.console.run_ended(line, &record, self.figures[at].as_ref(), self.time_left());
        if record.ended == RunOutcome::Measured {
            self.note_differences();
        }
        self.note_given_up(&slot, &name);
        self.show();
        Ok(true)
    }

    /// Brings the page up to date.
    fn show(&mut self) {
        let left = self.time_left();
        let Self { plan, checkpoint, figures, page: Some(page), .. } = self else { return };
        page.show(&StudyState { plan, checkpoint, figures, left });
    }

    /// Prints that the variant or the cell of this run is given up after it.
    fn note_given_up(&self, slot: &Slot, name: &str) {
        let variant = self.plan.study.variants[slot.cell.variant].name.as_str();
        for one in given_up(&self.checkpoint.slots, &self.checkpoint.ended()) {
            let (name, why) = match one {
                GivenUp::Variant(at) if at == slot.cell.variant => (variant, NEVER_READY),
                GivenUp::Cell(cell) if cell == slot.cell => (name, GIVEN_UP),
                _ => continue,
            };
            self.console.note(&format!("{name} is left out from here on: {why}"));
        }
    }

    /// Prints how the first measured run of this call differs from those of earlier calls.
    fn note_differences(&mut self) {
        let Some(printed) = self.differences.take() else { return };
        let found = self.checkpoint.differences().into_iter();
        let new = found.filter(|text| !printed.contains(text));
        new.for_each(|text| self.console.note(&not_alike(&text)));
    }

    /// An estimate of the time that the remaining runs take, from the durations of finished runs of the same workloads.
    fn time_left(&self) -> Duration {
        let (slots, ended) = (&self.checkpoint.slots, self.checkpoint.ended());
        let mean = |workload: Option<usize>| {
            let ended = slots.iter().zip(&self.checkpoint.records);
            let of = ended.filter(|(slot, _)| workload.is_none_or(|one| slot.cell.workload == one));
            let times: Vec<u64> =
                of.filter_map(|(_, record)| Some(record.as_ref()?.took.0)).collect();
            times.iter().sum::<u64>().checked_div(times.len() as u64)
        };
        let is_left =
            |at: &usize| ended[*at].is_none() && !is_given_up(slots, &ended, slots[*at].cell);
        let each = (0..slots.len()).filter(is_left).map(|at| {
            let workload = slots[at].cell.workload;
            let run = mean(Some(workload)).or_else(|| mean(None)).unwrap_or(0);
            run.saturating_add(self.plan.study.times.cool_down.0)
        });
        Duration::from_nanos(each.fold(0, u64::saturating_add))
    }
}

/// The line that says that runs are not alike.
fn not_alike(text: &str) -> String {
    format!("not all runs are alike: {text}")
}
