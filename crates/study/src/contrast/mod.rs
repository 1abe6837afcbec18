//! Variants with repeats against each other: did a figure change, by how much, and may chance be ruled out?
//!
//! ```text
//! Runs of a ─┐ exclude   one figure a run   ┌▶ change, interval and p by Welch's t on logarithms  (column)  ──▶ Finding
//! Runs of b ─┴─────────────────────────────▶├▶ the shift quantile by quantile                     (column)
//!                                           └▶ distance of the distributions                      (distance)
//! ```
//!
//! The unit is the run. Requests of one run depend on one another, so however many there are they do not say how much the
//! next run would differ. Below [`RUNS_MIN`] runs nothing is concluded: the change is given, and no more. From there on one interval
//! decides: the finding, the p-value and the number of runs that are missing all follow from it (docs/design/compare.md).

mod column;
mod distance;
mod exclusion;
mod limit;
mod load;
mod measure;
mod pairs;
#[cfg(test)]
mod power;
mod primary;
#[cfg(test)]
mod simulation;
mod splits;

use metrics::Histogram;

use crate::plan::Better;
use column::{Column, Judge, Spread};
use distance::{Aligned, distance};
use splits::Splits;

pub use distance::Distance;
pub use exclusion::exclude;
pub use limit::{Limit, LimitError, LimitVerdict};
pub use load::{Load, Unequal, What, unequal};
pub use measure::{Change, Doubt, Finding, LEVEL, Measure, RUNS_MAX, Rules, Run, Scale};
pub use primary::primary;

pub use crate::stats::RUNS_MIN;

/// The shares of requests at which the shift is computed, in hundredths.
const SHIFT_PERCENTS: [f64; 20] = [
    5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0, 65.0, 70.0, 75.0, 80.0,
    85.0, 90.0, 95.0, 99.0,
];
/// Of so many requests without an error, at most this many more of a hundred percent were likely (95 %): the rule of three.
const RULE_OF_THREE: f64 = 3.0;

/// The shift of one quantile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantileShift {
    /// The share of requests in percent.
    pub percent: f64,
    /// The geometric means over runs in nanoseconds.
    pub centres: (f64, f64),
    /// The change as a share.
    pub change: f64,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
}

/// How `b` compares with `a`.
#[derive(Clone, Debug, PartialEq)]
pub struct Contrast {
    /// Runs of each that [count](Run::counts).
    pub runs: (usize, usize),
    /// The figure that was judged first.
    pub primary: Measure,
    /// Each of [`Measure::ALL`], in that order.
    pub changes: Vec<Change>,
    /// The shift over the quantiles, by rising quantile.
    pub shifts: Vec<QuantileShift>,
    /// The distance of the distributions as they are.
    pub distance: Distance,
    /// The same with each run's times divided by their median: did the spread change, whatever the level?
    pub spread: Distance,
    /// The least p of a distance that so many runs can give, however far apart they are.
    pub p_least: f64,
}

impl Contrast {
    /// There are enough runs of each for an interval, and so for a finding.
    #[must_use]
    pub fn is_enough(&self) -> bool {
        self.runs.0.min(self.runs.1) >= RUNS_MIN
    }
}

/// The measure beside a quantile: of which runs it counts, the quantile does, too.
fn measure_near(percent: f64) -> Measure {
    match percent {
        ..70.0 => Measure::P50,
        ..95.0 => Measure::P90,
        _ => Measure::P99,
    }
}

