//! Outlines: polygons of straight lines, from SVG path data, rectangles, circles and the curves of glyphs.

use super::geometry::{Point, Transform};

/// A line through points, open or closed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Polyline {
    pub(super) points: Vec<Point>,
    pub(super) is_closed: bool,
}

/// Several lines that are drawn as one shape.
pub(super) type Outline = Vec<Polyline>;

/// Lines of a quarter circle of 1 px radius; larger ones have more.
const QUARTER_LINES: f32 = 3.0;

/// The outline under a transformation.
pub(super) fn transformed(outline: &[Polyline], transform: &Transform) -> Outline {
    let moved = |line: &Polyline| Polyline {
        points: line.points.iter().map(|point| transform.apply(*point)).collect(),
        is_closed: line.is_closed,
    };
    outline.iter().map(moved).collect()
}

/// A rectangle with rounded corners of `radius`, or sharp ones where it is 0.
pub(super) fn rectangle(from: Point, size: Point, radius: f32) -> Outline {
    let radius = radius.min(size.x / 2.0).min(size.y / 2.0).max(0.0);
    let to = from.plus(size);
    let mut points = Vec::new();
    let corners = [
        (Point::new(to.x - radius, from.y + radius), -90.0),
        (Point::new(to.x - radius, to.y - radius), 0.0),
        (Point::new(from.x + radius, to.y - radius), 90.0),
        (Point::new(from.x + radius, from.y + radius), 180.0),
    ];
    for (centre, start) in corners {
        arc(centre, radius, start, &mut points);
    }
    vec![Polyline { points, is_closed: true }]
}

/// A circle.
pub(super) fn circle(centre: Point, radius: f32) -> Polyline {
    let mut points = Vec::new();
    for start in [0.0, 90.0, 180.0, 270.0] {
        arc(centre, radius, start, &mut points);
    }
    Polyline { points, is_closed: true }
}

/// A quarter of a circle from `start` degrees on.
fn arc(centre: Point, radius: f32, start: f32, points: &mut Vec<Point>) {
    if radius <= 0.0 {
        points.push(centre);
        return;
    }
    let lines = (QUARTER_LINES * radius.sqrt()).ceil().clamp(1.0, 64.0);
    for step in 0..=lines as u32 {
        let (sine, cosine) = (start + 90.0 * step as f32 / lines).to_radians().sin_cos();
        points.push(centre.plus(Point::new(cosine, sine).times(radius)));
    }
}

/// The outline of SVG path data of the commands M, L, H, V and Z, absolute or relative. It ends at the first other command.
pub(super) fn parse(data: &str) -> Outline {
    let mut parser = Parser { rest: data, at: Point::new(0.0, 0.0), outline: Vec::new() };
    let mut command = 'M';
    loop {
        parser.skip_separators();
        let Some(letter) = parser.rest.chars().next() else { break };
        if letter.is_ascii_alphabetic() {
            command = letter;
            parser.rest = &parser.rest[1..];
        }
        if parser.execute(command).is_none() {
            break;
        }
        // Further pairs of numbers after a move are lines.
        command = match command {
            'M' => 'L',
            'm' => 'l',
            // Nothing but a letter may follow.
            'Z' | 'z' => '?',
            same => same,
        };
    }
    parser.outline
}

struct Parser<'t> {
    rest: &'t str,
    at: Point,
    outline: Outline,
}

impl Parser<'_> {
    fn skip_separators(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', ',', '\n', '\t', '\r']);
    }

    fn number(&mut self) -> Option<f32> {
        self.skip_separators();
        let mut before = ' ';
        let mut has_point = false;
        let end = self.rest.find(|letter: char| {
            let goes_on = match letter {
                '0'..='9' | 'e' | 'E' => true,
                '+' | '-' => matches!(before, ' ' | 'e' | 'E'),
                '.' => !std::mem::replace(&mut has_point, true),
                _ => false,
            };
            before = letter;
            !goes_on
        });
        let (number, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        number.parse().ok()
    }

    /// Reads the numbers of one command and draws it.
    fn execute(&mut self, command: char) -> Option<()> {
        let origin = if command.is_ascii_lowercase() { self.at } else { Point::new(0.0, 0.0) };
        let to = match command.to_ascii_uppercase() {
            'M' | 'L' => Point::new(origin.x + self.number()?, origin.y + self.number()?),
            'H' => Point::new(origin.x + self.number()?, self.at.y),
            'V' => Point::new(self.at.x, origin.y + self.number()?),
            _ => self.at,
        };
        match command.to_ascii_uppercase() {
            'M' => {
                self.at = to;
                self.outline.push(Polyline { points: vec![to], is_closed: false });
            }
            'L' | 'H' | 'V' => self.line(to),
            'Z' => {
                let line = self.outline.last_mut()?;
                line.is_closed = true;
                self.at = *line.points.first()?;
            }
            _ => return None,
        }
        Some(())
    }

    fn line(&mut self, to: Point) {
        match self.outline.last_mut() {
            Some(line) if !line.is_closed => line.points.push(to),
            // Goes on where the last one was closed.
            _ => self.outline.push(Polyline { points: vec![self.at, to], is_closed: false }),
        }
        self.at = to;
    }
}

