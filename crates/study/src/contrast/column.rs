//! One figure of every run of two variants, and how it changed: the only place where a change gets its interval and its p.

use super::measure::{Change, Finding, LEVEL, Measure, RUNS_MAX, Rules, Run, Scale};
use super::pairs::pairs;
use crate::stats::{RUNS_MIN, Welch, mean, welch};

/// What a figure is judged by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judge {
    /// In so many ways a comparison of equal variants may be called different by chance.
    chances: f64,
    /// The p of the figures that were judged before this one, corrected for all of them.
    p_before: f64,
}

impl Judge {
    /// For so many figures that may differ, all judged alike (Bonferroni).
    pub(super) fn of(figures: usize, rules: &Rules) -> Self {
        let each = [figures, rules.comparisons, rules.looks];
        let chances = each.iter().map(|count| *count.max(&1) as f64).product();
        Self { chances, p_before: 0.0 }
    }

    /// One for each column: the figure with the least p shares the level with all that vary, and each one after it with those that
    /// are left, until the first that is not called different (Holm, "A simple sequentially rejective multiple test procedure",
    /// Scandinavian Journal of Statistics 6, 1979). Together they call any of equal figures different as seldom as one would.
    ///
    /// The `first` of them, where one is named, is judged before all and has [`FIRST_SHARE`] of the level for itself. The others share
    /// [`OTHERS_SHARE`] of it, and all of it where the first is called different (Wiens, "A fixed sequence Bonferroni procedure for testing
    /// multiple endpoints", Pharmaceutical Statistics 2, 2003).
    pub(super) fn step_down(
        columns: &[Option<&Column>],
        first: Option<usize>,
        rules: &Rules,
    ) -> Vec<Self> {
        let p = |at: &usize| columns[*at].map_or(1.0, Column::p);
        let mut order: Vec<usize> = (0..columns.len()).collect();
        order.sort_by(|a, b| p(a).total_cmp(&p(b)));
        // A figure that too few runs have, or that never varies, is never called different.
        let may_differ = |column: &&&Column| column.varies() && column.is_judged();
        let mut left = columns.iter().flatten().filter(may_differ).count();
        let mut judges = vec![Self::of(left, rules); columns.len()];
        let is_first = |at: &usize| columns[*at].as_ref().is_some_and(|one| may_differ(&one));
        let (mut p_before, mut share) = (0.0, 1.0);
        if let Some(first) = first.filter(is_first).filter(|_| left > 1) {
            judges[first] = Self::of(1, rules).with_share(FIRST_SHARE);
            let is_different = judges[first].corrected(p(&first)) <= LEVEL;
            share = if is_different { 1.0 } else { OTHERS_SHARE };
            order.retain(|at| *at != first);
            left -= 1;
        }
        for at in order {
            judges[at] = Self { p_before, ..Self::of(left, rules).with_share(share) };
            p_before = judges[at].corrected(p(&at));
            if p_before <= LEVEL {
                left = left.saturating_sub(1);
            }
        }
        judges
    }

    /// With so much of the level.
    fn with_share(self, share: f64) -> Self {
        Self { chances: self.chances / share, ..self }
    }

    /// The chance that any of the figures of equal variants is as far apart as one with this p.
    fn corrected(&self, p: f64) -> f64 {
        (p * self.chances).max(self.p_before).min(1.0)
    }

    fn level(&self) -> f64 {
        LEVEL / self.chances
    }
}

/// The share of the level that the figure has which is judged first.
const FIRST_SHARE: f64 = 0.6;
/// The share that the others have together, unless the first is called different. What is left of the level pays for the choices that
/// the runs themselves decide: whether pairs are used, and which run stands out.
const OTHERS_SHARE: f64 = 0.2;
/// Pairs of runs from which on a comparison may go by them.
const PAIRS_MIN: usize = 7;
/// One run of so many may be without a pair, and one in any case.
const RUNS_FOR_EACH: usize = 8;

/// How a figure changed, in its [`Scale`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) change: f64,
    pub(crate) interval: Option<(f64, f64)>,
    pub(super) floor: Option<f64>,
    pub(crate) p: f64,
    pub(crate) p_family: f64,
}

/// One figure of every run, on the axis on which its changes are differences.
pub(super) struct Column {
    scale: Scale,
    /// What the runs of `a` and of `b` have on average ([`Scale::centre`]): the change is of these two.
    pub(super) centres: (f64, f64),
    a: Vec<f64>,
    b: Vec<f64>,
    /// The least variance of a value of either.
    variance_min: (f64, f64),
    /// Which of `a` and of `b` were made one after the other; empty where most were not.
    pairs: Vec<(usize, usize)>,
}

