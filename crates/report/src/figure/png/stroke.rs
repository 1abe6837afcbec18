//! Strokes: the area that a pen of some width covers along a line, as polygons. The polygons of one stroke overlap and turn the
//! same way, so that the non-zero rule fills their union.

use super::geometry::Point;
use super::path::{Outline, Polyline, circle};

/// A pen. SVG 2, 13.5.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pen {
    /// In pixels.
    pub(super) width: f32,
    pub(super) has_round_joins: bool,
    pub(super) has_round_caps: bool,
    /// Lengths of dashes and gaps in turn; empty for a line without gaps.
    pub(super) dashes: Vec<f32>,
}

/// The longest mitre, in widths of the line: a sharper corner is cut off. SVG's default.
const MITRE_MAX: f32 = 4.0;
/// Dashes of one line, at most.
const DASHES_MAX: usize = 100_000;

/// The area that a pen covers along an outline.
pub(super) fn stroke(outline: &[Polyline], pen: &Pen) -> Outline {
    let mut area = Vec::new();
    for line in outline {
        if pen.dashes.iter().sum::<f32>() > 0.0 {
            for dash in dashed(line, &pen.dashes) {
                stroke_line(&dash, pen, &mut area);
            }
        } else {
            stroke_line(line, pen, &mut area);
        }
    }
    area
}

fn stroke_line(line: &Polyline, pen: &Pen, area: &mut Outline) {
    let mut points = line.points.clone();
    points.dedup();
    if line.is_closed && points.len() > 1 && points.first() == points.last() {
        points.pop();
    }
    let radius = pen.width / 2.0;
    let count = points.len();
    let segments = if line.is_closed { count } else { count.saturating_sub(1) };
    for at in 0..segments {
        area.push(segment(points[at], points[(at + 1) % count], radius));
    }
    for at in 0..count {
        let is_end = !line.is_closed && (at == 0 || at + 1 == count);
        if is_end {
            if pen.has_round_caps {
                area.push(circle(points[at], radius));
            }
        } else if pen.has_round_joins {
            area.push(circle(points[at], radius));
        } else {
            let (before, after) = (points[(at + count - 1) % count], points[(at + 1) % count]);
            area.extend(mitre(before, points[at], after, radius));
        }
    }
}

/// The rectangle around one straight line.
fn segment(from: Point, to: Point, radius: f32) -> Polyline {
    let side = side(from, to, radius);
    let points = vec![from.plus(side), from.minus(side), to.minus(side), to.plus(side)];
    Polyline { points, is_closed: true }
}

/// From a line at right angles to its edge.
fn side(from: Point, to: Point, radius: f32) -> Point {
    let along = to.minus(from);
    let length = along.length().max(f32::MIN_POSITIVE);
    Point::new(-along.y, along.x).times(radius / length)
}

/// The wedge at the outside of a corner; cut off where it would be too long. None where the line continues straight.
fn mitre(before: Point, corner: Point, after: Point, radius: f32) -> Option<Polyline> {
    let (first, second) = (side(before, corner, radius), side(corner, after, radius));
    let turn = first.x * second.y - first.y * second.x;
    if turn.abs() < 1e-6 {
        return None;
    }
    // A turn to the right has its outside on the left, and the other way round.
    let (first, second) =
        if turn > 0.0 { (first.times(-1.0), second.times(-1.0)) } else { (first, second) };
    let middle = first.plus(second).times(0.5);
    let mut points = vec![corner, corner.plus(first)];
    let stretch = radius * radius / middle.length().powi(2).max(f32::MIN_POSITIVE);
    if stretch * middle.length() <= MITRE_MAX * radius {
        points.push(corner.plus(middle.times(stretch)));
    }
    points.push(corner.plus(second));
    // As the rectangles turn.
    if turn < 0.0 {
        points.reverse();
    }
    Some(Polyline { points, is_closed: true })
}

/// The dashes of a line.
fn dashed(line: &Polyline, lengths: &[f32]) -> Vec<Polyline> {
    let mut points = line.points.clone();
    if line.is_closed {
        points.extend(line.points.first());
    }
    let mut dashes = vec![Polyline::default()];
    let (mut number, mut left) = (0, lengths[0]);
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        let mut length = to.minus(from).length();
        while length > left && dashes.len() < DASHES_MAX {
            let end = from.towards(to, left / length);
            if number % 2 == 0 {
                extend(&mut dashes, from, end);
                dashes.push(Polyline::default());
            }
            (from, length) = (end, length - left);
            number += 1;
            left = lengths[number % lengths.len()].max(0.1);
        }
        if number % 2 == 0 {
            extend(&mut dashes, from, to);
        }
        left -= length;
    }
    dashes.retain(|dash| dash.points.len() > 1);
    dashes
}

/// Draws the last dash on.
fn extend(dashes: &mut [Polyline], from: Point, to: Point) {
    if let Some(dash) = dashes.last_mut() {
        if dash.points.is_empty() {
            dash.points.push(from);
        }
        dash.points.push(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::png::path::parse;

    const PEN: Pen =
        Pen { width: 2.0, has_round_joins: false, has_round_caps: false, dashes: Vec::new() };

    /// Twice the signed area.
    fn area(line: &Polyline) -> f32 {
        let points = &line.points;
        let pairs = (0..points.len()).map(|at| (points[at], points[(at + 1) % points.len()]));
        pairs.map(|(a, b)| a.x * b.y - a.y * b.x).sum()
    }

    #[test]
    fn all_polygons_of_a_stroke_turn_the_same_way() {
        for data in
            ["M0 0L10 0L10 10", "M0 0L10 0L10 -10", "M0 0L9 1L0 2", "M0 0L4 4H-4Z", "M3 3V9H1"]
        {
            for has_round_joins in [false, true] {
                let pen = Pen { has_round_joins, has_round_caps: true, ..PEN };
                let stroke = stroke(&parse(data), &pen);
                assert!(stroke.iter().all(|polygon| area(polygon) > 0.0), "{data} {stroke:?}");
            }
        }
    }

    #[test]
    fn a_mitre_reaches_the_corner() {
        let stroke = stroke(&parse("M0 0H10V10"), &PEN);
        let tip = stroke.iter().flat_map(|polygon| &polygon.points);
        assert!(
            tip.clone().any(|p| (p.x - 11.0).abs() < 1e-4 && (p.y + 1.0).abs() < 1e-4),
            "{stroke:?}"
        );
    }

    #[test]
    fn dashes_go_on_around_corners() {
        let pen = Pen { dashes: vec![5.0, 4.0], ..PEN };
        let dashes = dashed(&parse("M0 0H12V12")[0], &pen.dashes);
        let found: Vec<Vec<(f32, f32)>> =
            dashes.iter().map(|dash| dash.points.iter().map(|p| (p.x, p.y)).collect()).collect();
        let expect = [
            vec![(0.0, 0.0), (5.0, 0.0)],
            vec![(9.0, 0.0), (12.0, 0.0), (12.0, 2.0)],
            vec![(12.0, 6.0), (12.0, 11.0)],
        ];
        assert_eq!(found, expect);
    }
}
