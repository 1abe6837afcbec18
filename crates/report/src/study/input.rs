//! `StudyInput`: every run of a study, and what it was planned as.

use metrics::Provenance;
use metrics::server::Side;
use metrics::tally::Assertion;
use stdx::Nanos;
use study::contrast::Measure;
use study::plan::{Cell, Figure, Ordering};

use crate::contrasts::VariantRun;
use crate::provenance;

/// A study that was run, or as much of it as there is.
#[derive(Clone, Debug, Default)]
pub struct StudyInput {
    /// Its name.
    pub name: String,
    /// The question that it answers.
    pub title: String,
    /// `full` or `quick`.
    pub form: String,
    /// The seed of the order of runs and of the intervals.
    pub seed: u64,
    /// What it was run on, by name.
    pub facts: Vec<(String, String)>,
    /// How it was started: command line, machine, versions; `None` where that is not known.
    pub provenance: Option<Provenance>,
    /// The variants, the first of them what others are compared with.
    pub variants: Vec<StudyVariant>,
    /// The workloads.
    pub workloads: Vec<StudyWorkload>,
    /// Names of workloads that are not part of this form.
    pub skipped: Vec<String>,
    /// What the runs do not have in common though they should, such as what servers are configured with.
    pub unlike: Vec<String>,
    /// Variants under a workload that were left out from some run on, and why.
    pub left_out: Vec<(Cell, String)>,
    /// How often runs are judged, at most, before the study ends: more than once if it goes on until it is sure.
    pub looks: usize,
    /// The figure that is judged first, where the study names one.
    pub primary: Option<Measure>,
    /// How a study that goes on until it is sure ended; empty for others.
    pub ended: String,
    /// Every run that was planned, in the order of the plan.
    pub runs: Vec<StudyRun>,
}

/// A variant.
#[derive(Clone, Debug, Default)]
pub struct StudyVariant {
    /// Its name.
    pub name: String,
    /// What it is.
    pub note: String,
    /// Its servers, each with what it says of its version.
    pub versions: Vec<(String, String)>,
    /// Why it was left out, wholly or from some run on; empty where it was not.
    pub left_out: String,
}

/// A workload.
#[derive(Clone, Debug, Default)]
pub struct StudyWorkload {
    /// Its name.
    pub name: String,
    /// brunt's command line.
    pub command: String,
    /// Its variants are one set-up under several loads, which a model may join.
    pub fit: bool,
    /// Orderings that were expected.
    pub expect: Vec<Ordering>,
}

/// One planned run.
#[derive(Clone, Debug)]
pub struct StudyRun {
    /// What was run.
    pub cell: Cell,
    /// Which repeat, from 1.
    pub repeat: usize,
    /// Its outcome.
    pub state: StudyState,
    /// Unix time (ns) of its start; 0 where it was not run.
    pub began: i64,
    /// How long it took, its servers' start included.
    pub took: Nanos,
    /// How long its servers took to get ready.
    pub start: Nanos,
    /// The machine's load average before it.
    pub load_before: Option<f64>,
    /// The exit codes of its load generators.
    pub codes: Vec<i32>,
    /// What else is to be known of it, one sentence each.
    pub notes: Vec<String>,
    /// Why its figures may not be believed.
    pub invalid: Vec<String>,
    /// Its figures.
    pub figures: Vec<(&'static Figure, f64)>,
    /// What it attacked, in a few words; empty where that is not known.
    pub attacked: String,
    /// Its results; a search has none.
    pub results: Option<VariantRun>,
    /// Its requests in the servers' logs.
    pub side: Side,
}

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StudyState {
    /// It was measured.
    Measured,
    /// It failed, for this reason.
    Failed(String),
    /// It has not been run: its variant was left out, or the study was ended before.
    NotRun,
}

impl StudyInput {
    /// How it was made, a line each: command line; when its first run began, machine, versions.
    pub(super) fn made(&self) -> Vec<String> {
        let began = self.runs.iter().map(|run| run.began).filter(|began| *began > 0).min();
        let rows = self.provenance.iter().cloned().map(|one| Assertion::Provenance(Box::new(one)));
        provenance::lines_of(&rows.collect::<Vec<_>>(), began, None)
    }

    /// What runs under a workload attacked: one for all variants, or one for each.
    pub(super) fn attacked(&self, workload: usize) -> String {
        let runs = self.runs.iter().filter(|run| run.cell.workload == workload);
        let mut runs: Vec<&StudyRun> = runs.filter(|run| !run.attacked.is_empty()).collect();
        runs.sort_by_key(|run| run.cell.variant);
        let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
        for run in runs {
            let variant = self.variants[run.cell.variant].name.as_str();
            match all.iter_mut().find(|(words, _)| *words == run.attacked) {
                Some((_, variants)) if variants.contains(&variant) => {}
                Some((_, variants)) => variants.push(variant),
                None => all.push((&run.attacked, vec![variant])),
            }
        }
        match all.as_slice() {
            [(words, _)] => (*words).to_owned(),
            all => {
                let each = |(words, variants): &(&str, Vec<&str>)| {
                    format!("{words} ({})", variants.join(", "))
                };
                all.iter().map(each).collect::<Vec<_>>().join("; ")
            }
        }
    }

    /// The measured runs of a cell.
    pub(super) fn measured(&self, cell: Cell) -> impl Iterator<Item = &StudyRun> {
        let of = move |run: &&StudyRun| run.cell == cell && run.state == StudyState::Measured;
        self.runs.iter().filter(of)
    }

    /// A figure in every measured run of a cell, with `None` for a run without it.
    pub(super) fn per_run(&self, cell: Cell, figure: &Figure) -> Vec<Option<f64>> {
        let value = |run: &StudyRun| {
            run.figures.iter().find(|(of, _)| of.name == figure.name).map(|(_, value)| *value)
        };
        self.measured(cell).map(value).collect()
    }

    /// A figure in every measured run of a cell that has it.
    pub(super) fn values(&self, cell: Cell, figure: &Figure) -> Vec<f64> {
        self.per_run(cell, figure).into_iter().flatten().collect()
    }

    /// The variants that were planned for a workload.
    pub(super) fn planned(&self, workload: usize) -> Vec<usize> {
        let has = |variant: &usize| {
            self.runs.iter().any(|run| run.cell == Cell { workload, variant: *variant })
        };
        (0..self.variants.len()).filter(has).collect()
    }

    pub(super) fn variant(&self, name: &str) -> Option<usize> {
        self.variants.iter().position(|variant| variant.name == name)
    }
}
