//! A figure as the data of a page: JSON in the shape `web/src/figure.ts` reads.

use std::fmt::Write as _;

use super::dash;
use super::model::{Axis, Figure, Series, Stroke, Style};
use crate::escape;
use crate::object::json_list;

/// Figures as a JSON list; safe inside a `<script>` element.
pub(crate) fn script_data(figures: &[Figure]) -> String {
    json_list(figures.iter().map(json))
}

fn json(figure: &Figure) -> String {
    format!(
        r#"{{"title":{},"x":{},"y":{},"series":{}}}"#,
        escape::json(&figure.title),
        axis(&figure.x),
        axis(&figure.y),
        json_list(all_series(figure).into_iter()),
    )
}

fn axis(axis: &Axis) -> String {
    format!(r#"{{"label":{},"scale":"{}"}}"#, escape::json(&axis.label), axis.scale.name())
}

/// The series; one with the same x as the one before it has no x of its own.
fn all_series(figure: &Figure) -> Vec<String> {
    let mut before = None;
    let with_dash = figure.series.iter().zip(dash::patterns(figure));
    with_dash
        .map(|(one, dash)| {
            let x = numbers(one.points.iter().map(|point| point.0));
            let text = series(one, dash, Some(&x).filter(|x| before.as_ref() != Some(*x)));
            before = Some(x);
            text
        })
        .collect()
}

fn series(series: &Series, dash: Option<&str>, x: Option<&String>) -> String {
    let style = match &series.style {
        Style::Line => "line",
        Style::Area => "area",
        Style::Steps => "steps",
        Style::Band(_) => "band",
        Style::Points(_) => "points",
        Style::Upright(Stroke::Solid) => "upright",
        Style::Upright(Stroke::Dashed) => "dashes",
    };
    format!(
        r#"{{"label":{},"style":"{style}",{}"colour":"{}",{}{}"y":{}}}"#,
        escape::json(&series.label),
        shape(&series.style),
        series.colour.name,
        dash.map(|dash| format!(r#""dash":"{dash}","#)).unwrap_or_default(),
        x.map(|x| format!(r#""x":{x},"#)).unwrap_or_default(),
        numbers(series.points.iter().map(|point| point.1)),
    )
}

/// The marks of points, or the lower edge of a band, as a key of the series.
fn shape(style: &Style) -> String {
    match style {
        Style::Points(marks) => {
            let names = marks.iter().map(|mark| format!("\"{}\"", mark.name()));
            format!(r#""marks":{},"#, json_list(names))
        }
        Style::Band(low) => format!(r#""low":{},"#, numbers(low.iter().copied())),
        _ => String::new(),
    }
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

#[cfg(test)]
mod tests {
    use super::super::{Colour, Scale};
    use super::*;

    fn figure(points: [Vec<(f64, f64)>; 2]) -> Figure {
        let axis = || Axis { label: "s".to_owned(), scale: Scale::Linear };
        let line = |points| Series {
            label: "</a>".to_owned(),
            style: Style::Line,
            colour: Colour::alarm(1),
            points,
        };
        Figure {
            title: "t".to_owned(),
            x: axis(),
            y: axis(),
            series: points.map(line).into(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn one_x_for_series_that_share_it() {
        let data = script_data(&[figure([
            vec![(0.0, 1.0), (1.5, f64::NAN)],
            vec![(0.0, 3.0), (1.5, 4.0)],
        ])]);
        let value: serde_json::Value = serde_json::from_str(&data).unwrap();
        let series = &value[0]["series"];
        assert_eq!(series[0]["x"], serde_json::json!([0, 1.5]));
        assert_eq!(series[0]["y"], serde_json::json!([1, null]));
        assert_eq!(series[1]["x"], serde_json::Value::Null);
        assert_eq!((&series[1]["colour"], &series[1]["dash"]), (&"alarm1".into(), &"7 5".into()));
        assert!(!data.contains("</a>"), "{data}");
        let apart = script_data(&[figure([vec![(0.0, 1.0)], vec![(2.0, 3.0)]])]);
        assert_eq!(apart.matches("\"x\":[").count(), 2, "{apart}");
    }
}