/// Compares `b` with `a`, each with at most [`RUNS_MAX`] runs. `None` where no run of either counts.
#[must_use]
pub fn contrast(a: &[Run], b: &[Run], rules: &Rules) -> Option<Contrast> {
    debug_assert!(a.len() <= RUNS_MAX && b.len() <= RUNS_MAX);
    let counts = |run: &&Run| run.counts();
    let (a, b): (Vec<&Run>, Vec<&Run>) =
        (a.iter().filter(counts).collect(), b.iter().filter(counts).collect());
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let splits = Splits::of(a.len(), b.len(), rules.seed);
    let primary = primary_of(&a, &b, rules);
    let (judge, changes) = judged_changes(&a, &b, (primary, rules));
    let shifts = SHIFT_PERCENTS.map(|percent| {
        let quantile = |run: &Run| run.times.percentile(percent).0 as f64;
        let column = Column::of(measure_near(percent), (&a, &b), quantile);
        let found = column.judged(&judge);
        QuantileShift {
            percent,
            centres: column.centres,
            change: found.change,
            interval: found.interval,
        }
    });
    let times = |runs: &[&'_ Run]| runs.iter().map(|run| run.times.clone()).collect::<Vec<_>>();
    let all: Vec<Histogram> = [times(&a), times(&b)].concat();
    Some(Contrast {
        runs: (a.len(), b.len()),
        primary,
        changes,
        shifts: shifts.into(),
        distance: distance(&all, a.len(), Aligned::AsTheyAre, &splits),
        spread: distance(&all, a.len(), Aligned::ByMedian, &splits),
        p_least: splits::p_least(a.len(), b.len()),
    })
}

/// The share of errors that runs without one leave room for: not one request failed of those that were made (rule of three); 0 if
/// any failed.
fn unseen_errors(runs: &[&Run]) -> f64 {
    let requests: u64 = runs.iter().map(|run| run.times.count()).sum();
    let clean = runs.iter().all(|run| run.errors == 0.0);
    if clean { RULE_OF_THREE / requests.max(1) as f64 } else { 0.0 }
}

/// The change of each measure from `a` to `b`, without the shifts and distances of [`contrast`], which take longer. `None` where no
/// run of either counts.
pub(crate) fn changes(a: &[Run], b: &[Run], rules: &Rules) -> Option<Vec<Change>> {
    let counts = |run: &&Run| run.counts();
    let (a, b): (Vec<&Run>, Vec<&Run>) =
        (a.iter().filter(counts).collect(), b.iter().filter(counts).collect());
    let found = || judged_changes(&a, &b, (primary_of(&a, &b, rules), rules)).1;
    (!a.is_empty() && !b.is_empty()).then(found)
}

fn primary_of(a: &[&Run], b: &[&Run], rules: &Rules) -> Measure {
    rules.primary.unwrap_or_else(|| primary(a.iter().chain(b).copied()))
}

/// The change of each measure, and what quantiles are judged by.
fn judged_changes(
    a: &[&Run],
    b: &[&Run],
    (primary, rules): (Measure, &Rules),
) -> (Judge, Vec<Change>) {
    let columns = Measure::ALL.map(|measure| {
        let column = Column::of_measure(measure, (a, b));
        if measure == Measure::Errors {
            column.at_least((shot_noise(a), shot_noise(b)))
        } else {
            column
        }
    });
    let first = Measure::ALL.iter().position(|measure| *measure == primary);
    let judges = Judge::step_down(&columns.each_ref().map(Some), first, rules);
    let changes =
        Measure::ALL.iter().zip(&columns).zip(&judges).map(|((measure, column), judge)| {
            let mut change = column.change(*measure, judge);
            let (of_a, of_b) = match measure {
                Measure::Errors => (unseen_errors(a), unseen_errors(b)),
                _ => (0.0, 0.0),
            };
            change.interval = change.interval.map(|(low, high)| (low - of_a, high + of_b));
            // What is equal in every run needs no more of them: its interval says how far it may be from that.
            change.finding = match column.is_judged() && !column.varies() {
                true => Finding::Same,
                false => change.finding(rules),
            };
            if change.finding == Finding::CannotTell {
                let (least, room) = (measure.least_change(rules), of_a.max(of_b));
                change.runs_needed = column.runs_needed(judge, least, room);
            }
            change
        });
    let changes = changes.collect();
    (Judge::of(Measure::ALL.len(), rules), changes)
}

/// The variance that the share of errors of one run has, were each request to fail on its own; 0 where none failed.
fn shot_noise(runs: &[&Run]) -> f64 {
    let count = runs.len() as f64;
    let share = runs.iter().map(|run| run.errors).sum::<f64>() / count;
    let requests = runs.iter().map(|run| run.times.count()).sum::<u64>() as f64 / count;
    share * (1.0 - share) / requests.max(1.0)
}

impl Change {
    /// The same is what lies within the least change that matters, different what excludes 0 and may matter.
    fn finding(&self, rules: &Rules) -> Finding {
        let different = |is_more: bool| {
            if self.measure.is_worse(is_more) { Finding::Worse } else { Finding::Better }
        };
        judged(self.interval, self.measure.least_change(rules), different)
    }
}

/// The finding of an interval: one rule for every figure, so that a verdict never contradicts the interval beside it.
fn judged(
    interval: Option<(f64, f64)>,
    least: f64,
    different: impl Fn(bool) -> Finding,
) -> Finding {
    match interval {
        Some((low, high)) if low >= -least && high <= least => Finding::Same,
        Some((low, high)) if low > 0.0 || high < 0.0 => different(low > 0.0),
        _ => Finding::CannotTell,
    }
}

/// The probability that a figure of equal variants is this far apart, judged on its own; 1 for too few runs.
#[must_use]
pub(crate) fn p_alone(a: &[f64], b: &[f64]) -> f64 {
    let positive = a.iter().chain(b).all(|value| *value > 0.0);
    let scale = if positive { Scale::Ratio } else { Scale::Difference };
    let column = Column::of_values(scale, a.to_vec(), b.to_vec());
    column.judged(&Judge::of(1, &Rules::default())).p
}

/// A figure that [`Run`] does not have, in every run of `a` and of `b`; `None` where a run lacks it.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureValues {
    /// In the runs of `a`.
    pub a: Vec<Option<f64>>,
    /// In the runs of `b`.
    pub b: Vec<Option<f64>>,
    /// Which direction is the better one.
    pub better: Better,
    /// What changes are counted in.
    pub scale: Scale,
}

