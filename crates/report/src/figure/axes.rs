//! The grid of a figure, the texts of its ticks, and the labels of its axes.

use std::fmt::Write as _;

use super::colour::{Ground, Ink};
use super::frame::{Area, Frame, TICK_GAP};
use super::model::Figure;
use crate::escape;

/// Draws them.
pub(super) fn draw(out: &mut String, figure: &Figure, frame: &Frame, ground: Ground) {
    let Area { left, right, top, bottom } = frame.area;
    let mut grid = format!("M{left:.1} {}H{right:.1}", crisp(bottom));
    let mut texts = String::new();
    // Writing to a String cannot fail.
    for (value, text) in &frame.x_ticks {
        let (at, below) = (frame.across(*value), bottom + 18.0);
        let _ = write!(grid, "M{} {top:.1}V{bottom:.1}", crisp(at));
        let _ = writeln!(
            texts,
            r#"<text x="{at:.1}" y="{below:.1}" text-anchor="middle">{text}</text>"#
        );
    }
    for (value, text) in &frame.y_ticks {
        let (beside, at) = (left - TICK_GAP, frame.down(*value));
        let base = at + 4.0;
        let _ = write!(grid, "M{left:.1} {}H{right:.1}", crisp(at));
        let _ = writeln!(
            texts,
            r#"<text x="{beside:.1}" y="{base:.1}" text-anchor="end">{text}</text>"#
        );
    }
    let _ = write!(
        texts,
        r#"<text x="{:.1}" y="{:.1}" text-anchor="middle">{}</text>
<text x="{:.1}" y="{:.1}">{}</text>"#,
        f64::midpoint(left, right),
        bottom + 38.0,
        escape::xml(&figure.x.label),
        frame.outer.left,
        top - 14.0,
        escape::xml(&figure.y.label),
    );
    let _ = writeln!(
        out,
        "<path d=\"{grid}\" fill=\"none\" stroke=\"{}\"/>\n<g fill=\"{}\">\n{texts}\n</g>",
        ground.ink(Ink::Line),
        ground.ink(Ink::Faint),
    );
}

/// The middle of the pixel that a line of one pixel falls into.
fn crisp(at: f64) -> f64 {
    at.floor() + 0.5
}
