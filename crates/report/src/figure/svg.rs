//! A figure as SVG: frame, ticks, lines and legend, in plain shapes that every viewer (and `resvg`) draws alike.

use std::fmt::Write as _;

use super::png::FONT_FAMILY;
use super::scale::Span;
use super::{Figure, Mark, Series, Size, Stroke, Style};
use crate::escape;

/// Width of one character of 12 px text, on average: enough to place a legend without measuring.
const CHAR_WIDTH: f64 = 7.0;
/// Longest label drawn, in characters; the rest is cut with an ellipsis.
const LABEL_MAX: usize = 60;
/// Most lines of legend drawn; further series are drawn without one and counted.
const LEGEND_LINES_MAX: usize = 6;

/// Most notes written below a picture.
const NOTES_MAX: usize = 6;

/// The inside of the frame, in pixels.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// Draws a figure.
pub(super) fn draw(figure: &Figure, size: Size) -> String {
    let (width, height) = (f64::from(size.width), f64::from(size.height));
    let (legend, legend_lines) = legend(figure, width);
    let notes = figure.notes.len().min(NOTES_MAX) as f64;
    let frame = Frame {
        left: 70.0,
        right: width - 24.0,
        top: 46.0 + 20.0 * legend_lines as f64,
        bottom: height - 52.0 - 16.0 * notes,
    };
    let x = Span::over(figure.x.scale, values(figure, |point| point.0));
    let y = Span::over(figure.y.scale, values(figure, |point| point.1)).with_headroom();
    let mut out = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="{FONT_FAMILY}, system-ui, sans-serif" font-size="12" fill="#39424e">
<rect width="{width}" height="{height}" fill="#ffffff"/>
<text x="24" y="30" font-size="16" fill="#161b22">{}</text>
{legend}"##,
        escape::xml(&shortened(&figure.title, (width / 10.0) as usize)),
    );
    out.push_str(&grid(figure, &frame, &x, &y));
    for series in &figure.series {
        out.push_str(&drawn(series, &frame, &x, &y));
    }
    for (index, note) in figure.notes.iter().take(NOTES_MAX).enumerate() {
        let at = frame.bottom + 56.0 + 16.0 * index as f64;
        push(
            &mut out,
            format_args!(
                r##"<text x="24" y="{at:.1}" font-size="11" fill="#6b7684">{}</text>"##,
                escape::xml(&shortened(note, (width / 5.8) as usize))
            ),
        );
    }
    out.push_str("</svg>\n");
    out
}

/// Adds a line; writing to a `String` cannot fail.
fn push(out: &mut String, line: std::fmt::Arguments<'_>) {
    let _ = writeln!(out, "{line}");
}

fn values(figure: &Figure, of: fn(&(f64, f64)) -> f64) -> impl Iterator<Item = f64> {
    figure.series.iter().flat_map(move |series| series.points.iter().map(of))
}

fn drawn(series: &Series, frame: &Frame, x: &Span, y: &Span) -> String {
    match &series.style {
        Style::Line | Style::Area | Style::Steps => line(series, frame, x, y),
        Style::Points(marks) => points(series, marks, frame, (x, y)),
        Style::Upright(stroke) => uprights(series, *stroke, frame, x),
    }
}

/// Half the width of a point's mark.
const MARK: f64 = 4.0;

