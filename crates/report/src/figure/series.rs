//! One series as shapes: a line with the area below it, marks, or lines from bottom to top.

use std::fmt::Write as _;

use super::colour::Ground;
use super::frame::Frame;
use super::model::{Mark, Series, Stroke, Style};
use super::path::{self, Course};

/// Half the width of a point's mark.
const MARK: f64 = 4.0;

/// Draws a series; `dash` is the pattern of its line.
pub(super) fn draw(
    out: &mut String,
    series: &Series,
    dash: Option<&str>,
    frame: &Frame,
    ground: Ground,
) {
    match &series.style {
        Style::Line | Style::Area | Style::Steps => line(out, series, dash, frame, ground),
        Style::Band(low) => band(out, series, low, frame, ground),
        Style::Points(marks) => points(out, series, marks, frame, ground),
        Style::Upright(stroke) => uprights(out, series, *stroke, frame, ground),
    }
}

/// Adds a line; writing to a `String` cannot fail.
fn push(out: &mut String, line: std::fmt::Arguments<'_>) {
    let _ = writeln!(out, "{line}");
}

/// A line, and the area below it where its style has one. In a page it has no more points than can be seen there.
fn line(out: &mut String, series: &Series, dash: Option<&str>, frame: &Frame, ground: Ground) {
    let course = if series.style == Style::Steps { Course::Stepped } else { Course::Straight };
    let pixels = series
        .points
        .iter()
        .map(|&(x, y)| (frame.across(x), if y.is_finite() { frame.down(y) } else { f64::NAN }));
    let (mut strokes, mut areas) = (String::new(), String::new());
    let bottom = frame.area.bottom;
    for stretch in path::stretches(pixels) {
        let stretch = match (ground, course) {
            (Ground::Page, Course::Straight) => path::reduced(&stretch),
            _ => stretch,
        };
        let data = path::data(&stretch, course);
        if let (Style::Area | Style::Steps, [first, .., last]) = (&series.style, &stretch[..]) {
            // Writing to a String cannot fail.
            let _ = write!(areas, "{data}L{:.1} {bottom:.1}L{:.1} {bottom:.1}Z", last.0, first.0);
        }
        strokes.push_str(&data);
    }
    let colour = ground.of(series.colour);
    if !areas.is_empty() {
        push(out, format_args!(r#"<path d="{areas}" fill="{colour}" fill-opacity="0.12"/>"#));
    }
    let dash = dash_attribute(dash);
    push(
        out,
        format_args!(
            r#"<path d="{strokes}" fill="none" stroke="{colour}" stroke-width="1.5" stroke-linejoin="round" stroke-linecap="round"{dash}/>"#,
        ),
    );
}

/// The area between the points and the lower edge; a gap in either is one in both.
fn band(out: &mut String, series: &Series, low: &[f64], frame: &Frame, ground: Ground) {
    let edge = |of: fn((f64, f64, f64)) -> f64| {
        let edges = series.points.iter().zip(low).map(|(&(x, high), &low)| (x, high, low));
        let pixels = edges.map(|(x, high, low)| {
            let is_gap = !high.is_finite() || !low.is_finite();
            (frame.across(x), if is_gap { f64::NAN } else { frame.down(of((x, high, low))) })
        });
        path::stretches(pixels)
    };
    let mut areas = String::new();
    for (upper, mut lower) in edge(|edges| edges.1).into_iter().zip(edge(|edges| edges.2)) {
        lower.reverse();
        areas.push_str(&path::data(&upper, Course::Straight));
        for (x, y) in lower {
            // Writing to a String cannot fail.
            let _ = write!(areas, "L{x:.1} {y:.1}");
        }
        areas.push('Z');
    }
    let colour = ground.of(series.colour);
    push(out, format_args!(r#"<path d="{areas}" fill="{colour}" fill-opacity="0.18"/>"#));
}

/// The attribute that draws a line in this pattern; empty for a line without gaps.
pub(super) fn dash_attribute(pattern: Option<&str>) -> String {
    pattern.map(|pattern| format!(r#" stroke-dasharray="{pattern}""#)).unwrap_or_default()
}

/// Every point as its mark.
fn points(out: &mut String, series: &Series, marks: &[Mark], frame: &Frame, ground: Ground) {
    let colour = ground.of(series.colour);
    push(out, format_args!(r#"<g fill="none" stroke="{colour}" stroke-width="1.6">"#));
    for (&(x, y), mark) in series.points.iter().zip(marks).filter(|(p, _)| p.1.is_finite()) {
        one_mark(out, *mark, (frame.across(x), frame.down(y)), &colour);
    }
    out.push_str("</g>\n");
}

fn one_mark(out: &mut String, mark: Mark, (x, y): (f64, f64), colour: &str) {
    let (left, right, top, bottom) = (x - MARK, x + MARK, y - MARK, y + MARK);
    match mark {
        Mark::Dot => {
            push(out, format_args!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.6" fill="{colour}"/>"#));
        }
        Mark::Cross => push(
            out,
            format_args!(
                r#"<path d="M{left:.1} {top:.1}L{right:.1} {bottom:.1}M{left:.1} {bottom:.1}L{right:.1} {top:.1}"/>"#
            ),
        ),
        Mark::Triangle => push(
            out,
            format_args!(r#"<path d="M{x:.1} {top:.1}L{right:.1} {bottom:.1}H{left:.1}Z"/>"#),
        ),
    }
}

/// A line from bottom to top at each point's x.
fn uprights(out: &mut String, series: &Series, stroke: Stroke, frame: &Frame, ground: Ground) {
    let colour = ground.of(series.colour);
    let (top, bottom) = (frame.area.top, frame.area.bottom);
    let dash = dash_attribute((stroke == Stroke::Dashed).then_some("5 4"));
    for (x, _) in &series.points {
        let at = frame.across(*x);
        push(
            out,
            format_args!(
                r#"<path d="M{at:.1} {top:.1}V{bottom:.1}" stroke="{colour}" stroke-width="1.8"{dash}/>"#
            ),
        );
    }
}
