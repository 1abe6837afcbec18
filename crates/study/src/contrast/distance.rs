//! How far apart two variants' distributions of times are, with runs as the unit: Kolmogorov's distance, and Smirnov's test
//! with the splits of the runs in place of the law for independent values, which requests are not.

use metrics::Histogram;
use stdx::Nanos;

use super::splits::Splits;

/// Places at which the distributions are compared, at most.
const PLACES_MAX: usize = 128;
/// Quantiles of each run that are such places.
const QUANTILES: usize = 32;

/// How far apart two variants' distributions are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// The greatest difference between the shares of requests up to any one time, 0 to 1; every run counts the same.
    pub distance: f64,
    /// The share of the splits of the runs that are at least as far apart.
    pub p: f64,
}

/// Whether the level of the times counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aligned {
    /// It does.
    AsTheyAre,
    /// Each run's times are divided by their median: only the spread does.
    ByMedian,
}

/// The distance of the first `m` runs from the rest. Every run has requests that took time.
pub(super) fn distance(
    runs: &[Histogram],
    m: usize,
    aligned: Aligned,
    splits: &Splits,
) -> Distance {
    debug_assert!(runs.len() == splits.runs());
    let unit = |run: &Histogram| match aligned {
        Aligned::AsTheyAre => 1.0,
        Aligned::ByMedian => (run.quantile(0.5).0 as f64).max(1.0),
    };
    let places = places(runs, unit);
    let curves: Vec<Vec<f64>> = runs.iter().map(|run| curve(run, &places, unit(run))).collect();
    let sums: Vec<f64> =
        (0..places.len()).map(|at| curves.iter().map(|curve| curve[at]).sum()).collect();
    let n = (runs.len() - m) as f64;
    let apart = |split: &[u16]| {
        let at = |at: usize| {
            let of_b: f64 = split.iter().map(|run| curves[usize::from(*run)][at]).sum();
            (of_b / n - (sums[at] - of_b) / m as f64).abs()
        };
        (0..places.len()).map(at).fold(0.0, f64::max)
    };
    let seen: Vec<u16> = (m..runs.len()).map(|run| run as u16).collect();
    Distance { distance: apart(&seen), p: splits.share(apart) }
}

/// Times, in each run's unit, between which all runs' requests are spread about evenly.
fn places(runs: &[Histogram], unit: impl Fn(&Histogram) -> f64) -> Vec<f64> {
    let of_run = |run: &Histogram| {
        let unit = unit(run);
        let quantile = |k: usize| run.quantile(k as f64 / QUANTILES as f64).0 as f64 / unit;
        (1..QUANTILES).map(quantile).collect::<Vec<_>>()
    };
    let mut all: Vec<f64> = runs.iter().flat_map(of_run).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    let step = all.len().div_ceil(PLACES_MAX).max(1);
    all.into_iter().step_by(step).collect()
}

/// The share of a run's requests up to each place.
fn curve(run: &Histogram, places: &[f64], unit: f64) -> Vec<f64> {
    let count = run.count() as f64;
    let up_to = |place: &f64| Nanos((place * unit).round() as u64 + 1);
    places.iter().map(|place| run.count_below(up_to(place)) as f64 / count).collect()
}