/// How a figure of runs changed that [`Run`] does not have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FigureChange {
    /// What the runs of `a` and of `b` have on average ([`Scale::centre`]), in the figure's own unit.
    pub centres: (f64, f64),
    /// The change, in the figure's [`Scale`].
    pub change: f64,
    /// Its interval, as a [`Change`] has it; `None` below [`RUNS_MIN`] runs.
    pub interval: Option<(f64, f64)>,
    /// The p of this figure on its own.
    pub p: f64,
    /// The chance that any figure, of any of the comparisons, of equal variants is this far apart.
    pub p_family: f64,
    /// The finding, by the rules for measures.
    pub finding: Finding,
}

/// Compares figures of the runs of `a` and `b`; all of them must be of the same runs, at most [`RUNS_MAX`] of each. `None` for
/// a figure that no run has.
#[must_use]
pub fn compare_figures(figures: &[FigureValues], rules: &Rules) -> Vec<Option<FigureChange>> {
    let Some(first) = figures.first() else { return Vec::new() };
    let (m, n) = (first.a.len(), first.b.len());
    debug_assert!(figures.iter().all(|one| one.a.len() == m && one.b.len() == n));
    if m == 0 || n == 0 {
        return vec![None; figures.len()];
    }
    let columns: Vec<Option<Column>> = figures.iter().map(FigureValues::column).collect();
    let judges =
        Judge::step_down(&columns.iter().map(Option::as_ref).collect::<Vec<_>>(), None, rules);
    let found = figures.iter().zip(columns).zip(judges);
    found.map(|((figure, column), judge)| Some(figure.change(&column?, &judge, rules))).collect()
}

impl FigureValues {
    /// The values of the runs that have it; `None` where none of a side does.
    fn column(&self) -> Option<Column> {
        let known = |values: &[Option<f64>]| values.iter().flatten().copied().collect::<Vec<f64>>();
        let (a, b) = (known(&self.a), known(&self.b));
        (!a.is_empty() && !b.is_empty()).then(|| Column::of_values(self.scale, a, b))
    }

    fn change(&self, column: &Column, judge: &Judge, rules: &Rules) -> FigureChange {
        let Spread { change, interval, p, p_family, .. } = column.judged(judge);
        let least = match self.scale {
            Scale::Ratio => rules.effect_min,
            Scale::Difference => rules.errors_min,
        };
        let finding = judged(interval, least, |is_more| self.better.of(is_more));
        FigureChange { centres: column.centres, change, interval, p, p_family, finding }
    }
}

impl Better {
    /// What more of it, or less, is, where chance is ruled out.
    fn of(self, is_more: bool) -> Finding {
        match (self, is_more) {
            (Self::Neither, _) => Finding::Differs,
            (Self::More, true) | (Self::Less, false) => Finding::Better,
            (Self::More, false) | (Self::Less, true) => Finding::Worse,
        }
    }
}

#[cfg(test)]
mod tests;
