//! The end of a study: every run's outcome, read where it is not known yet, as one page and one document.

use ::report::{StudyInput, StudyReport, StudyRun, StudyState, StudyVariant, StudyWorkload};
use metrics::server::Side;
use stdx::Nanos;
use study::plan::{Ended, GivenUp, given_up};

use super::file::Mode;
use super::kept::{Kept, replace};
use super::outcome::Outcome;
use super::progress::Progress;
use super::record::Record;
use super::{Whole, machine};
use crate::command::compare;
use crate::exit_code::{ExitCode, Failed};
use crate::output::Place;

/// Why a variant under a workload that failed again and again is run no more.
pub(super) const GIVEN_UP: &str = "three of its runs failed in a row";
/// Why a variant is.
pub(super) const NEVER_READY: &str =
    "three of its runs in a row failed before its servers were ready";

impl Whole<'_> {
    /// Writes the report and the document, and says what was found.
    ///
    /// # Errors
    /// They cannot be written.
    pub(super) fn conclude(
        &self,
        kept: &Kept,
        outcomes: Vec<Option<Outcome>>,
        versions: Vec<Vec<(String, String)>>,
        progress: &Progress,
    ) -> Result<ExitCode, Failed> {
        let given_up = given_up(&kept.slots, &kept.ended());
        let runs = kept.slots.iter().zip(&kept.records).zip(outcomes);
        let runs = runs.enumerate().map(|(at, ((slot, record), outcome))| {
            let empty = || StudyRun {
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
                results: None,
                side: Side::default(),
            };
            record.as_ref().map_or_else(empty, |record| self.told(kept, at, record, outcome))
        });
        let runs: Vec<StudyRun> = runs.collect();
        let variants = self.study.variants.iter().zip(versions).enumerate();
        let variants = variants.map(|(at, (variant, versions))| {
            let before =
                self.left_out.iter().find(|(out, _)| *out == at).map(|(_, why)| why.clone());
            let later = given_up.contains(&GivenUp::Variant(at)).then(|| NEVER_READY.to_owned());
            let left_out = before.or(later).unwrap_or_default();
            StudyVariant {
                name: variant.name.clone(),
                note: variant.note.clone(),
                // A report that is made anew is of the servers that were measured, not of those there are now.
                versions: kept.versions(at).map_or(versions, <[_]>::to_vec),
                left_out,
            }
        });
        let workloads = self.study.workloads.iter().map(|workload| StudyWorkload {
            name: workload.name.clone(),
            command: workload.command.join(" "),
            fit: workload.fit,
            expect: workload.expect.clone(),
        });
        let input = StudyInput {
            name: self.study.name.clone(),
            title: self.study.title.clone(),
            form: if self.mode == Mode::Quick { "quick" } else { "full" }.to_owned(),
            seed: self.study.seed,
            facts: machine::facts(),
            variants: variants.collect(),
            workloads: workloads.collect(),
            skipped: self.study.skipped.clone(),
            unlike: kept.unlike(),
            left_out: given_up
                .iter()
                .filter_map(|one| match one {
                    GivenUp::Cell(cell) => Some((*cell, GIVEN_UP.to_owned())),
                    GivenUp::Variant(_) => None,
                })
                .collect(),
            runs,
        };
        let whole = input.runs.iter().all(|run| run.state == StudyState::Measured);
        self.write(&StudyReport::of(input), progress)?;
        Ok(if whole { ExitCode::Ok } else { ExitCode::Incomplete })
    }

    fn write(&self, report: &StudyReport, progress: &Progress) -> Result<(), Failed> {
        replace(&self.folder.document(), report.json().as_bytes())?;
        replace(&self.folder.report(), report.html().as_bytes())?;
        if progress.is_json() {
            return Ok(());
        }
        let mut text = String::new();
        for line in report.findings() {
            text.push_str(&format!("{line}\n"));
        }
        text.push_str(&format!("\n{}\n", self.folder.report().display()));
        Place::Stdout.write(text.as_bytes())
    }

    /// A run that has ended. What was measured by an earlier call is read now; that it can no longer be read is told.
    fn told(&self, kept: &Kept, at: usize, record: &Record, outcome: Option<Outcome>) -> StudyRun {
        let mut state = match record.ended {
            Ended::Measured => StudyState::Measured,
            Ended::Failed | Ended::Unready => StudyState::Failed(record.reason.clone()),
        };
        let read = match (outcome, record.ended) {
            (Some(outcome), _) => Some(outcome),
            (None, Ended::Failed | Ended::Unready) => None,
            (None, Ended::Measured) => match self.outcome(kept, at, record) {
                Ok(outcome) => Some(outcome),
                Err(failed) => {
                    state = StudyState::Failed(format!("its results cannot be read: {failed}"));
                    None
                }
            },
        };
        let results =
            read.as_ref().and_then(|outcome| outcome.run.as_ref()).map(compare::variant_run);
        let (figures, invalid, seen, side) = read.map_or_else(Default::default, |read| {
            (read.figures, read.invalid, read.notes, read.side)
        });
        StudyRun {
            cell: kept.slots[at].cell,
            repeat: kept.slots[at].repeat,
            state,
            began: record.began,
            took: record.took,
            start: record.start,
            load_before: record.load_before,
            codes: record.codes.clone(),
            notes: [record.notes.clone(), seen].concat(),
            invalid,
            figures,
            results,
            side,
        }
    }
}