impl Column {
    /// A measure of every run that includes it.
    pub(super) fn of_measure(measure: Measure, (a, b): (&[&Run], &[&Run])) -> Self {
        Self::of(measure, (a, b), |run| measure.of(run))
    }

    /// The same of another figure, which counts where the measure does.
    pub(super) fn of(
        measure: Measure,
        (a, b): (&[&Run], &[&Run]),
        value: impl Fn(&Run) -> f64,
    ) -> Self {
        let (a, b) = (included(measure, a), included(measure, b));
        let values = |runs: &[&Run]| runs.iter().map(|run| value(run)).collect::<Vec<f64>>();
        let times = |runs: &[&Run]| runs.iter().map(|run| run.begun_ns).collect::<Vec<i64>>();
        let mut pairs = pairs(&times(&a), &times(&b));
        let most = |runs: &[&Run]| runs.len().saturating_sub((runs.len() / RUNS_FOR_EACH).max(1));
        if pairs.len() < PAIRS_MIN.max(most(&a)).max(most(&b)) {
            pairs.clear();
        }
        Self { pairs, ..Self::of_values(measure.scale(), values(&a), values(&b)) }
    }

    pub(super) fn of_values(scale: Scale, a: Vec<f64>, b: Vec<f64>) -> Self {
        let centres = (scale.centre(&a), scale.centre(&b));
        let along = |values: Vec<f64>| values.into_iter().map(|v| scale.along(v)).collect();
        let resolution = scale.resolution();
        let variance_min = (resolution, resolution);
        Self { scale, centres, a: along(a), b: along(b), variance_min, pairs: Vec::new() }
    }

    /// With these variances of a value as the least ones.
    pub(super) fn at_least(self, variance_min: (f64, f64)) -> Self {
        Self { variance_min, ..self }
    }

    /// Not all values are equal.
    pub(super) fn varies(&self) -> bool {
        let mut all = self.a.iter().chain(&self.b);
        all.any(|value| *value != self.a[0])
    }

    /// There are enough values for an interval.
    pub(super) fn is_judged(&self) -> bool {
        self.a.len().min(self.b.len()) >= RUNS_MIN
    }

    pub(super) fn judged(&self, judge: &Judge) -> Spread {
        let back = |difference| self.scale.back(difference);
        let Some(found) = self.welch() else {
            let change = back(mean(&self.b) - mean(&self.a));
            return Spread { change, interval: None, floor: None, p: 1.0, p_family: 1.0 };
        };
        let (low, high) = found.interval(judge.level());
        let p = found.p();
        Spread {
            change: back(found.difference),
            interval: Some((back(low), back(high))),
            floor: Some(back(found.reach(LEVEL))),
            p,
            p_family: judge.corrected(p),
        }
    }

    pub(super) fn change(&self, measure: Measure, judge: &Judge) -> Change {
        let Spread { change, interval, floor, p, p_family } = self.judged(judge);
        let (centres, finding, runs_needed) = (self.centres, Finding::CannotTell, None);
        Change { measure, centres, change, interval, floor, p, p_family, finding, runs_needed }
    }

    /// How many runs of each bring the interval to exclude 0, or to lie within the least change that matters, whichever takes
    /// fewer. These runs' interval is wider by `room` on either side, which shrinks as the runs become more.
    pub(super) fn runs_needed(&self, judge: &Judge, least: f64, room: f64) -> Option<usize> {
        let found = self.welch()?;
        let least = match self.scale {
            Scale::Ratio => least.ln_1p(),
            Scale::Difference => least,
        };
        let away = found.difference.abs();
        let reach = away.max(least - away);
        let present = self.a.len().min(self.b.len()) as f64;
        let wide = |runs: usize| found.reach_of(runs, judge.level()) + room * present / runs as f64;
        (RUNS_MIN..=RUNS_MAX).find(|runs| wide(*runs) < reach)
    }

    /// The p of this figure on its own; 1 for too few values.
    fn p(&self) -> f64 {
        self.welch().map_or(1.0, |found| found.p())
    }

    /// Where a change of the machine moves the runs of a pair alike, the noise is that of the pairs' differences.
    fn welch(&self) -> Option<Welch> {
        let found = welch(&self.a, &self.b, self.variance_min)?;
        let pairs: Vec<(f64, f64)> =
            self.pairs.iter().map(|(a, b)| (self.a[*a], self.b[*b])).collect();
        let counts = (self.a.len(), self.b.len());
        Some(found.of_pairs(&pairs, counts, self.variance_min).unwrap_or(found))
    }
}

/// The runs that include a measure; all where none does.
fn included<'a>(measure: Measure, runs: &[&'a Run]) -> Vec<&'a Run> {
    let some: Vec<&Run> = runs.iter().copied().filter(|run| run.includes(measure)).collect();
    if some.is_empty() { runs.to_vec() } else { some }
}
