//! The curve of a search: every step as points over its load, the objective's limits, and the answer between its bounds.

use stdx::Nanos;
use study::seek::{By, Step, Unit};

use super::model::made;
use super::{SeekInput, answer, by_load, steadiness, why, word};
use crate::figure::{Axis, Colour, Figure, Mark, Scale, Series, Stroke, Style};
use crate::sheet::FigureSheet;

/// Two charts over the same loads, since milliseconds and requests per second have no axis in common: response times with the
/// objective's limits, and the achieved throughput. Every step has its points, whether it met the objective, missed it or
/// is INVALID; steps of one load are drawn above each other.
#[must_use]
pub fn sheet(input: &SeekInput<'_>) -> FigureSheet {
    FigureSheet { title: title(input), figures: vec![times(input), throughput(input)] }
}

/// The answer as a sentence.
fn title(input: &SeekInput<'_>) -> String {
    let objective = &input.search.objective;
    match input.outcome.answer {
        None => format!("No load met {objective}"),
        Some(_) => format!("{objective} is met up to {}", answer(input)),
    }
}

fn times(input: &SeekInput<'_>) -> Figure {
    let times: [(&str, fn(&Step) -> Nanos); 3] =
        [("p50", |step| step.p50), ("p95", |step| step.p95), ("p99", |step| step.p99)];
    let of_quantile = |(at, (label, time)): (usize, &(&str, fn(&Step) -> Nanos))| {
        let value = |step: &Step| (step.hits > 0).then(|| time(step).as_millis_f64());
        points(input, label, Colour::calm(at), value)
    };
    let mut series: Vec<Series> = times.iter().enumerate().map(of_quantile).collect();
    series.extend(limits(input));
    series.extend(answer_and_bounds(input));
    Figure {
        title: "Response time of each step".to_owned(),
        x: load_axis(input),
        y: Axis { label: "Response time (ms)".to_owned(), scale: Scale::Log },
        series,
        notes: vec![MARKS.to_owned()],
    }
}

fn throughput(input: &SeekInput<'_>) -> Figure {
    let achieved = |step: &Step| Some(step.achieved_per_s);
    let mut series = vec![points(input, "achieved", Colour::calm(3), achieved)];
    if input.search.by == By::Rate {
        let points = ends(input).map(|load| (load, load)).to_vec();
        let (label, colour) = ("asked".to_owned(), Colour::calm(4));
        series.push(Series { label, style: Style::Line, colour, points });
    }
    series.extend(answer_and_bounds(input));
    let mut notes = steadiness::notes(input);
    notes.push(format!("Ended: {}", why(input)));
    notes.extend(made(input));
    Figure {
        title: "Successes per second of each step".to_owned(),
        x: load_axis(input),
        y: Axis { label: "Achieved rate (/s)".to_owned(), scale: Scale::Linear },
        series,
        notes,
    }
}

fn load_axis(input: &SeekInput<'_>) -> Axis {
    Axis { label: axis(input.search.unit()).to_owned(), scale: Scale::Linear }
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
    let ends = ends(input);
    input.search.objective.conditions().iter().filter_map(move |condition| {
        let limit = condition.limit_time()?.as_millis_f64();
        let points = ends.map(|load| (load, limit)).to_vec();
        let (label, colour) = (condition.to_string(), Colour::alarm(0));
        Some(Series { label, style: Style::Line, colour, points })
    })
}

/// The least load and the greatest; 0 without a step.
fn ends(input: &SeekInput<'_>) -> [f64; 2] {
    let loads = || input.steps.iter().map(|step| step.load);
    [loads().reduce(f64::min), loads().reduce(f64::max)].map(|end| end.unwrap_or(0.0))
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

const fn axis(unit: Unit) -> &'static str {
    match unit {
        Unit::Requests => "Rate asked (/s)",
        Unit::Connections => "Connections",
        Unit::Iterations => "Iterations asked (/s)",
        Unit::Vus => "Virtual users",
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
        let labels = |figure: &Figure| -> Vec<String> {
            figure.series.iter().map(|one| one.label.clone()).collect()
        };
        with(FOUND, StopReason::Found, |input| {
            let sheet = sheet(input);
            assert_eq!(
                sheet.title,
                "p99<500ms, errors<1% is met up to 89.48/s (95 % between 85.20 and 93.90)"
            );
            let [times, throughput] = &sheet.figures[..] else { panic!("two charts") };
            assert_eq!(labels(times), ["p50", "p95", "p99", "p99<500ms", "answer", "95 % bounds"]);
            assert_eq!(labels(throughput), ["achieved", "asked", "answer", "95 % bounds"]);
            assert_eq!(throughput.series[1].points, [(40.0, 40.0), (160.0, 160.0)]);
            let loads: Vec<f64> = times.series[0].points.iter().map(|point| point.0).collect();
            assert_eq!(loads, [40.0, 80.0, 113.137, 160.0], "by load, each step");
            let marks = vec![Mark::Dot, Mark::Dot, Mark::Triangle, Mark::Cross];
            assert_eq!(times.series[0].style, Style::Points(marks));
        });
        with(None, StopReason::Interrupted, |input| {
            let sheet = sheet(&SeekInput { steps: &[], ..*input });
            assert_eq!(sheet.title, "No load met p99<500ms, errors<1%");
            assert_eq!(sheet.figures.iter().map(|one| one.series.len()).sum::<usize>(), 4 + 2);
        });
        let least = Some(Answer { load: 80.0, low: 80.0, high: None });
        with(least, StopReason::Generator, |input| {
            let mut sheet = sheet(input);
            assert!(sheet.title.ends_with(" is met up to at least 80/s"), "{}", sheet.title);
            let last = sheet.figures[0].series.pop().unwrap();
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
            let sheet = sheet(&SeekInput { steps: &steps, ..*input });
            let figure = &sheet.figures[0];
            assert_eq!(figure.series[1].points.len(), 4, "three at 40/s and one at 90/s");
            let svg = figure.svg(Size::default());
            let dots = svg.matches("<circle").count();
            // p50, p95 and p99: in the legend, and of three steps that passed.
            assert_eq!(dots, 3 + 3 * 3, "{svg}");
            assert_eq!(svg.matches(r#"stroke-width="1.8" stroke-dasharray"#).count(), 1 + 2);
            let answer = Colour::alarm(2).light;
            let upright = |line: &str| line.contains(answer) && line.contains("<path d=\"M");
            let drawn: Vec<&str> = svg.lines().filter(|line| upright(line)).collect();
            assert_eq!(drawn.len(), 2, "in the legend and in the frame: {drawn:?}");
            let page = sheet.html();
            assert!(page.contains(r#""style":"upright""#) && page.contains(r#""style":"dashes""#));
            assert!(page.contains(r#""marks":["dot","dot","dot","cross"]"#), "shapes tell apart");
        });
    }
}
