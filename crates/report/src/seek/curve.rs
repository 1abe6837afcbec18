//! The curve of a search: every step as points over its load, the objective's limits, and the answer between its bounds.

use stdx::Nanos;
use study::seek::{By, Step};

use super::{SeekInput, answer, by_load, why, word};
use crate::figure::{Axis, Colour, Figure, Mark, Scale, Series, Stroke, Style};

/// Latencies and achieved throughput over load. Every step has its points, whether it met the objective, missed it or is
/// INVALID; steps of one load are drawn above each other.
#[must_use]
pub fn figure(input: &SeekInput<'_>) -> Figure {
    let search = input.search;
    let times: [(&str, fn(&Step) -> Nanos); 3] = [
        ("p50 (ms)", |step| step.p50),
        ("p95 (ms)", |step| step.p95),
        ("p99 (ms)", |step| step.p99),
    ];
    let mut series: Vec<Series> = times
        .iter()
        .enumerate()
        .map(|(at, (label, time))| {
            let value = |step: &Step| (step.hits > 0).then(|| time(step).as_millis_f64());
            points(input, label, Colour::calm(at), value)
        })
        .collect();
    let achieved = |step: &Step| Some(step.achieved_per_s);
    series.push(points(input, "achieved (/s)", Colour::calm(3), achieved));
    series.extend(limits(input));
    series.extend(answer_and_bounds(input));
    Figure {
        title: format!("{}: {}", search.objective, answer(input)),
        x: Axis { label: axis(search.by).to_owned(), scale: Scale::Linear },
        y: Axis { label: "Response time (ms), achieved rate (/s)".to_owned(), scale: Scale::Log },
        series,
        notes: vec![MARKS.to_owned(), format!("Ended: {}", why(input))],
    }
}

const MARKS: &str = "One mark a step: a dot where it met the objective, a cross where it missed it, an open triangle where it \
                     is INVALID and says nothing of the server.";

/// A figure of every step that has it.
fn points(
    input: &SeekInput<'_>,
    label: &str,
    colour: Colour,
    value: impl Fn(&Step) -> Option<f64>,
) -> Series {
    let (mut points, mut marks) = (Vec::new(), Vec::new());
    for step in by_load(input.steps) {
        let Some(value) = value(step) else { continue };
        points.push((step.load, value));
        marks.push(match word(input.search, step) {
            "unknown" => Mark::Triangle,
            "no" => Mark::Cross,
            _ => Mark::Dot,
        });
    }
    Series { label: label.to_owned(), style: Style::Points(marks), colour, points }
}

/// The objective's limits of time, from the least load to the greatest.
fn limits(input: &SeekInput<'_>) -> impl Iterator<Item = Series> {
    let loads = || input.steps.iter().map(|step| step.load);
    let ends = [loads().fold(f64::MAX, f64::min), loads().fold(0.0, f64::max)];
    let ends = ends.map(|x| if x == f64::MAX { 0.0 } else { x });
    input.search.objective.conditions().iter().filter_map(move |condition| {
        let limit = condition.limit_time()?.as_millis_f64();
        let points = ends.map(|x| (x, limit)).to_vec();
        let (label, colour) = (condition.to_string(), Colour::alarm(0));
        Some(Series { label, style: Style::Line, colour, points })
    })
}

/// The answer as an upright line, and its bounds, where it has both, as dashed ones.
fn answer_and_bounds(input: &SeekInput<'_>) -> Vec<Series> {
    let Some(answer) = input.outcome.answer else { return Vec::new() };
    let upright = |label: &str, stroke, colour, loads: &[f64]| Series {
        label: label.to_owned(),
        style: Style::Upright(stroke),
        colour,
        points: loads.iter().map(|load| (*load, f64::NAN)).collect(),
    };
    let mut series = vec![upright("answer", Stroke::Solid, Colour::alarm(2), &[answer.load])];
    if let Some(high) = answer.high {
        let (colour, bounds) = (Colour::calm(5), [answer.low, high]);
        series.push(upright("95 % bounds", Stroke::Dashed, colour, &bounds));
    }
    series
}

const fn axis(by: By) -> &'static str {
    match by {
        By::Rate => "Rate asked (/s)",
        By::Connections => "Connections",
    }
}

#[cfg(test)]
mod tests {
    use study::seek::{Answer, StopReason};

    use super::super::tests::{FOUND, step, with};
    use super::*;
    use crate::figure::Size;

    #[test]
    fn the_curve_has_its_limit_and_answer() {
        with(FOUND, StopReason::Found, |input| {
            let figure = figure(input);
            let labels: Vec<&str> = figure.series.iter().map(|one| one.label.as_str()).collect();
            let times = ["p50 (ms)", "p95 (ms)", "p99 (ms)", "achieved (/s)", "p99<500ms"];
            assert_eq!(labels[..5], times);
            assert_eq!(labels[5..], ["answer", "95 % bounds"]);
            let loads: Vec<f64> = figure.series[0].points.iter().map(|point| point.0).collect();
            assert_eq!(loads, [40.0, 80.0, 113.137, 160.0], "by load, each step");
            let marks = vec![Mark::Dot, Mark::Dot, Mark::Triangle, Mark::Cross];
            assert_eq!(figure.series[0].style, Style::Points(marks));
        });
        with(None, StopReason::Interrupted, |input| {
            assert_eq!(figure(&SeekInput { steps: &[], ..*input }).series.len(), 5);
        });
        let least = Some(Answer { load: 80.0, low: 80.0, high: None });
        with(least, StopReason::Generator, |input| {
            let last = figure(input).series.pop().unwrap();
            assert_eq!((last.label.as_str(), last.points.len()), ("answer", 1));
        });
    }

    /// The answer was in the legend only, and of the steps at one rate only the last was drawn.
    #[test]
    fn the_answer_its_bounds_and_steps_of_one_load_are_drawn() {
        let steps: Vec<Step> = [120, 2357, 54]
            .map(|ms| Step { p95: Nanos::from_millis(ms), ..step(40.0, 0.0) })
            .into_iter()
            .chain([step(90.0, 0.5)])
            .collect();
        with(FOUND, StopReason::Found, |input| {
            let figure = figure(&SeekInput { steps: &steps, ..*input });
            assert_eq!(figure.series[1].points.len(), 4, "three at 40/s and one at 90/s");
            let svg = figure.svg(Size::default());
            let dots = svg.matches("<circle").count();
            // p50, p95, p99 and what was achieved: in the legend, and of three steps that passed.
            assert_eq!(dots, 4 + 4 * 3, "{svg}");
            assert_eq!(svg.matches(r#"stroke-width="1.8" stroke-dasharray"#).count(), 1 + 2);
            let answer = Colour::alarm(2).light;
            let upright = |line: &str| line.contains(answer) && line.contains("<path d=\"M");
            let drawn: Vec<&str> = svg.lines().filter(|line| upright(line)).collect();
            assert_eq!(drawn.len(), 2, "in the legend and in the frame: {drawn:?}");
            let page = figure.html();
            assert!(page.contains(r#""style":"upright""#) && page.contains(r#""style":"dashes""#));
            assert!(page.contains(r#""marks":["dot","dot","dot","cross"]"#), "shapes tell apart");
        });
    }
}
