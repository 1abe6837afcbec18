//! A figure as an SVG of its own: title, legend, axes, series and notes.
//!
//! Every SVG of this crate is made of few shapes, so that every viewer, and the drawing of PNGs, shows the same:
//! - `rect` with `x y width height rx`; `circle` with `cx cy r`;
//! - `path` with absolute `M L H V Z` only;
//! - `text` with `x y`, `text-anchor` and one line of text, without elements in it;
//! - `g`, and `svg` inside `g`, both without a clip; `transform` is one `translate(x y)`;
//! - `fill`, `fill-opacity`, `stroke`, `stroke-width`, `stroke-dasharray`, `stroke-linejoin="round"`,
//!   `stroke-linecap="round"`, `font-size` in pixels and `font-family`, as attributes, inherited as in SVG;
//! - colours as `#rrggbb` or `none`. Only pictures inside a page have CSS variables, `class` and `aria-` attributes.

use std::fmt::Write as _;

use super::axes;
use super::colour::{Ground, Ink};
use super::dash;
use super::ends;
use super::frame::{Area, Frame};
use super::legend;
use super::model::{Figure, Size};
use super::png::FONT_FAMILY;
use super::series;
use super::words::shortened;
use crate::escape;

/// Most notes written below a picture.
const NOTES_MAX: usize = 6;
/// The height of a note in pixels.
const NOTE: f64 = 16.0;

/// Draws a figure on white.
pub(super) fn draw(figure: &Figure, size: Size) -> String {
    let (width, height) = (f64::from(size.width), f64::from(size.height));
    let ground = Ground::Paper;
    let mut out = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="{FONT_FAMILY}, system-ui, sans-serif" font-size="12" fill="{}">
<rect width="{width}" height="{height}" fill="{}"/>
<text x="24" y="30" font-size="16" fill="{}">{}</text>
"#,
        ground.ink(Ink::Text),
        "#ffffff",
        ground.ink(Ink::Title),
        escape::xml(&shortened(&figure.title, (width / 10.0) as usize)),
    );
    let lines = legend::draw(&mut out, figure, width) as f64;
    let notes = figure.notes.len().min(NOTES_MAX) as f64;
    let outer = Area {
        left: 24.0,
        right: width - 28.0,
        top: 40.0 + legend::LINE * lines,
        bottom: height - 10.0 - NOTE * notes,
    };
    plot(&mut out, figure, &Frame::within(figure, outer), ground);
    for (index, note) in figure.notes.iter().take(NOTES_MAX).enumerate() {
        let at = outer.bottom + 12.0 + NOTE * index as f64;
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            r#"<text x="24" y="{at:.1}" font-size="11" fill="{}">{}</text>"#,
            ground.ink(Ink::Faint),
            escape::xml(&shortened(note, (width / 5.8) as usize))
        );
    }
    out.push_str("</svg>\n");
    out
}

/// Axes and series.
pub(super) fn plot(out: &mut String, figure: &Figure, frame: &Frame, ground: Ground) {
    axes::draw(out, figure, frame, ground);
    for (one, dash) in figure.series.iter().zip(dash::patterns(figure)) {
        series::draw(out, one, dash, frame, ground);
    }
    ends::draw(out, figure, frame, ground);
}
