//! Percentile curves, histograms and overlays of labelled runs.

use metrics::Histogram;
use report::overlay::Curve;
use report::{Differences, Figure, Runs};

use super::chart::Chart;
use super::load::Label;

/// How times are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Counts by time.
    Histogram,
    /// Percentiles, spread evenly.
    Shares,
    /// Percentiles, spread by their nines.
    Percentiles,
}

/// One curve a label, its runs pooled.
pub(super) fn curves(shape: Shape, title: &str, labels: &[Label]) -> Figure {
    let pooled: Vec<(&str, Histogram)> = pooled(labels);
    let curves: Vec<Curve<'_>> =
        pooled.iter().map(|(label, times)| Curve { label, times }).collect();
    match shape {
        Shape::Histogram => report::overlay::histogram(title, &curves),
        Shape::Shares => report::overlay::shares_of_requests(title, &curves),
        Shape::Percentiles => report::overlay::percentiles(title, &curves),
    }
}

fn pooled(labels: &[Label]) -> Vec<(&str, Histogram)> {
    let all = |label: &Label| {
        let mut all = Histogram::default();
        label.runs.iter().for_each(|run| all.merge(&run.times));
        all
    };
    labels.iter().map(|label| (label.label.as_str(), all(label))).collect()
}

/// Densities on common bins, and whether they differ.
pub(super) fn overlay(title: &str, labels: &[Label]) -> Chart {
    let pooled = pooled(labels);
    let curves: Vec<Curve<'_>> =
        pooled.iter().map(|(label, times)| Curve { label, times }).collect();
    let times: Vec<(&str, Vec<Histogram>)> =
        labels.iter().map(|label| (label.label.as_str(), label.times())).collect();
    let runs: Vec<Runs<'_>> = times.iter().map(|(label, runs)| Runs { label, runs }).collect();
    Chart::Compared(report::overlay::density(title, &curves), Differences::of(&runs))
}
