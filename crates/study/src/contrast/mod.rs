//! Variants with repeats against each other: did a figure change, by how much, and may chance be ruled out?
//!
//! ```text
//! Runs of a ─┐  one figure a run   ┌▶ Mann-Whitney, and the family's p     (family)
//! Runs of b ─┴────────────────────▶├▶ Hodges-Lehmann shift, its interval   (resample)  ──▶ Finding
//!                                  ├▶ what equal variants would show       (resample)
//!                                  ├▶ the shift quantile by quantile
//!                                  └▶ distance of the distributions        (distance)
//! ```
//!
//! The unit is the run. Requests of one run depend on one another, so however many there are they do not say how much the
//! next run would differ. Where there are too few runs nothing is concluded: the change is given, and no more.

mod distance;
mod enough;
mod family;
mod limit;
mod load;
mod resample;

use metrics::Histogram;

use crate::plan::Better;
use crate::stats::{Tally, mann_whitney};
use distance::{Aligned, distance};
use family::Splits;
use resample::Resampler;

pub use distance::Distance;
pub use enough::runs_needed;
pub use limit::{Limit, LimitError, LimitVerdict};
pub use load::{Load, Unequal, What, unequal};
pub use resample::INTERVAL_RUNS_MIN;

/// The most runs of a variant; a caller with more must leave some out and report it.
pub const RUNS_MAX: usize = 200;
/// The chance that anything at all is called different between equal variants.
pub const LEVEL: f64 = 0.05;
/// The shares of requests at which the shift is computed, in hundredths.
const SHIFT_PERCENTS: [f64; 20] = [
    5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0, 65.0, 70.0, 75.0, 80.0,
    85.0, 90.0, 95.0, 99.0,
];
/// Of so many requests without an error, at most this many more of a hundred percent were likely (95 %): the rule of three.
const RULE_OF_THREE: f64 = 3.0;

/// What one run showed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Its response times.
    pub times: Histogram,
    /// Successes per second.
    pub throughput_per_s: f64,
    /// The share of requests without success, 0 to 1.
    pub errors: f64,
}

impl Run {
    /// It says something of its figures: it had a request, and one that took any time. Others count in no comparison.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.times.max().0 > 0
    }
}

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The mean response time in nanoseconds.
    Mean,
    /// Its median.
    P50,
    /// Its 90th percentile.
    P90,
    /// Its 99th percentile.
    P99,
    /// Successes per second.
    Throughput,
    /// The share of requests without success.
    Errors,
}

/// What a change of a measure is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// By the share it grows: 0.05 is five percent more.
    Ratio,
    /// The difference itself: of error shares, since none at all may grow by no share.
    Difference,
}

/// The finding for a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It changed for the better.
    Better,
    /// It changed for the worse.
    Worse,
    /// It changed, and neither direction is the better one.
    Differs,
    /// If it changed, then by less than matters.
    Same,
    /// Neither can be shown.
    CannotTell,
}

/// The least changes that matter, and the seed of every random choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The least change that matters of measures by ratio, as a share; 0 or more.
    pub effect_min: f64,
    /// The least change of the share of errors that matters; 0 or more.
    pub errors_min: f64,
    /// How many comparisons there are of which none may be called different by chance (Bonferroni); at least 1.
    pub comparisons: usize,
    /// The seed.
    pub seed: u64,
}

impl Default for Rules {
    fn default() -> Self {
        Self { effect_min: 0.02, errors_min: 0.001, comparisons: 1, seed: 1 }
    }
}

/// How one measure changed from `a` to `b`. Changes are in the measure's [`Scale`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Of what.
    pub measure: Measure,
    /// The medians over the runs of `a` and of `b`, in the measure's own unit.
    pub medians: (f64, f64),
    /// The Hodges-Lehmann shift: the median change from a run of `a` to a run of `b`.
    pub change: f64,
    /// Its 95 % bootstrap interval; `None` below [`INTERVAL_RUNS_MIN`] runs.
    pub interval: Option<(f64, f64)>,
    /// The change that 95 of 100 comparisons of equal variants with so many runs stay below, from the spread of runs of one
    /// variant; `None` with too few repeats.
    pub floor: Option<f64>,
    /// Mann-Whitney's p, of this measure on its own.
    pub p: f64,
    /// The chance that any measure, of any of the comparisons, of equal variants is this far apart.
    pub p_family: f64,
    /// The finding.
    pub finding: Finding,
}

