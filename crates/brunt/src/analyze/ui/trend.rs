//! A figure over all runs of a name, oldest first, with the points where it changed its level.

use report::{Axis, Colour, Figure, Mark, Scale, Series, Stroke, Style};
use store::{Figures, Run};
use study::change_points::change_points;
use study::stats::Tally;

/// Runs that are shown, at most: the newest.
pub(super) const RUNS_MAX: usize = 500;

/// A figure that a trend may be of.
pub(super) struct Metric {
    /// Its name in the URL.
    pub(super) name: &'static str,
    /// What the axis says.
    pub(super) label: &'static str,
    value: fn(&Figures) -> f64,
}

/// The figures that trends may be of.
pub(super) const METRICS: [Metric; 7] = [
    Metric { name: "p95", label: "p95 (ms)", value: |figures| ms(figures.response_ns.p95) },
    Metric { name: "p50", label: "p50 (ms)", value: |figures| ms(figures.response_ns.p50) },
    Metric { name: "p99", label: "p99 (ms)", value: |figures| ms(figures.response_ns.p99) },
    Metric { name: "mean", label: "mean (ms)", value: |figures| ms(figures.response_ns.mean) },
    Metric { name: "max", label: "max (ms)", value: |figures| ms(figures.response_ns.max) },
    Metric { name: "rate", label: "requests/s", value: |figures| figures.rate_per_s },
    Metric { name: "errors", label: "failed (%)", value: |figures| figures.errors * 100.0 },
];

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

impl Metric {
    /// The figure of this name; else the first.
    pub(super) fn named(name: &str) -> &'static Self {
        METRICS.iter().find(|metric| metric.name == name).unwrap_or(&METRICS[0])
    }

    /// The figure of a run that has any.
    pub(super) fn of(&self, run: &Run) -> Option<f64> {
        let figures = run.manifest.figures.as_ref().filter(|figures| figures.requests > 0);
        figures.map(self.value)
    }
}

/// The chart, and the numbers of the runs, from 1, from which on there is a new level. `runs` rise by time.
pub(super) fn trend(name: &str, metric: &Metric, runs: &[Run]) -> (Figure, Vec<usize>) {
    let values: Vec<f64> = runs.iter().map(|run| metric.of(run).unwrap_or(f64::NAN)).collect();
    let changes = change_points(&values);
    let points = |take: &dyn Fn(usize) -> bool| -> Vec<(f64, f64)> {
        let numbers = (0..values.len()).filter(|at| take(*at));
        numbers.map(|at| (at as f64 + 1.0, values[at])).collect()
    };
    let valid = points(&|at| runs[at].is_valid());
    let other = points(&|at| !runs[at].is_valid());
    let marks = |points: Vec<(f64, f64)>, label: &str, mark: Mark, colour: Colour| Series {
        label: label.to_owned(),
        style: Style::Points(vec![mark; points.len()]),
        colour,
        points,
    };
    let between = changes.iter().map(|at| (*at as f64 + 0.5, 0.0)).collect();
    let all = [
        marks(valid, "valid run", Mark::Dot, Colour::RESPONSE),
        marks(other, "other run", Mark::Cross, Colour::ERRORS),
        Series {
            label: "level (median)".to_owned(),
            style: Style::Line,
            colour: Colour::ASKED,
            points: levels(&values, &changes),
        },
        Series {
            label: "change of level".to_owned(),
            style: Style::Upright(Stroke::Dashed),
            colour: Colour::ERRORS,
            points: between,
        },
    ];
    let figure = Figure {
        title: format!("{name}: {} over its runs", metric.label),
        x: Axis { label: "Run, oldest first".to_owned(), scale: Scale::Linear },
        y: Axis { label: metric.label.to_owned(), scale: Scale::Linear },
        series: all.into_iter().filter(|series| !series.points.is_empty()).collect(),
        notes: Vec::new(),
    };
    (figure, changes.into_iter().map(|at| at + 1).collect())
}

/// The median of each stretch between changes, as a line with gaps.
fn levels(values: &[f64], changes: &[usize]) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    let ends = changes.iter().copied().chain([values.len()]);
    let mut begin = 0;
    for end in ends {
        let median = Tally::of_values(&values[begin..end]).median();
        let (from, to) = (begin as f64 + 0.5, end as f64 + 0.5);
        points.extend([(from, median), (to, median), (to, f64::NAN)]);
        begin = end;
    }
    points
}

#[cfg(test)]
mod tests {
    use store::{Manifest, ResponseTimes, State};

    use super::*;

    #[test]
    fn a_slower_version_is_a_change_of_level() {
        let run = |at: u64| {
            let p95 = (if at < 8 { 100 } else { 120 } + at % 3) * 1_000_000;
            let response_ns = ResponseTimes { p95, ..ResponseTimes::default() };
            let figures = Some(Figures { requests: 10, response_ns, ..Figures::default() });
            let verdict = Some("VALID".to_owned());
            let manifest =
                Manifest { figures, verdict, state: State::Finished, ..Manifest::default() };
            Run { manifest, folder: "/x".into(), is_under_way: false }
        };
        let runs: Vec<Run> = (0..16).map(run).collect();
        let (figure, changes) = trend("home", Metric::named("p95"), &runs);
        assert_eq!(changes, [9]);
        let labels: Vec<&str> = figure.series.iter().map(|series| series.label.as_str()).collect();
        assert_eq!(labels, ["valid run", "level (median)", "change of level"]);
        assert_eq!(figure.series[1].points[0], (0.5, 101.0));
        assert_eq!(figure.series[1].points[3], (8.5, 121.0));
    }
}
