//! `StudyReport`: all runs of a study as one page and one JSON document: which variant is better under each workload, by how
//! much, whether the expected orderings held, and how every run went.

mod findings;
mod json;
mod model;
mod page;
mod tables;
#[cfg(test)]
mod tests;

use metrics::server::Side;
use stdx::Nanos;
use study::contrast::{FigureChange, FigureValues, Measure, Rules, Scale, compare_figures};
use study::plan::{Cell, Figure, Judged, Ordering, Unit};

use self::model::Model;
use crate::contrasts::{Contrasts, Variant, VariantRun};
use crate::number::{duration, number};

/// A study that was run, or as much of it as there is.
#[derive(Clone, Debug, Default)]
pub struct StudyInput {
    /// Its name.
    pub name: String,
    /// What it asks.
    pub title: String,
    /// `full` or `quick`.
    pub form: String,
    /// The seed of the order of runs and of the intervals.
    pub seed: u64,
    /// What it was run on, by name.
    pub facts: Vec<(String, String)>,
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
    /// What became of it.
    pub state: StudyState,
    /// Unix time (ns) of its begin; 0 where it was not run.
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
    /// Its results; a search has none.
    pub results: Option<VariantRun>,
    /// What the servers' logs told of its requests.
    pub side: Side,
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StudyState {
    /// It was measured.
    Measured,
    /// It failed, for this reason.
    Failed(String),
    /// It has not been run: its variant was left out, or the study was ended before.
    NotRun,
}

/// A study with what its runs say.
#[derive(Clone, Debug)]
pub struct StudyReport {
    input: StudyInput,
    workloads: Vec<Found>,
}

/// What was found under one workload.
#[derive(Clone, Debug)]
struct Found {
    /// Of the variants that have results.
    contrasts: Contrasts,
    /// Figures that results do not have: a label and a change of each.
    others: Vec<OtherChange>,
    /// Each expected ordering, judged where both have runs.
    orderings: Vec<(Ordering, Option<Judged>)>,
    /// Where one is asked for and there are loads to join.
    model: Option<Model>,
}

/// A figure of a variant against the first variant's.
#[derive(Clone, Debug)]
struct OtherChange {
    label: String,
    against: String,
    figure: &'static Figure,
    scale: Scale,
    found: FigureChange,
}

impl StudyReport {
    /// Compares whatever was measured.
    #[must_use]
    pub fn of(input: StudyInput) -> Self {
        let workloads = (0..input.workloads.len()).map(|at| found(&input, at)).collect();
        Self { input, workloads }
    }
}

impl StudyInput {
    /// The measured runs of a cell.
    fn measured(&self, cell: Cell) -> impl Iterator<Item = &StudyRun> {
        let of = move |run: &&StudyRun| run.cell == cell && run.state == StudyState::Measured;
        self.runs.iter().filter(of)
    }

    /// A figure in every measured run of a cell, where the run tells it.
    fn told(&self, cell: Cell, figure: &Figure) -> Vec<Option<f64>> {
        let value = |run: &StudyRun| {
            run.figures.iter().find(|(of, _)| of.name == figure.name).map(|(_, value)| *value)
        };
        self.measured(cell).map(value).collect()
    }

    /// A figure in every measured run of a cell that tells it.
    fn values(&self, cell: Cell, figure: &Figure) -> Vec<f64> {
        self.told(cell, figure).into_iter().flatten().collect()
    }

    /// The variants that were planned for a workload.
    fn planned(&self, workload: usize) -> Vec<usize> {
        let has = |variant: &usize| {
            self.runs.iter().any(|run| run.cell == Cell { workload, variant: *variant })
        };
        (0..self.variants.len()).filter(has).collect()
    }

