//! `Model`: what a queueing model says of a workload whose variants are one set-up under several loads.

use study::contrast::Load;
use study::plan::Cell;
use study::scaling::{Fit, Observation, Refusal, Sweep, fit};
use study::seek::By;

use super::StudyInput;
use crate::contrasts::VariantRun;
use crate::figure::Figure;
use crate::scaling::{FitInput, fit_figure, fit_json, fit_sentence, fit_text};

/// A workload's loads, and the model that joins them.
#[derive(Clone, Debug)]
pub(super) struct Model {
    sweep: Sweep,
    found: Result<Fit, Refusal>,
    notes: Vec<String>,
}

impl Model {
    /// Fits a model to all measured runs of a workload, where its study asks for one and its runs have a load.
    pub(super) fn of(input: &StudyInput, workload: usize) -> Option<Self> {
        if !input.workloads[workload].fit {
            return None;
        }
        let cells = input.planned(workload).into_iter().map(|variant| Cell { workload, variant });
        let runs = cells.flat_map(|cell| input.measured(cell));
        let runs: Vec<&VariantRun> = runs.filter_map(|run| run.results.as_ref()).collect();
        let by = by(&runs.first()?.load);
        let observed: Vec<Observation> =
            runs.iter().filter_map(|run| observation(by, run)).collect();
        let without = runs.len() - observed.len();
        let notes = match without {
            0 => Vec::new(),
            _ => vec![format!(
                "{without} runs are left out of the model: no request, or a load of another kind."
            )],
        };
        let sweep = Sweep { by, observations: observed };
        let found = fit(&sweep, None, input.seed);
        Some(Self { sweep, found, notes })
    }

    fn input(&self) -> FitInput<'_> {
        FitInput { sweep: &self.sweep, found: &self.found, at: &[], notes: &self.notes }
    }

    /// As `brunt fit` tells it.
    pub(super) fn text(&self) -> String {
        fit_text(&self.input())
    }

    /// As `brunt fit -json` tells it.
    pub(super) fn json(&self) -> String {
        fit_json(&self.input()).trim_end().to_owned()
    }

    /// Measured and predicted.
    pub(super) fn figure(&self) -> Figure {
        fit_figure(&self.input())
    }

    /// What it comes to.
    pub(super) fn sentence(&self) -> String {
        fit_sentence(&self.input())
    }
}

/// What a run's load is counted in.
fn by(load: &Load) -> By {
    if load.users > 0.0 { By::Connections } else { By::Rate }
}

fn observation(by: By, run: &VariantRun) -> Option<Observation> {
    let (figures, load) = (&run.figures, &run.load);
    let load = match by {
        By::Connections => load.users,
        By::Rate => load.rate_per_s,
    };
    let times = &figures.times;
    if load <= 0.0 || times.count() == 0 || figures.errors >= 1.0 {
        return None;
    }
    Some(Observation {
        load,
        // What failed took its time as well.
        throughput_per_s: figures.throughput_per_s / (1.0 - figures.errors),
        mean_s: times.sum() as f64 / times.count() as f64 / 1e9,
        p50_s: Some(times.quantile(0.5).as_secs_f64()),
        p99_s: Some(times.quantile(0.99).as_secs_f64()),
    })
}
