//! The names of lines at their right ends: they tell lines apart without colours and without a look at the legend.
//! `web/src/frame.ts` and `web/src/draw.ts` do the same in a page.

use std::fmt::Write as _;

use super::colour::Ground;
use super::frame::Frame;
use super::model::{Figure, Series, Style};
use super::words;
use crate::escape;

/// Pixels to the right of the frame that every picture has.
pub(super) const BESIDE: f64 = 20.0;
/// Pixels between the frame and a name.
const GAP: f64 = 6.0;
/// Lines with a name at their end, at most: more would be a list.
const LINES_MAX: usize = 6;
/// Characters of a name, at most.
const CHARS: usize = 14;
/// The share of a picture's width that names may take.
const SHARE: f64 = 0.25;
/// A line that ends farther from the right side than this share of the width has no name there.
const REACH: f64 = 0.06;
/// Pixels between two names, baseline to baseline.
const LINE: f64 = 14.0;

/// The names by the number of the series, for a picture of this width; `None` where one line needs none, where names are
/// alike, and where there is no room.
pub(super) fn names(figure: &Figure, width: f64) -> Option<Vec<String>> {
    let mut lines: Vec<String> =
        figure.series.iter().filter(|series| is_line(series)).map(name).collect();
    let count = lines.len();
    lines.sort_unstable();
    lines.dedup();
    if !(2..=LINES_MAX).contains(&count) || lines.len() != count {
        return None;
    }
    let names: Vec<String> = figure.series.iter().map(name).collect();
    (self::width(&names) <= width * SHARE).then_some(names)
}

/// Pixels from the frame to the end of the widest name.
pub(super) fn width(names: &[String]) -> f64 {
    GAP + names.iter().map(|name| words::width(name)).fold(0.0, f64::max)
}

fn is_line(series: &Series) -> bool {
    matches!(series.style, Style::Line | Style::Area)
}

/// A label without what follows a bracket or a colon, cut where it is long.
fn name(series: &Series) -> String {
    let label = series.label.as_str();
    let end = [" (", ": "].iter().filter_map(|sign| label.find(sign)).min().unwrap_or(label.len());
    words::shortened(&label[..end], CHARS)
}

/// Draws them beside the last points, apart from each other.
pub(super) fn draw(out: &mut String, figure: &Figure, frame: &Frame, ground: Ground) {
    let Some(names) = &frame.ends else { return };
    let area = frame.area;
    let least = area.right - REACH * (area.right - area.left);
    let last = |series: &Series| {
        let point = series.points.iter().rev().find(|point| point.1.is_finite())?;
        (frame.across(point.0) >= least).then(|| frame.down(point.1))
    };
    let lines = figure.series.iter().zip(names).filter(|(series, _)| is_line(series));
    let mut ends: Vec<(f64, &String, &Series)> =
        lines.filter_map(|(series, name)| Some((last(series)?, name, series))).collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    part(&mut ends, area.bottom);
    for (at, name, series) in ends {
        let (x, y) = (area.right + GAP, at + 4.0);
        let (fill, name) = (ground.of(series.colour), escape::xml(name));
        // Writing to a String cannot fail.
        let _ = writeln!(out, r#"<text x="{x:.1}" y="{y:.1}" fill="{fill}">{name}</text>"#);
    }
}

/// Moves names that would touch: down first, then up from the frame's bottom.
fn part(ends: &mut [(f64, &String, &Series)], bottom: f64) {
    let mut free = f64::MIN;
    for (at, ..) in ends.iter_mut() {
        *at = at.max(free);
        free = *at + LINE;
    }
    let mut limit = bottom;
    for (at, ..) in ends.iter_mut().rev() {
        *at = at.min(limit);
        limit = *at - LINE;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Colour, Scale, Size};
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

    #[test]
    fn one_line_and_many_lines_have_none() {
        let labels = ["a", "b", "c", "d", "e", "f", "g"];
        for count in [1, 7] {
            assert_eq!(names(&figure(&labels[..count], &[1.0; 7]), 800.0), None, "{count}");
        }
        assert_eq!(names(&figure(&["a: OK", "a: ERROR"], &[1.0; 2]), 800.0), None, "alike");
        assert_eq!(names(&figure(&["a line", "another line"], &[1.0; 2]), 300.0), None, "no room");
        assert!(names(&figure(&labels[..6], &[1.0; 6]), 800.0).is_some());
    }
}
