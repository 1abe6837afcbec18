//! Several labelled results in one picture: percentile curves, and histograms.

use metrics::Histogram;
use stdx::Nanos;

use crate::figure::{Axis, Colour, Figure, Scale, Series, Style};

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
    fn nothing_gives_an_empty_figure() {
        let none = Histogram::new();
        let curves = [Curve { label: "none", times: &none }];
        assert!(percentiles("t", &curves).series[0].points.is_empty());
        assert!(histogram("t", &curves).series[0].points.is_empty());
    }
}