/// The shift of one quantile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantileShift {
    /// The share of requests in percent.
    pub percent: f64,
    /// The medians over runs in nanoseconds.
    pub medians: (f64, f64),
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
    /// Each of [`Measure::ALL`], in that order.
    pub changes: Vec<Change>,
    /// The shift over the quantiles, by rising quantile.
    pub shifts: Vec<QuantileShift>,
    /// The distance of the distributions as they are.
    pub distance: Distance,
    /// The same with each run's times divided by their median: did the spread change, whatever the level?
    pub spread: Distance,
    /// The least p that so many runs can give, however far apart they are.
    pub p_least: f64,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Mean, Self::P50, Self::P90, Self::P99, Self::Throughput, Self::Errors];

    /// Its name, which is never changed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mean => "latency.mean",
            Self::P50 => "latency.p50",
            Self::P90 => "latency.p90",
            Self::P99 => "latency.p99",
            Self::Throughput => "throughput",
            Self::Errors => "errors",
        }
    }

    /// What its changes are counted in.
    #[must_use]
    pub const fn scale(self) -> Scale {
        match self {
            Self::Errors => Scale::Difference,
            _ => Scale::Ratio,
        }
    }

    /// Its value in a run: nanoseconds, per second, or a share.
    #[must_use]
    pub fn of(self, run: &Run) -> f64 {
        let times = &run.times;
        match self {
            Self::Mean => times.sum() as f64 / times.count().max(1) as f64,
            Self::P50 => times.quantile(0.5).0 as f64,
            Self::P90 => times.quantile(0.9).0 as f64,
            Self::P99 => times.quantile(0.99).0 as f64,
            Self::Throughput => run.throughput_per_s,
            Self::Errors => run.errors,
        }
    }

    /// A change in this direction is for the worse.
    fn is_worse(self, change: f64) -> bool {
        (change > 0.0) == (self != Self::Throughput)
    }

    fn least_change(self, rules: &Rules) -> f64 {
        match self.scale() {
            Scale::Ratio => rules.effect_min,
            Scale::Difference => rules.errors_min,
        }
    }
}

impl Finding {
    /// Its word, which is never changed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Differs => "differs",
            Self::Same => "same",
            Self::CannotTell => "cannot tell",
        }
    }
}

impl Scale {
    /// A value on the axis on which changes are differences. Where nothing at all succeeded, throughput has no logarithm:
    /// it lies far below every other.
    fn along(self, value: f64) -> f64 {
        match self {
            Self::Ratio => value.max(1e-9).ln(),
            Self::Difference => value,
        }
    }

