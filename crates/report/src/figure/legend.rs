//! The legend of a figure: a sample of each series beside its name.

use std::fmt::Write as _;

use super::colour::Ground;
use super::dash;
use super::model::{Figure, Series, Stroke, Style};
use super::series::dash_attribute;
use super::words::{shortened, width};
use crate::escape;

/// Longest label drawn, in characters; the rest is cut with an ellipsis.
const LABEL_MAX: usize = 60;
/// Most lines of legend drawn; further series are drawn without one and counted.
const LINES_MAX: usize = 6;
/// Height of a line in pixels.
pub(super) const LINE: f64 = 20.0;
/// Where lines begin.
const LEFT: f64 = 24.0;
/// The baseline of the first line's text.
const FIRST: f64 = 54.0;
/// Width of a sample, and of the gap between it and its name.
const SAMPLE: f64 = 28.0;
/// The gap between two entries.
const GAP: f64 = 18.0;

/// Draws the legend into a picture of that width; returns the number of its lines.
pub(super) fn draw(out: &mut String, figure: &Figure, picture: f64) -> usize {
    let (mut x, mut line) = (LEFT, 0usize);
    for (index, (series, dash)) in figure.series.iter().zip(dash::patterns(figure)).enumerate() {
        let label = shortened(&series.label, LABEL_MAX);
        let room = SAMPLE + width(&label) + GAP;
        if x > LEFT && x + room > picture - LEFT {
            (x, line) = (LEFT, line + 1);
        }
        let y = FIRST + LINE * line as f64;
        // Writing to a String cannot fail.
        if line == LINES_MAX {
            let rest = figure.series.len() - index;
            let _ = writeln!(out, r#"<text x="{LEFT}" y="{y}">and {rest} more</text>"#);
            break;
        }
        let text = x + SAMPLE;
        let _ = writeln!(
            out,
            r#"{}<text x="{text:.1}" y="{y}">{}</text>"#,
            sample(series, dash, (x, y - 4.0), Ground::Paper),
            escape::xml(&label),
        );
        x += room;
    }
    if figure.series.is_empty() { 0 } else { line + 1 }
}

/// The legend of a page: a list; the page's script turns its entries into buttons.
pub(super) fn list(figure: &Figure) -> String {
    let mut out = String::from("<ul class=\"legend\">");
    for (series, dash) in figure.series.iter().zip(dash::patterns(figure)) {
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            "<li><svg width=\"22\" height=\"14\" aria-hidden=\"true\">{}</svg><span>{}</span></li>",
            sample(series, dash, (1.0, 7.0), Ground::Page),
            escape::xml(&series.label),
        );
    }
    out + "</ul>"
}

/// The sample before a series' name, drawn in the style of the series: 20 pixels wide from `x`, around the height `y`.
fn sample(series: &Series, dash: Option<&str>, (x, y): (f64, f64), ground: Ground) -> String {
    let (middle, right, colour) = (x + 10.0, x + 20.0, ground.of(series.colour));
    match &series.style {
        Style::Line | Style::Area => {
            let dash = dash_attribute(dash);
            format!(
                r#"<path d="M{x:.1} {y:.1}H{right:.1}" stroke="{colour}" stroke-width="2.5" stroke-linecap="round"{dash}/>"#
            )
        }
        Style::Steps | Style::Band(_) => {
            let top = y - 4.0;
            let faint = if series.style == Style::Steps { "" } else { " fill-opacity=\"0.3\"" };
            format!(
                r#"<rect x="{x:.1}" y="{top:.1}" width="20" height="8" rx="2" fill="{colour}"{faint}/>"#
            )
        }
        Style::Points(_) => {
            format!(r#"<circle cx="{middle:.1}" cy="{y:.1}" r="3.6" fill="{colour}"/>"#)
        }
        Style::Upright(stroke) => {
            let (top, bottom) = (y - 7.0, y + 7.0);
            let dash = dash_attribute((*stroke == Stroke::Dashed).then_some("3 2"));
            format!(
                r#"<path d="M{middle:.1} {top:.1}V{bottom:.1}" stroke="{colour}" stroke-width="1.8"{dash}/>"#
            )
        }
    }
}
