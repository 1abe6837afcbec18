//! Several labelled results in one picture: percentile curves, and histograms.

use metrics::Histogram;
use stdx::Nanos;

use crate::figure::{Axis, Colour, Figure, Scale, Series, Style};
use crate::number::{counted, duration};

/// One labelled distribution of times.
#[derive(Clone, Copy, Debug)]
pub struct Curve<'a> {
    /// Its name in the legend.
    pub label: &'a str,
    /// Its times.
    pub times: &'a Histogram,
}

/// Points of a percentile curve per power of ten of `1/(1-q)`.
const POINTS_PER_NINE: i32 = 40;
/// Buckets of a histogram per power of ten of time.
const BUCKETS_PER_DECADE: f64 = 20.0;
/// The most buckets of a histogram; beyond it they grow wider.
const BUCKETS_MAX: usize = 200;

/// Latency by percentile, the percentiles spread by their nines.
#[must_use]
pub fn percentiles(title: &str, curves: &[Curve<'_>]) -> Figure {
    let series = curves.iter().enumerate().map(|(number, curve)| Series {
        label: curve.label.to_owned(),
        style: Style::Line,
        colour: Colour::calm(number),
        points: percentile_points(curve.times),
    });
    Figure {
        title: title.to_owned(),
        x: Axis { label: "Percentile".to_owned(), scale: Scale::Nines },
        y: Axis { label: "Latency (ms)".to_owned(), scale: Scale::Log },
        series: series.collect(),
        notes: Vec::new(),
    }
}

/// `(1/(1-q), ms)` up to where one sample is all that is left.
fn percentile_points(times: &Histogram) -> Vec<(f64, f64)> {
    let count = times.count() as f64;
    if count == 0.0 {
        return Vec::new();
    }
    let mut points = Vec::new();
    for step in 0.. {
        let inverse = 10f64.powf(f64::from(step) / f64::from(POINTS_PER_NINE));
        // The greatest comes last; right before it the curve would only show the second greatest as a spike.
        if inverse * 2.0 > count {
            break;
        }
        points.push((inverse, times.quantile(1.0 - 1.0 / inverse).as_millis_f64()));
    }
    points.push((count, times.max().as_millis_f64()));
    points
}

/// Points of a curve over the share of requests: one each tenth of a percent.
const SHARES: u32 = 1000;

/// The time within which a share of requests was served, the shares spread evenly from 0 to 100 %.
#[must_use]
pub fn shares_of_requests(title: &str, curves: &[Curve<'_>]) -> Figure {
    let points = |times: &Histogram| -> Vec<(f64, f64)> {
        if times.count() == 0 {
            return Vec::new();
        }
        let share = |step: u32| f64::from(step) / f64::from(SHARES);
        (0..=SHARES)
            .map(|step| (share(step) * 100.0, times.quantile(share(step)).as_millis_f64()))
            .collect()
    };
    let series = curves.iter().enumerate().map(|(number, curve)| Series {
        label: curve.label.to_owned(),
        style: Style::Line,
        colour: Colour::calm(number),
        points: points(curve.times),
    });
    Figure {
        title: title.to_owned(),
        x: Axis { label: "Share of requests (%)".to_owned(), scale: Scale::Linear },
        y: Axis { label: "Time (ms)".to_owned(), scale: Scale::Linear },
        series: series.collect(),
        notes: Vec::new(),
    }
}

/// Bins of a density, at least and at most.
const BINS: std::ops::RangeInclusive<f64> = 20.0..=160.0;

/// Where the 99.9th percentile is more than this many times the first quartile, bins of equal width would be one bar and a
/// flat tail.
const WIDE: u64 = 10;

/// The density of times, in bins of equal width that are the same for all: results of unequal counts compare. The width is
/// Freedman and Diaconis' (`2 IQR / n^(1/3)`, 1981) of the curve that needs the finest. What lies far beyond the 99.9th percentile is counted in a note. Times that
/// spread widely are drawn as [`histogram`] draws them, in bins of equal width on a logarithmic axis.
#[must_use]
pub fn density(title: &str, curves: &[Curve<'_>]) -> Figure {
    let mut all = Histogram::default();
    curves.iter().for_each(|curve| all.merge(curve.times));
    if all.quantile(0.999).0 / WIDE > all.quantile(0.25).0 {
        return histogram(title, curves);
    }
    let finest = curves.iter().filter_map(|curve| bin_width(curve.times)).fold(f64::MAX, f64::min);
    let (edges, width_ms) = even_edges(&all, finest);
    let series = curves.iter().enumerate().map(|(number, curve)| Series {
        label: curve.label.to_owned(),
        style: Style::Steps,
        colour: Colour::calm(number),
        points: densities(curve.times, &edges, width_ms),
    });
    let last = edges.last().copied().unwrap_or(Nanos::ZERO);
    let beyond = all.count() - if edges.is_empty() { 0 } else { all.count_below(last) };
    let note = (beyond > 0).then(|| {
        format!(
            "Not drawn: {} that took longer than {}.",
            counted(beyond, "request"),
            duration(last)
        )
    });
    Figure {
        title: title.to_owned(),
        x: Axis { label: "Time (ms)".to_owned(), scale: Scale::Linear },
        y: Axis { label: "Share of requests (% per ms)".to_owned(), scale: Scale::Linear },
        series: series.collect(),
        notes: note.into_iter().collect(),
    }
}

/// Freedman and Diaconis' width in nanoseconds; `None` where half of the values are one.
fn bin_width(times: &Histogram) -> Option<f64> {
    let between = (times.quantile(0.75).0 - times.quantile(0.25).0) as f64;
    (between > 0.0).then(|| 2.0 * between / (times.count() as f64).cbrt())
}

/// Bin edges of equal width that cover all but a far tail, and the width in milliseconds.
fn even_edges(all: &Histogram, wanted: f64) -> (Vec<Nanos>, f64) {
    if all.count() == 0 {
        return (Vec::new(), 1.0);
    }
    let (low, tail) = (all.min().0 as f64, all.quantile(0.999).0 as f64);
    let most = all.max().0 as f64 + 1.0;
    let high = if most > 1.5 * tail { tail * 1.02 + 1.0 } else { most };
    let bins = ((high - low) / wanted).ceil().clamp(*BINS.start(), *BINS.end());
    let width = ((high - low) / bins).max(1.0);
    let edge = |n: u32| Nanos((low + f64::from(n) * width).round() as u64);
    ((0..=bins as u32).map(edge).collect(), width / 1e6)
}

/// `(left edge in ms, percent per ms)` per bin; the last point closes the last bin.
fn densities(times: &Histogram, edges: &[Nanos], width_ms: f64) -> Vec<(f64, f64)> {
    let total = times.count().max(1) as f64;
    let below: Vec<u64> = edges.iter().map(|edge| times.count_below(*edge)).collect();
    let bins = edges.iter().zip(below.windows(2));
    let share = |pair: &[u64]| pair[1].saturating_sub(pair[0]) as f64 / total * 100.0 / width_ms;
    let mut points: Vec<(f64, f64)> =
        bins.map(|(edge, pair)| (edge.as_millis_f64(), share(pair))).collect();
    points.extend(edges.last().map(|edge| (edge.as_millis_f64(), 0.0)));
    points
}

/// The share of hits by latency, in buckets of equal width on a logarithmic axis, the same for all.
#[must_use]
pub fn histogram(title: &str, curves: &[Curve<'_>]) -> Figure {
    let edges = edges(curves);
    let series = curves.iter().enumerate().map(|(number, curve)| Series {
        label: curve.label.to_owned(),
        style: Style::Steps,
        colour: Colour::calm(number),
        points: shares(curve.times, &edges),
    });
    Figure {
        title: title.to_owned(),
        x: Axis { label: "Latency (ms)".to_owned(), scale: Scale::Log },
        y: Axis { label: "Share of requests (%)".to_owned(), scale: Scale::Linear },
        series: series.collect(),
        notes: Vec::new(),
    }
}

/// Bucket edges that cover all curves, in nanoseconds.
fn edges(curves: &[Curve<'_>]) -> Vec<f64> {
    let filled = || curves.iter().filter(|curve| curve.times.count() > 0);
    let low = filled().map(|curve| curve.times.min().at_least(Nanos(1))).min();
    let high = filled().map(|curve| curve.times.max().at_least(Nanos(1))).max();
    let (Some(low), Some(high)) = (low, high) else { return Vec::new() };
    let (low, high) = ((low.0 as f64).log10(), (high.0 as f64).log10());
    let wanted = ((high - low) * BUCKETS_PER_DECADE).ceil() as usize + 1;
    let width = if wanted > BUCKETS_MAX {
        (high - low) / (BUCKETS_MAX - 1) as f64
    } else {
        1.0 / BUCKETS_PER_DECADE
    };
    let first = (low / width).floor();
    let count = wanted.min(BUCKETS_MAX) + 2;
    (0..=count)
        .map(|n| (first + n as f64) * width)
        .take_while(|edge| *edge < high + 2.0 * width)
        .map(|edge| 10f64.powf(edge))
        .collect()
}

/// `(left edge in ms, percent)` per bucket; the last point closes the last bucket.
fn shares(times: &Histogram, edges: &[f64]) -> Vec<(f64, f64)> {
    let total = times.count().max(1) as f64;
    let below: Vec<u64> =
        edges.iter().map(|edge| times.count_below(Nanos(edge.round() as u64))).collect();
    let mut points: Vec<(f64, f64)> = edges
        .iter()
        .zip(below.windows(2))
        .enumerate()
        .map(|(number, (edge, pair))| {
            // Times of 0 ns lie below every edge of a logarithmic axis; they count into the first bucket.
            let from = if number == 0 { 0 } else { pair[0] };
            (edge / 1e6, pair[1].saturating_sub(from) as f64 / total * 100.0)
        })
        .collect();
    points.extend(edges.last().map(|edge| (edge / 1e6, 0.0)));
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(list: impl IntoIterator<Item = u64>) -> Histogram {
        let mut times = Histogram::new();
        list.into_iter().for_each(|ns| times.record(Nanos(ns)));
        times
    }

    #[test]
    fn every_hit_is_in_the_histogram() {
        let (a, b) = (times((1..=5000).map(|n| n * 1_000)), times([0, 7, 3_599_000_000_000]));
        let curves = [Curve { label: "a", times: &a }, Curve { label: "b", times: &b }];
        let figure = histogram("t", &curves);
        for series in &figure.series {
            let sum: f64 = series.points.iter().map(|point| point.1).sum();
            assert!((sum - 100.0).abs() < 1e-6, "{} {sum}", series.label);
            assert!(series.points.len() <= BUCKETS_MAX + 3);
        }
    }

    #[test]
    fn the_curve_rises_to_the_greatest() {
        let all = times((1..=100_000).map(|n| n * 1_000));
        let figure = percentiles("t", &[Curve { label: "a", times: &all }]);
        let points = &figure.series[0].points;
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1));
        assert_eq!(points.last(), Some(&(100_000.0, 100.0)));
        let p99 = points.iter().find(|point| (point.0 - 100.0).abs() < 1e-6).unwrap();
        assert!((p99.1 - 99.0).abs() < 0.1, "{p99:?}");
    }

    #[test]
    fn densities_of_unequal_counts_compare() {
        let (few, many) =
            (times((1..=500).map(|n| n * 20_000)), times((1..=50_000).map(|n| n * 200)));
        let curves = [Curve { label: "few", times: &few }, Curve { label: "many", times: &many }];
        let figure = density("t", &curves);
        for series in &figure.series {
            let area: f64 =
                series.points.windows(2).map(|pair| pair[0].1 * (pair[1].0 - pair[0].0)).sum();
            assert!((area - 100.0).abs() < 0.1, "{} {area}", series.label);
            let flat = series.points.iter().take(series.points.len() - 2).skip(1);
            assert!(flat.clone().all(|point| (point.1 - 10.0).abs() < 1.5), "{:?}", series.points);
        }
        assert_eq!(figure.series[0].points.len(), figure.series[1].points.len());
        assert!(figure.notes.is_empty());
    }

    #[test]
    fn a_far_tail_is_counted_and_not_drawn() {
        let all = times((1..=9_999).map(|n| n * 1_000).chain([3_000_000_000]));
        let figure = density("t", &[Curve { label: "a", times: &all }]);
        assert!(figure.series[0].points.last().unwrap().0 < 11.0);
        assert!(figure.notes[0].starts_with("Not drawn: 1 request "), "{:?}", figure.notes);
        let one = times([5]);
        assert_eq!(density("t", &[Curve { label: "a", times: &one }]).notes, Vec::<String>::new());
    }

    /// One bar of 27 % a millisecond and a flat tail is what a linear axis showed of such times.
    #[test]
    fn times_that_spread_widely_have_a_logarithmic_axis() {
        let all = times((1..=1000).map(|n| n * 500).chain((1..=20).map(|n| n * 10_000_000)));
        let figure = density("t", &[Curve { label: "a", times: &all }]);
        assert_eq!(figure.x.scale, Scale::Log);
        let sum: f64 = figure.series[0].points.iter().map(|point| point.1).sum();
        assert!((sum - 100.0).abs() < 1e-6, "every request is in a bin: {sum}");
    }

    #[test]
    fn shares_go_from_the_least_to_the_greatest() {
        let all = times((1..=10_000).map(|n| n * 1_000));
        let points =
            &shares_of_requests("t", &[Curve { label: "a", times: &all }]).series[0].points;
        assert_eq!((points[0], points[points.len() - 1]), ((0.0, 0.001), (100.0, 10.0)));
        assert!((points[800].1 - 8.0).abs() < 0.01, "80 % within 8 ms: {:?}", points[800]);
    }

    #[test]
    fn nothing_gives_an_empty_figure() {
        let none = Histogram::new();
        let curves = [Curve { label: "none", times: &none }];
        assert!(percentiles("t", &curves).series[0].points.is_empty());
        assert!(histogram("t", &curves).series[0].points.is_empty());
        assert!(density("t", &curves).series[0].points.is_empty());
        assert!(shares_of_requests("t", &curves).series[0].points.is_empty());
    }
}