    /// A difference on that axis as a change.
    fn back(self, difference: f64) -> f64 {
        match self {
            Self::Ratio => difference.exp_m1(),
            Self::Difference => difference,
        }
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
    let mut resampler = Resampler::new(rules.seed);
    let changes = changes(&a, &b, rules, &splits, &mut resampler);
    let shifts = SHIFT_PERCENTS.map(|percent| {
        let quantile = |run: &Run| run.times.quantile(percent / 100.0).0 as f64;
        let column = Column::of(Scale::Ratio, &a, &b, quantile);
        let (change, interval) = column.shift(&mut resampler);
        QuantileShift { percent, medians: column.medians, change, interval }
    });
    let times = |runs: &[&'_ Run]| runs.iter().map(|run| run.times.clone()).collect::<Vec<_>>();
    let all: Vec<Histogram> = [times(&a), times(&b)].concat();
    Some(Contrast {
        runs: (a.len(), b.len()),
        changes,
        shifts: shifts.into(),
        distance: distance(&all, a.len(), Aligned::AsTheyAre, &splits),
        spread: distance(&all, a.len(), Aligned::ByMedian, &splits),
        p_least: family::p_least(a.len(), b.len()),
    })
}

/// The finding for each measure.
fn changes(
    a: &[&Run],
    b: &[&Run],
    rules: &Rules,
    splits: &Splits,
    resampler: &mut Resampler,
) -> Vec<Change> {
    let columns = Measure::ALL.map(|measure| Column::of(measure.scale(), a, b, |r| measure.of(r)));
    let p_family = splits.family(&columns.each_ref().map(Column::joined));
    let changes = Measure::ALL.iter().zip(&columns).zip(p_family).map(|((measure, column), p)| {
        let p = (p * rules.comparisons.max(1) as f64).min(1.0);
        let mut change = column.change(*measure, p, resampler);
        if *measure == Measure::Errors {
            change.widen(a, b);
        }
        change.finding = change.finding(rules);
        change
    });
    changes.collect()
}

/// One figure of every run.
struct Column {
    scale: Scale,
    medians: (f64, f64),
    a: Vec<f64>,
    b: Vec<f64>,
}

impl Column {
    fn of(scale: Scale, a: &[&Run], b: &[&Run], value: impl Fn(&Run) -> f64) -> Self {
        let values = |runs: &[&Run]| runs.iter().map(|run| value(run)).collect::<Vec<f64>>();
        let (a, b) = (values(a), values(b));
        let medians = (Tally::of_values(&a).median(), Tally::of_values(&b).median());
        let along = |values: Vec<f64>| values.into_iter().map(|v| scale.along(v)).collect();
        Self { scale, medians, a: along(a), b: along(b) }
    }

    /// All values, those of `a` first.
    fn joined(&self) -> Vec<f64> {
        [&self.a[..], &self.b].concat()
    }

    fn shift(&self, resampler: &mut Resampler) -> (f64, Option<(f64, f64)>) {
        let (shift, interval) = resampler.shift(&self.a, &self.b);
        let back = |difference| self.scale.back(difference);
        (back(shift), interval.map(|(low, high)| (back(low), back(high))))
    }

    fn change(&self, measure: Measure, p_family: f64, resampler: &mut Resampler) -> Change {
        let (change, interval) = self.shift(resampler);
        let floor = resampler.floor(&self.a, &self.b).map(|floor| self.scale.back(floor));
        let test = mann_whitney(&Tally::of_values(&self.a), &Tally::of_values(&self.b));
        let p = test.map_or(1.0, |test| test.p);
        let finding = Finding::CannotTell;
        Change { measure, medians: self.medians, change, interval, floor, p, p_family, finding }
    }
}

impl Change {
    /// That not one request failed leaves room for some that would have.
    fn widen(&mut self, a: &[&Run], b: &[&Run]) {
        let room = |runs: &[&Run]| {
            let requests: u64 = runs.iter().map(|run| run.times.count()).sum();
            let clean = runs.iter().all(|run| run.errors == 0.0);
            if clean { RULE_OF_THREE / requests.max(1) as f64 } else { 0.0 }
        };
        let (of_a, of_b) = (room(a), room(b));
        self.interval = self.interval.map(|(low, high)| (low - of_a, high + of_b));
    }

    /// Different is what chance, the interval and the least change that matters agree on; the same is what lies within that
    /// least change for certain.
    fn finding(&self, rules: &Rules) -> Finding {
        let Some((low, high)) = self.interval else { return Finding::CannotTell };
        let least = self.measure.least_change(rules);
        let certain = self.p_family <= LEVEL && (low > 0.0 || high < 0.0);
        match () {
            () if certain && self.change.abs() >= least => {
                if self.measure.is_worse(self.change) {
                    Finding::Worse
                } else {
                    Finding::Better
                }
            }
            () if low >= -least && high <= least => Finding::Same,
            () => Finding::CannotTell,
        }
    }
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
    /// The medians over the runs of `a` and of `b`, in the figure's own unit.
    pub medians: (f64, f64),
    /// The Hodges-Lehmann shift, in the figure's [`Scale`].
    pub change: f64,
    /// Its 95 % bootstrap interval; `None` below [`INTERVAL_RUNS_MIN`] runs.
    pub interval: Option<(f64, f64)>,
    /// Mann-Whitney's p, of this figure on its own.
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
    let along = |one: &FigureValues| {
        let values = one.a.iter().chain(&one.b);
        values.map(|value| value.map(|value| one.scale.along(value))).collect::<Vec<_>>()
    };
    let columns: Vec<Vec<Option<f64>>> = figures.iter().map(along).collect();
    let comparisons = rules.comparisons.max(1) as f64;
    let splits = Splits::of(m, n, rules.seed);
    let p_family = splits.family_of_figures(&columns, LEVEL / comparisons);
    let found = figures.iter().zip(p_family);
    found.map(|(figure, p)| figure.change(p * comparisons, rules)).collect()
}

impl FigureValues {
    fn change(&self, p_family: f64, rules: &Rules) -> Option<FigureChange> {
        let known = |values: &[Option<f64>]| values.iter().flatten().copied().collect::<Vec<f64>>();
        let (a, b) = (known(&self.a), known(&self.b));
        let (tally_a, tally_b) = (Tally::of_values(&a), Tally::of_values(&b));
        let p = mann_whitney(&tally_a, &tally_b)?.p;
        let medians = (tally_a.median(), tally_b.median());
        let along = |values: &[f64]| values.iter().map(|v| self.scale.along(*v)).collect();
        let column = Column { scale: self.scale, medians, a: along(&a), b: along(&b) };
        let (change, interval) = column.shift(&mut Resampler::new(rules.seed));
        // The p of a family is at least that of the figure on its own.
        let p_family = p_family.max(p).min(1.0);
        let least = match self.scale {
            Scale::Ratio => rules.effect_min,
            Scale::Difference => rules.errors_min,
        };
        let certain = p_family <= LEVEL && change.abs() >= least;
        let finding = match interval {
            Some((low, high)) if certain && (low > 0.0 || high < 0.0) => self.better.of(change),
            Some((low, high)) if low >= -least && high <= least => Finding::Same,
            _ => Finding::CannotTell,
        };
        Some(FigureChange { medians, change, interval, p, p_family, finding })
    }
}

impl Better {
    /// What a change in this direction is, where chance is ruled out.
    fn of(self, change: f64) -> Finding {
        match (self, change > 0.0) {
            (Self::Neither, _) => Finding::Differs,
            (Self::More, true) | (Self::Less, false) => Finding::Better,
            (Self::More, false) | (Self::Less, true) => Finding::Worse,
        }
    }
}

#[cfg(test)]
mod tests;