/// An outline with its curves cut into straight lines; its units are a font's.
#[derive(Default)]
pub(super) struct CurveBuilder {
    outline: Outline,
}

/// Straight lines of one curve of a glyph: a glyph is some 10 px high.
const CURVE_LINES: u32 = 6;

impl CurveBuilder {
    pub(super) fn finish(self) -> Outline {
        self.outline
    }

    fn push(&mut self, x: f32, y: f32) {
        if let Some(line) = self.outline.last_mut() {
            line.points.push(Point::new(x, y));
        }
    }

    fn last(&self) -> Point {
        let last = self.outline.last().and_then(|line| line.points.last());
        last.copied().unwrap_or(Point::new(0.0, 0.0))
    }
}

impl ttf_parser::OutlineBuilder for CurveBuilder {
    fn move_to(&mut self, x: f32, y: f32) {
        self.outline.push(Polyline { points: vec![Point::new(x, y)], is_closed: true });
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.push(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (from, control, to) = (self.last(), Point::new(x1, y1), Point::new(x, y));
        for step in 1..=CURVE_LINES {
            let part = step as f32 / CURVE_LINES as f32;
            let point = from.towards(control, part).towards(control.towards(to, part), part);
            self.push(point.x, point.y);
        }
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (from, to) = (self.last(), Point::new(x, y));
        let (first, second) = (Point::new(x1, y1), Point::new(x2, y2));
        for step in 1..=CURVE_LINES {
            let part = step as f32 / CURVE_LINES as f32;
            let middle = first.towards(second, part);
            let start = from.towards(first, part).towards(middle, part);
            let point = start.towards(middle.towards(second.towards(to, part), part), part);
            self.push(point.x, point.y);
        }
    }

    fn close(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(data: &str, expect: &[(&[(f32, f32)], bool)]) {
        let found: Vec<(Vec<(f32, f32)>, bool)> = parse(data)
            .into_iter()
            .map(|line| (line.points.iter().map(|p| (p.x, p.y)).collect(), line.is_closed))
            .collect();
        let expect: Vec<_> =
            expect.iter().map(|(points, closed)| (points.to_vec(), *closed)).collect();
        assert_eq!(found, expect, "{data}");
    }

    #[test]
    fn path_data_becomes_lines() {
        check("M1 2L3 4", &[(&[(1.0, 2.0), (3.0, 4.0)], false)]);
        check("M1,2 3,4", &[(&[(1.0, 2.0), (3.0, 4.0)], false)]);
        check("M1.5-2h.5v-1", &[(&[(1.5, -2.0), (2.0, -2.0), (2.0, -3.0)], false)]);
        check(
            "M0 0H2V2ZL1 1",
            &[(&[(0.0, 0.0), (2.0, 0.0), (2.0, 2.0)], true), (&[(0.0, 0.0), (1.0, 1.0)], false)],
        );
        check(
            "m1 1l1 1m1 1l1e1 0",
            &[(&[(1.0, 1.0), (2.0, 2.0)], false), (&[(3.0, 3.0), (13.0, 3.0)], false)],
        );
        check("M1 1C1 2 3 4 5 6L1 1", &[(&[(1.0, 1.0)], false)]);
        check("", &[]);
    }

    #[test]
    fn circles_lie_on_their_radius() {
        let circle = circle(Point::new(5.0, 5.0), 4.0);
        assert!(circle.points.len() > 20);
        for point in circle.points {
            assert!((point.minus(Point::new(5.0, 5.0)).length() - 4.0).abs() < 1e-4);
        }
        assert_eq!(rectangle(Point::new(0.0, 0.0), Point::new(2.0, 1.0), 0.0)[0].points.len(), 4);
    }
}