/// Every point as its mark.
fn points(series: &Series, marks: &[Mark], frame: &Frame, (x, y): (&Span, &Span)) -> String {
    let (width, height) = (frame.right - frame.left, frame.bottom - frame.top);
    let colour = series.colour.light;
    let mut out = format!(r#"<g stroke="{colour}" stroke-width="1.6">"#);
    for (&(across, up), mark) in series.points.iter().zip(marks).filter(|(p, _)| p.1.is_finite()) {
        let (px, py) = (frame.left + x.place(across) * width, frame.bottom - y.place(up) * height);
        let (left, right, top, bottom) = (px - MARK, px + MARK, py - MARK, py + MARK);
        match mark {
            Mark::Dot => push(
                &mut out,
                format_args!(r#"<circle cx="{px:.1}" cy="{py:.1}" r="3.6" fill="{colour}"/>"#),
            ),
            Mark::Cross => push(
                &mut out,
                format_args!(
                    r#"<path d="M{left:.1} {top:.1}L{right:.1} {bottom:.1}M{left:.1} {bottom:.1}L{right:.1} {top:.1}" fill="none"/>"#
                ),
            ),
            Mark::Triangle => push(
                &mut out,
                format_args!(
                    r#"<path d="M{px:.1} {top:.1}L{right:.1} {bottom:.1}H{left:.1}Z" fill="none"/>"#
                ),
            ),
        }
    }
    out + "</g>\n"
}

/// A line from bottom to top at each point's x.
fn uprights(series: &Series, stroke: Stroke, frame: &Frame, x: &Span) -> String {
    let (colour, width) = (series.colour.light, frame.right - frame.left);
    let (top, bottom) = (frame.top, frame.bottom);
    let dashes = match stroke {
        Stroke::Solid => "",
        Stroke::Dashed => r#" stroke-dasharray="5 4""#,
    };
    let mut out = String::new();
    for (across, _) in &series.points {
        let at = frame.left + x.place(*across) * width;
        push(
            &mut out,
            format_args!(
                r#"<path d="M{at:.1} {top:.1}V{bottom:.1}" stroke="{colour}" stroke-width="1.8"{dashes}/>"#
            ),
        );
    }
    out
}

/// The text, cut to so many characters with an ellipsis.
pub(crate) fn shortened(label: &str, max: usize) -> String {
    if label.chars().count() <= max {
        return label.to_owned();
    }
    let start: String = label.chars().take(max.saturating_sub(1)).collect();
    start + "…"
}

/// The same with its end kept: names that begin alike are told apart there.
pub(crate) fn shortened_to_end(label: &str, max: usize) -> String {
    let count = label.chars().count();
    if count <= max {
        return label.to_owned();
    }
    let end = label.chars().skip(count - max.saturating_sub(1));
    std::iter::once('…').chain(end).collect()
}

/// The legend and how many lines it takes.
fn legend(figure: &Figure, width: f64) -> (String, usize) {
    let mut out = String::new();
    let (mut x, mut line) = (24.0, 0usize);
    for (index, series) in figure.series.iter().enumerate() {
        let label = shortened(&series.label, LABEL_MAX);
        let room = 22.0 + CHAR_WIDTH * label.chars().count() as f64 + 18.0;
        if x > 24.0 && x + room > width - 24.0 {
            (x, line) = (24.0, line + 1);
        }
        let y = 54.0 + 20.0 * line as f64;
        if line == LEGEND_LINES_MAX {
            let rest = figure.series.len() - index;
            push(&mut out, format_args!(r#"<text x="24" y="{y}">and {rest} more</text>"#));
            break;
        }
        let colour = series.colour.light;
        let text = x + 20.0;
        push(
            &mut out,
            format_args!(
                r#"{}<text x="{text:.1}" y="{y}">{}</text>"#,
                legend_sign(&series.style, colour, (x, y)),
                escape::xml(&label),
            ),
        );
        x += room;
    }
    (out, if figure.series.is_empty() { 0 } else { line + 1 })
}

/// What stands before a series' name: a bar, a point, or an upright line as it is drawn.
fn legend_sign(style: &Style, colour: &str, (x, y): (f64, f64)) -> String {
    let middle = x + 7.0;
    match style {
        Style::Line | Style::Area | Style::Steps => {
            let bar = y - 8.0;
            format!(r#"<rect x="{x:.1}" y="{bar}" width="14" height="4" rx="2" fill="{colour}"/>"#)
        }
        Style::Points(_) => {
            let at = y - 5.0;
            format!(r#"<circle cx="{middle:.1}" cy="{at}" r="3.6" fill="{colour}"/>"#)
        }
        Style::Upright(stroke) => {
            let (top, bottom) = (y - 12.0, y + 2.0);
            let dashes = if *stroke == Stroke::Dashed { r#" stroke-dasharray="3 2""# } else { "" };
            format!(
                r#"<path d="M{middle:.1} {top}V{bottom}" stroke="{colour}" stroke-width="1.8"{dashes}/>"#
            )
        }
    }
}

fn grid(figure: &Figure, frame: &Frame, x: &Span, y: &Span) -> String {
    let mut out = String::from(r##"<g stroke="#e3e7ec" stroke-width="1">"##);
    let (width, height) = (frame.right - frame.left, frame.bottom - frame.top);
    let (across, down) =
        (x.ticks((width / 110.0) as usize + 1), y.ticks((height / 55.0) as usize + 1));
    let at_x = |value: f64| frame.left + x.place(value) * width;
    let at_y = |value: f64| frame.bottom - y.place(value) * height;
    let Frame { left, right, top, bottom } = frame;
    for (value, _) in &across {
        let at = at_x(*value);
        push(&mut out, format_args!(r#"<path d="M{at:.1} {top:.1}V{bottom:.1}"/>"#));
    }
    for (value, _) in &down {
        let at = at_y(*value);
        push(&mut out, format_args!(r#"<path d="M{left:.1} {at:.1}H{right:.1}"/>"#));
    }
    out.push_str("</g>\n<g fill=\"#6b7684\">\n");
    for (value, text) in &across {
        let (at, below) = (at_x(*value), bottom + 18.0);
        push(
            &mut out,
            format_args!(r#"<text x="{at:.1}" y="{below:.1}" text-anchor="middle">{text}</text>"#),
        );
    }
    for (value, text) in &down {
        let (beside, at) = (left - 8.0, at_y(*value) + 4.0);
        push(
            &mut out,
            format_args!(r#"<text x="{beside:.1}" y="{at:.1}" text-anchor="end">{text}</text>"#),
        );
    }
    let (middle, below) = (f64::midpoint(*left, *right), bottom + 38.0);
    push(
        &mut out,
        format_args!(
            r#"<text x="{middle:.1}" y="{below:.1}" text-anchor="middle">{}</text>"#,
            escape::xml(&figure.x.label)
        ),
    );
    let upright = f64::midpoint(*top, *bottom);
    push(
        &mut out,
        format_args!(
            r#"<text transform="translate(18 {upright:.1}) rotate(-90)" text-anchor="middle">{}</text>"#,
            escape::xml(&figure.y.label),
        ),
    );
    out.push_str("</g>\n");
    out
}

/// One series: its line, and the area below it where its style has one.
fn line(series: &Series, frame: &Frame, x: &Span, y: &Span) -> String {
    let (width, height) = (frame.right - frame.left, frame.bottom - frame.top);
    let mut path = String::new();
    let mut pen_down = false;
    let mut before = 0.0;
    let mut ends: Option<(f64, f64)> = None;
    for &(across, up) in &series.points {
        if !up.is_finite() {
            pen_down = false;
            continue;
        }
        let (px, py) = (frame.left + x.place(across) * width, frame.bottom - y.place(up) * height);
        // Writing to a String cannot fail.
        let _ = match (pen_down, &series.style) {
            (false, _) => write!(path, "M{px:.1} {py:.1}"),
            (true, Style::Steps) => write!(path, "H{px:.1}V{py:.1}"),
            (true, _) if (px - before).abs() < 0.05 => write!(path, "V{py:.1}"),
            (true, _) => write!(path, "L{px:.1} {py:.1}"),
        };
        (pen_down, before) = (true, px);
        ends = Some((ends.map_or(px, |ends| ends.0), px));
    }
    let colour = series.colour.light;
    let mut out = String::new();
    let gaps = series.points.iter().any(|point| !point.1.is_finite());
    if let (Style::Area | Style::Steps, Some((first, last)), false) = (&series.style, ends, gaps) {
        let bottom = frame.bottom;
        push(
            &mut out,
            format_args!(
                r#"<path d="{path}L{last:.1} {bottom:.1}L{first:.1} {bottom:.1}Z" fill="{colour}" fill-opacity="0.12"/>"#
            ),
        );
    }
    if series.points.len() == 1 && !path.is_empty() {
        path.push_str("h0.1");
    }
    push(
        &mut out,
        format_args!(
            r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.5" stroke-linejoin="round" stroke-linecap="round"/>"#,
        ),
    );
    out
}
