//! `Model`: a queueing model of a workload with variants that are one set-up under several loads.

use stdx::are;
use study::contrast::Measure;
use study::plan::Cell;
use study::scaling::{self, Fit, Refusal, RunFigures, Sweep, by_most, load_of};
use study::seek::By;

use super::input::{StudyInput, StudyRun};
use crate::contrasts::VariantRun;
use crate::figure::Figure;
use crate::fit::{self, FitInput};
use crate::number::counted;

/// Notes on single runs, at most; the rest is counted.
const NOTES_MAX: usize = 12;

/// A workload's loads, and the model that joins them.
#[derive(Clone, Debug)]
pub(super) struct Model {
    sweep: Sweep,
    found: Result<Fit, Refusal>,
    notes: Vec<String>,
}

impl Model {
    /// Fits a model to all measured runs of a workload, where its study requests one and there are results.
    pub(super) fn of(input: &StudyInput, workload: usize) -> Option<Self> {
        if !input.workloads[workload].fit {
            return None;
        }
        let cells = input.planned(workload).into_iter().map(|variant| Cell { workload, variant });
        let runs = cells.flat_map(|cell| input.measured(cell));
        let runs: Vec<(&StudyRun, &VariantRun)> =
            runs.filter_map(|run| Some((run, run.results.as_ref()?))).collect();
        if runs.is_empty() {
            return None;
        }
        let (sweep, notes) = sweep(input, &runs);
        let found = scaling::fit(&sweep, None, input.seed);
        Some(Self { sweep, found, notes })
    }

    fn input(&self) -> FitInput<'_> {
        FitInput { sweep: &self.sweep, found: &self.found, at: &[], notes: &self.notes }
    }

    /// The text of `brunt fit`.
    pub(super) fn text(&self) -> String {
        fit::text(&self.input())
    }

    /// The JSON of `brunt fit -json`.
    pub(super) fn json(&self) -> String {
        fit::json(&self.input()).trim_end().to_owned()
    }

    /// Measured and predicted.
    pub(super) fn figure(&self) -> Figure {
        fit::figure(&self.input())
    }

    /// What it comes to.
    pub(super) fn sentence(&self) -> String {
        fit::sentence(&self.input())
    }
}

/// The runs as measurements, with what must be known of them. What most runs have decides between users and rates.
fn sweep(input: &StudyInput, runs: &[(&StudyRun, &VariantRun)]) -> (Sweep, Vec<String>) {
    let loads = runs.iter().filter_map(|(_, results)| load_of(&results.load, None));
    let by = by_most(loads.map(|(by, _)| by)).unwrap_or(By::Connections);
    let (mut observed, mut notes, mut others) = (Vec::new(), Vec::new(), 0);
    for (run, results) in runs {
        let Some((_, load)) = load_of(&results.load, Some(by)) else {
            others += 1;
            continue;
        };
        let variant = &input.variants[run.cell.variant].name;
        let figures = RunFigures {
            name: &format!("repeat {} of {variant}", run.repeat),
            times: &results.figures.times,
            completions_per_s: completions_per_s(results),
            errors: results.figures.errors,
            invalid: &run.invalid,
        };
        observed.extend(figures.at(load, &mut notes));
    }
    let more = notes.len().saturating_sub(NOTES_MAX);
    notes.truncate(NOTES_MAX);
    if more > 0 {
        notes.push(format!("{more} more such notes on runs are left out."));
    }
    if others > 0 {
        let (runs, are) = (counted(others as u64, "run"), are(others as u64));
        notes.push(format!("{runs} {are} left out: a load of another kind, or none told."));
    }
    let sweep = Sweep::bounded(by, observed, &mut notes);
    (sweep, notes)
}

/// Responses per second, failed ones included: successes divided by their share, or by Little's law where all failed.
fn completions_per_s(run: &VariantRun) -> f64 {
    let figures = &run.figures;
    if figures.errors < 1.0 {
        return figures.throughput_per_s / (1.0 - figures.errors);
    }
    run.load.in_flight * 1e9 / Measure::Mean.of(figures)
}