    fn variant(&self, name: &str) -> Option<usize> {
        self.variants.iter().position(|variant| variant.name == name)
    }
}

fn found(input: &StudyInput, workload: usize) -> Found {
    let rules = Rules { seed: input.seed, ..Rules::default() };
    let variants: Vec<Variant> = input
        .planned(workload)
        .into_iter()
        .map(|variant| {
            let runs = input.measured(Cell { workload, variant });
            let label = input.variants[variant].name.clone();
            let runs = runs.filter_map(|run| run.results.clone()).collect();
            Variant { label, runs, ..Variant::default() }
        })
        .filter(|variant| !variant.runs.is_empty())
        .collect();
    let contrasts = Contrasts::of(&input.workloads[workload].name, variants, rules, &[]);
    let orderings = input.workloads[workload].expect.iter().map(|ordering| {
        let values = |name: &str| {
            let variant = input.variant(name)?;
            Some(input.values(Cell { workload, variant }, ordering.figure))
        };
        let judged = values(&ordering.first)
            .zip(values(&ordering.second))
            .and_then(|(first, second)| ordering.judge(&first, &second));
        (ordering.clone(), judged)
    });
    Found {
        contrasts,
        others: others(input, workload, rules),
        orderings: orderings.collect(),
        model: Model::of(input, workload),
    }
}

/// The figures beyond those that results have, of each variant against the first.
fn others(input: &StudyInput, workload: usize, rules: Rules) -> Vec<OtherChange> {
    let planned = input.planned(workload);
    let Some((first, rest)) = planned.split_first() else { return Vec::new() };
    let has_runs =
        |variant: &&usize| input.measured(Cell { workload, variant: **variant }).next().is_some();
    let rules = Rules { comparisons: rest.iter().filter(has_runs).count().max(1), ..rules };
    let figures: Vec<&'static Figure> =
        Figure::ALL.iter().filter(|figure| !is_compared(figure)).collect();
    let name = |at: usize| input.variants[at].name.clone();
    let against = |variant: &usize| {
        let values = |figure: &&Figure| FigureValues {
            a: input.told(Cell { workload, variant: *first }, figure),
            b: input.told(Cell { workload, variant: *variant }, figure),
            better: figure.better,
            scale: scale(figure),
        };
        // All figures of a variant are one family.
        let values: Vec<FigureValues> = figures.iter().map(values).collect();
        compare_figures(&values, &rules)
    };
    let columns: Vec<_> = rest.iter().map(against).collect();
    let of = |(at, figure): (usize, &&'static Figure)| {
        let changes = rest.iter().zip(&columns).filter_map(|(variant, column)| {
            let (label, against, scale) = (name(*variant), name(*first), scale(figure));
            Some(OtherChange { label, against, figure, scale, found: column[at]? })
        });
        changes.collect::<Vec<_>>()
    };
    figures.iter().enumerate().flat_map(of).collect()
}

/// What changes of a figure are counted in.
fn scale(figure: &Figure) -> Scale {
    if figure.unit == Unit::Share { Scale::Difference } else { Scale::Ratio }
}

/// Results have this figure, which the comparison of results judges.
fn is_compared(figure: &Figure) -> bool {
    Measure::ALL.iter().any(|measure| measure.name() == figure.name)
        || matches!(figure.name, "latency.p95" | "latency.max")
}

/// A figure with its unit.
fn value(figure: &Figure, value: f64) -> String {
    match figure.unit {
        Unit::Nanos => duration(Nanos(value.max(0.0).round() as u64)),
        Unit::PerSecond => format!("{}/s", number(value)),
        Unit::Share => format!("{:.2}%", value * 100.0),
        Unit::Bytes => format!("{} MiB", number(value / f64::from(1 << 20))),
        Unit::BytesPerSecond => format!("{} KiB/s", number(value / 1024.0)),
        Unit::Cores => format!("{} cores", number(value)),
        Unit::Plain => number(value),
    }
}

/// A change with its sign: percent, or points of shares.
fn change(scale: Scale, change: f64) -> String {
    let percent = change * 100.0;
    match scale {
        Scale::Difference => format!("{percent:+.2} points"),
        Scale::Ratio if percent.abs() >= 1000.0 => format!("{percent:+.0}%"),
        Scale::Ratio => format!("{percent:+.1}%"),
    }
}
