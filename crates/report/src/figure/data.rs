//! A figure as the data of a page: JSON in the shape `web/src/figure.ts` reads.

use std::fmt::Write as _;

use super::{Axis, Figure, Series, Stroke, Style};
use crate::escape;

/// Figures as a JSON list; safe inside a `<script>` element.
pub(crate) fn script_data(figures: &[Figure]) -> String {
    json_list(figures.iter().map(json))
}

/// A JSON list of values that are JSON already.
pub(crate) fn json_list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn json(figure: &Figure) -> String {
    format!(
        r#"{{"title":{},"x":{},"y":{},"series":{}}}"#,
        escape::json(&figure.title),
        axis(&figure.x),
        axis(&figure.y),
        json_list(figure.series.iter().map(series)),
    )
}

fn axis(axis: &Axis) -> String {
    format!(r#"{{"label":{},"scale":"{}"}}"#, escape::json(&axis.label), axis.scale.name())
}

fn series(series: &Series) -> String {
    let style = match &series.style {
        Style::Line => "line",
        Style::Area => "area",
        Style::Steps => "steps",
        Style::Points(_) => "points",
        Style::Upright(Stroke::Solid) => "upright",
        Style::Upright(Stroke::Dashed) => "dashes",
    };
    format!(
        r#"{{"label":{},"style":"{style}",{}"light":"{}","dark":"{}","x":{},"y":{}}}"#,
        escape::json(&series.label),
        marks(&series.style),
        series.colour.light,
        series.colour.dark,
        numbers(series.points.iter().map(|point| point.0)),
        numbers(series.points.iter().map(|point| point.1)),
    )
}

/// The marks of points, as a key of the series.
fn marks(style: &Style) -> String {
    let Style::Points(marks) = style else { return String::new() };
    let names = marks.iter().map(|mark| format!("\"{}\"", mark.name()));
    format!(r#""marks":{},"#, json_list(names))
}

/// Numbers to a millionth; what is not finite is `null`.
fn numbers(values: impl Iterator<Item = f64>) -> String {
    let mut out = String::from("[");
    for (index, value) in values.enumerate() {
        if index > 0 {
            out.push(',');
        }
        if value.is_finite() {
            // Writing to a String cannot fail.
            let _ = write!(out, "{}", (value * 1e6).round() / 1e6);
        } else {
            out.push_str("null");
        }
    }
    out.push(']');
    out
}
