//! The names of lines at their right ends: they tell lines apart without colours and without a look at the legend.
//! `web/src/frame.ts` and `web/src/draw.ts` do the same in a page.

use std::fmt::Write as _;

use super::colour::Ground;
use super::end_names::{GAP, is_line};
use super::frame::Frame;
use super::model::{Figure, Series};
use crate::escape;

/// A line that ends farther from the right side than this share of the width has no name there.
const REACH: f64 = 0.3;
/// Pixels between two names, baseline to baseline.
const LINE: f64 = 14.0;

/// A line's end and its name.
struct End<'a> {
    x: f64,
    y: f64,
    name: &'a str,
    series: &'a Series,
}

/// Draws them beside the last points, apart from each other.
pub(super) fn draw(out: &mut String, figure: &Figure, frame: &Frame, ground: Ground) {
    let Some(names) = &frame.ends else { return };
    let area = frame.area;
    let least = area.right - REACH * (area.right - area.left);
    let last = |series: &Series| {
        let point = series.points.iter().rev().find(|point| point.1.is_finite())?;
        let x = frame.across(point.0);
        (x >= least).then(|| (frame.down(point.1), x + GAP))
    };
    let lines = figure.series.iter().zip(names).filter(|(series, _)| is_line(series));
    let mut ends: Vec<End<'_>> = lines
        .filter_map(|(series, name)| {
            let (y, x) = last(series)?;
            Some(End { x, y, name, series })
        })
        .collect();
    ends.sort_by(|a, b| a.y.total_cmp(&b.y));
    part(&mut ends, area.bottom);
    for End { x, y, name, series } in ends {
        let y = y + 4.0;
        let (fill, name) = (ground.of(series.colour), escape::xml(name));
        // Writing to a String cannot fail.
        let _ = writeln!(out, r#"<text x="{x:.1}" y="{y:.1}" fill="{fill}">{name}</text>"#);
    }
}

/// Moves names that would touch: down first, then up from the frame's bottom.
fn part(ends: &mut [End<'_>], bottom: f64) {
    let mut free = f64::MIN;
    for end in ends.iter_mut() {
        end.y = end.y.max(free);
        free = end.y + LINE;
    }
    let mut limit = bottom;
    for end in ends.iter_mut().rev() {
        end.y = end.y.min(limit);
        limit = end.y - LINE;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Colour, Scale, Size, Style};
    use super::*;

    fn figure(labels: &[&str], last: &[f64]) -> Figure {
        let axis = || Axis { label: String::new(), scale: Scale::Linear };
        let line = |(label, y): (&&str, &f64)| Series {
            label: (*label).to_owned(),
            style: Style::Line,
            colour: Colour::calm(0),
            points: vec![(0.0, 1.0), (1.0, *y)],
        };
        let series = labels.iter().zip(last).map(line).collect();
        Figure { title: String::new(), x: axis(), y: axis(), series, notes: Vec::new() }
    }

    /// The heights of the texts that have this content.
    fn heights(svg: &str, labels: &[&str]) -> Vec<f64> {
        let of = |label: &&str| {
            let line =
                svg.lines().rev().find(|line| line.ends_with(&format!(">{label}</text>")))?;
            line.split("y=\"").nth(1)?.split('"').next()?.parse().ok()
        };
        labels.iter().filter_map(of).collect()
    }

    #[test]
    fn lines_have_their_names_at_their_ends_and_apart() {
        let svg = figure(&["p50 (ms)", "p95", "p99"], &[1.0, 1.01, 9.0]).svg(Size::default());
        let [p50, p95, p99] = heights(&svg, &["p50", "p95", "p99"])[..] else { panic!("{svg}") };
        assert!(p99 < p95 && p95 < p50, "the greater the higher: {p50} {p95} {p99}");
        assert!(p50 - p95 >= LINE, "{p50} {p95}");
    }
}
