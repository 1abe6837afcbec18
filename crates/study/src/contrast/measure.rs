//! What runs are compared by: their figures, on which axis a figure changes, what is found, and by which rules.

use metrics::Histogram;

use crate::stats::mean;

/// The chance that anything at all is called different between equal variants.
pub const LEVEL: f64 = 0.05;
/// The most runs of a variant; a caller with more must leave some out and report it.
pub const RUNS_MAX: usize = 200;
/// The relative width of a histogram's buckets.
const RESOLUTION: f64 = 1.0 / 1024.0;

/// What one run showed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Its response times.
    pub times: Histogram,
    /// Successes per second.
    pub throughput_per_s: f64,
    /// The share of requests without success, 0 to 1.
    pub errors: f64,
    /// The Unix time (ns) at which it began; 0 where it is not known.
    pub begun_ns: i64,
    /// Figures that may not be believed or do not count.
    pub doubts: Vec<(Measure, Doubt)>,
}

/// Why a figure of a run is doubted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The load generator spoilt it, by the run's own verdict: it does not count.
    Invalid,
    /// The same, but it counts, since too few runs would be left without it.
    InvalidButNeeded,
    /// It lies far from that of all other runs of its variant: it does not count.
    Outlier,
}

impl Run {
    /// It says something of its figures: it had a request, and one that took any time. Others count in no comparison.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.times.max().0 > 0
    }

    /// This figure of it counts.
    #[must_use]
    pub fn includes(&self, measure: Measure) -> bool {
        let mut doubts = self.doubts.iter();
        !doubts.any(|(of, doubt)| *of == measure && *doubt != Doubt::InvalidButNeeded)
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
    /// How often runs are judged, at most, before a study that goes on until it is sure ends (Bonferroni); at least 1.
    pub looks: usize,
    /// The seed.
    pub seed: u64,
    /// The figure that is judged first; `None` for the one that the shape of the times suggests.
    pub primary: Option<Measure>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            effect_min: 0.02,
            errors_min: 0.001,
            comparisons: 1,
            looks: 1,
            seed: 1,
            primary: None,
        }
    }
}

/// How one measure changed from `a` to `b`. Changes are in the measure's [`Scale`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Of what.
    pub measure: Measure,
    /// What the runs of `a` and of `b` have on average ([`Scale::centre`]), in the measure's own unit.
    pub centres: (f64, f64),
    /// The change from the one centre to the other.
    pub change: f64,
    /// Its interval, at the level at which this measure was judged beside the others: 95 % or more. `None` below
    /// [`RUNS_MIN`](crate::stats::RUNS_MIN) runs.
    pub interval: Option<(f64, f64)>,
    /// The change that 95 of 100 comparisons of equal variants with so many runs stay below in this measure; `None` with too
    /// few repeats.
    pub floor: Option<f64>,
    /// The p of this measure on its own; 1 below [`RUNS_MIN`](crate::stats::RUNS_MIN) runs.
    pub p: f64,
    /// The chance that any measure, of any of the comparisons, of equal variants is this far apart: at most [`LEVEL`] exactly
    /// where the interval excludes 0.
    pub p_family: f64,
    /// The finding.
    pub finding: Finding,
    /// How many runs of each would decide what these do not, about, if the change and the noise stay as they are; `None` for a
    /// finding that is decided, below [`RUNS_MIN`](crate::stats::RUNS_MIN) runs, and beyond [`RUNS_MAX`].
    pub runs_needed: Option<usize>,
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

    /// The measure of this name, or of another name of it: `p50` is `latency.p50`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = metrics::metric_name::canonical(name);
        Self::ALL.into_iter().find(|measure| measure.name() == name)
    }

    /// The one of these that is judged first: the first response time, else throughput; `None` where there is neither.
    #[must_use]
    pub fn first_of(measures: &[Self]) -> Option<Self> {
        let is_other = |one: &&Self| matches!(one, Self::Throughput | Self::Errors);
        let time = measures.iter().find(|one| !is_other(one));
        time.or_else(|| measures.iter().find(|one| **one == Self::Throughput)).copied()
    }

    /// What these runs have of it on average ([`Scale::centre`]), as far as they [include](Run::includes) it; of all of them where
    /// none does.
    #[must_use]
    pub fn centre<'a>(self, runs: impl Iterator<Item = &'a Run> + Clone) -> f64 {
        let included = runs.clone().filter(|run| run.includes(self)).map(|run| self.of(run));
        let mut values: Vec<f64> = included.collect();
        if values.is_empty() {
            values = runs.map(|run| self.of(run)).collect();
        }
        self.scale().centre(&values)
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

    /// More of it, or less, is for the worse.
    pub(super) fn is_worse(self, is_more: bool) -> bool {
        is_more == (self != Self::Throughput)
    }

    pub(super) fn least_change(self, rules: &Rules) -> f64 {
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
    pub(super) fn along(self, value: f64) -> f64 {
        match self {
            Self::Ratio => value.max(1e-9).ln(),
            Self::Difference => value,
        }
    }

    /// The average of values whose change is the difference on that axis, so that a reader who divides the two averages gets the
    /// change that stands beside them: the geometric mean of a ratio, the arithmetic one of a difference. 0 where no value is more.
    #[must_use]
    pub fn centre(self, values: &[f64]) -> f64 {
        if values.iter().all(|value| *value == 0.0) {
            return 0.0;
        }
        let along: Vec<f64> = values.iter().map(|value| self.along(*value)).collect();
        match self {
            Self::Ratio => mean(&along).exp(),
            Self::Difference => mean(&along),
        }
    }

    /// The variance of a value, on that axis, that its resolution hides: times are stored with a relative width of 1/1024.
    pub(super) fn resolution(self) -> f64 {
        match self {
            Self::Ratio => RESOLUTION * RESOLUTION / 12.0,
            Self::Difference => 0.0,
        }
    }

    /// A difference on that axis as a change.
    pub(super) fn back(self, difference: f64) -> f64 {
        match self {
            Self::Ratio => difference.exp_m1(),
            Self::Difference => difference,
        }
    }
}
