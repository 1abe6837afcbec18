//! `StudyReport`: a study with what its runs say, and how its figures are written.

use stdx::Nanos;
use study::contrast::{FigureChange, FigureValues, Measure, Rules, Scale, compare_figures};
use study::plan::{Cell, Figure, Ordering, OrderingOutcome, Unit};

use super::input::StudyInput;
use super::model::Model;
use crate::contrasts::{Contrasts, Variant};
use crate::number::{duration, number};

/// A study with what its runs say.
#[derive(Clone, Debug)]
pub struct StudyReport {
    pub(super) input: StudyInput,
    pub(super) workloads: Vec<WorkloadFindings>,
}

/// What was found under one workload.
#[derive(Clone, Debug)]
pub(super) struct WorkloadFindings {
    /// Of the variants that have results.
    pub(super) contrasts: Contrasts,
    /// Figures that results do not have: a label and a change of each.
    pub(super) others: Vec<OtherChange>,
    /// Each expected ordering, judged where both have runs.
    pub(super) orderings: Vec<(Ordering, Option<OrderingOutcome>)>,
    /// The fitted model, where the study requests one and there are loads to fit.
    pub(super) model: Option<Model>,
}

/// A figure of a variant against the first variant's.
#[derive(Clone, Debug)]
pub(super) struct OtherChange {
    pub(super) label: String,
    pub(super) against: String,
    pub(super) figure: &'static Figure,
    pub(super) scale: Scale,
    pub(super) found: FigureChange,
}

impl StudyReport {
    /// Compares whatever was measured.
    #[must_use]
    pub fn of(input: StudyInput) -> Self {
        let workloads =
            (0..input.workloads.len()).map(|at| workload_findings(&input, at)).collect();
        Self { input, workloads }
    }
}

fn workload_findings(input: &StudyInput, workload: usize) -> WorkloadFindings {
    let rules =
        Rules { seed: input.seed, looks: input.looks, primary: input.primary, ..Rules::default() };
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
    WorkloadFindings {
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
            a: input.per_run(Cell { workload, variant: *first }, figure),
            b: input.per_run(Cell { workload, variant: *variant }, figure),
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

/// Which of the figures beyond the results are put into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decided {
    /// Those that changed.
    Only,
    /// All of them.
    OrNot,
}

/// What changes of a figure are counted in.
fn scale(figure: &Figure) -> Scale {
    if figure.unit == Unit::Share { Scale::Difference } else { Scale::Ratio }
}

/// Results have this figure, which the comparison of results judges.
pub(super) fn is_compared(figure: &Figure) -> bool {
    Measure::ALL.iter().any(|measure| measure.name() == figure.name)
        || matches!(figure.name, "latency.p95" | "latency.max")
}

/// A figure with its unit.
pub(super) fn value(figure: &Figure, value: f64) -> String {
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
pub(super) fn change(scale: Scale, change: f64) -> String {
    let percent = change * 100.0;
    match scale {
        Scale::Difference => format!("{percent:+.2} points"),
        Scale::Ratio if percent.abs() >= 1000.0 => format!("{percent:+.0}%"),
        Scale::Ratio => format!("{percent:+.1}%"),
    }
}
