//! `Canvas`: opaque pixels, and shapes filled on them by the non-zero rule with smooth edges.

use super::geometry::Point;
use super::path::Polyline;

/// Rows of samples in one row of pixels. Across, coverage is exact.
const SAMPLES: usize = 16;

/// A colour, opaque.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rgb(pub(super) [u8; 3]);

impl Rgb {
    pub(super) const BLACK: Self = Self([0; 3]);
    pub(super) const WHITE: Self = Self([255; 3]);
}

/// A rectangle that shapes are cut to, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Clip {
    pub(super) from: Point,
    pub(super) to: Point,
}

impl Clip {
    pub(super) fn intersection(self, other: Self) -> Self {
        Self {
            from: Point::new(self.from.x.max(other.from.x), self.from.y.max(other.from.y)),
            to: Point::new(self.to.x.min(other.to.x), self.to.y.min(other.to.y)),
        }
    }
}

/// A picture in memory, white at first.
pub(super) struct Canvas {
    width: usize,
    height: usize,
    /// Red, green and blue, row by row.
    pixels: Vec<u8>,
    /// How much of each pixel of the current row is covered, in samples.
    coverage: Vec<f32>,
}

/// One side of a polygon, from its upper to its lower end; rows of samples.
struct Edge {
    /// The first row with a middle that it crosses, and the row after the last.
    rows: (usize, usize),
    /// Where it crosses its first row, in pixels.
    x: f32,
    /// The change of x per row.
    slope: f32,
    /// 1 for an edge downwards, -1 for one upwards.
    winding: i32,
}

impl Canvas {
    pub(super) fn new(width: u32, height: u32) -> Self {
        let (width, height) = (width as usize, height as usize);
        Self { width, height, pixels: vec![255; width * height * 3], coverage: vec![0.0; width] }
    }

    pub(super) fn size(&self) -> (u32, u32) {
        (self.width as u32, self.height as u32)
    }

    /// Red, green and blue of each pixel, row by row.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.pixels.chunks_exact(self.width * 3)
    }

    /// The whole of it.
    pub(super) fn bounds(&self) -> Clip {
        let to = Point::new(self.width as f32, self.height as f32);
        Clip { from: Point::new(0.0, 0.0), to }
    }

    /// Fills polygons, each taken as closed, with a colour of an opacity from 0 to 1.
    pub(super) fn fill(&mut self, outline: &[Polyline], colour: Rgb, opacity: f32, clip: Clip) {
        let clip = clip.intersection(self.bounds());
        let mut edges = edges(outline, clip);
        edges.sort_unstable_by_key(|edge| edge.rows.0);
        let Some(first) = edges.first() else { return };
        let last = edges.iter().map(|edge| edge.rows.1).max().unwrap_or(0);
        let mut waiting = edges.iter().peekable();
        let mut active: Vec<&Edge> = Vec::new();
        let mut crossings: Vec<(f32, i32)> = Vec::new();
        for row in first.rows.0..last {
            while let Some(edge) = waiting.next_if(|edge| edge.rows.0 <= row) {
                active.push(edge);
            }
            active.retain(|edge| edge.rows.1 > row);
            crossings.clear();
            crossings.extend(
                active
                    .iter()
                    .map(|edge| (edge.x + (row - edge.rows.0) as f32 * edge.slope, edge.winding)),
            );
            crossings.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            self.cover(&crossings, clip);
            if row % SAMPLES == SAMPLES - 1 || row + 1 == last {
                self.blend(row / SAMPLES, colour, opacity);
            }
        }
    }

    /// Adds what one row of samples covers: from where the winding number leaves zero to where it comes back.
    fn cover(&mut self, crossings: &[(f32, i32)], clip: Clip) {
        let (mut winding, mut start) = (0, 0.0);
        for (x, by) in crossings {
            if winding == 0 {
                start = *x;
            }
            winding += by;
            if winding == 0 {
                let (from, to) = (start.max(clip.from.x), x.min(clip.to.x));
                if from < to {
                    self.cover_span(from, to);
                }
            }
        }
    }

    /// Adds the part of one row of samples between two places within the picture.
    fn cover_span(&mut self, from: f32, to: f32) {
        let (first, last) = (from as usize, (to as usize).min(self.width - 1));
        if first >= last {
            self.coverage[last] += to - from;
            return;
        }
        self.coverage[first] += (first + 1) as f32 - from;
        for pixel in &mut self.coverage[first + 1..last] {
            *pixel += 1.0;
        }
        self.coverage[last] += to - last as f32;
    }

    /// Colours a row of pixels by its coverage, which is zero then.
    fn blend(&mut self, row: usize, colour: Rgb, opacity: f32) {
        let start = row * self.width * 3;
        let pixels = self.pixels[start..].chunks_exact_mut(3);
        for (pixel, covered) in pixels.zip(&mut self.coverage) {
            if *covered == 0.0 {
                continue;
            }
            let part = (*covered / SAMPLES as f32).min(1.0) * opacity;
            for (channel, ink) in pixel.iter_mut().zip(colour.0) {
                let (ground, ink) = (f32::from(*channel), f32::from(ink));
                *channel = (ground + (ink - ground) * part).round() as u8;
            }
            *covered = 0.0;
        }
    }
}

/// The edges that cross a row of samples within the clip.
fn edges(outline: &[Polyline], clip: Clip) -> Vec<Edge> {
    let samples = SAMPLES as f32;
    // The first row with its middle at or below a height.
    let row = |y: f32| (y.clamp(clip.from.y, clip.to.y) * samples - 0.5).ceil().max(0.0) as usize;
    let mut edges = Vec::new();
    for line in outline {
        let points = &line.points;
        for (at, from) in points.iter().enumerate() {
            let to = &points[(at + 1) % points.len()];
            let finite = [from.x, from.y, to.x, to.y].iter().all(|number| number.is_finite());
            let (upper, lower, winding) =
                if from.y < to.y { (from, to, 1) } else { (to, from, -1) };
            let rows = (row(upper.y), row(lower.y));
            if !finite || rows.0 >= rows.1 {
                continue;
            }
            let slope = (lower.x - upper.x) / ((lower.y - upper.y) * samples);
            let x = upper.x + (rows.0 as f32 + 0.5 - upper.y * samples) * slope;
            edges.push(Edge { rows, x, slope, winding });
        }
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::png::path::{circle, parse};

    fn filled(data: &str, opacity: f32) -> Vec<Vec<u8>> {
        let mut canvas = Canvas::new(4, 3);
        canvas.fill(&parse(data), Rgb::BLACK, opacity, canvas.bounds());
        canvas.rows().map(|row| row.iter().step_by(3).copied().collect()).collect()
    }

    #[test]
    fn pixels_are_as_dark_as_they_are_covered() {
        let full = [vec![255; 4], vec![255, 0, 0, 255], vec![255; 4]];
        assert_eq!(filled("M1 1H3V2H1Z", 1.0), full);
        let half = [vec![255; 4], vec![255, 128, 0, 128], vec![255; 4]];
        assert_eq!(filled("M1.5 1H3.5V2H1.5Z", 1.0), half);
        let low = [vec![255, 128, 255, 255], vec![255, 128, 255, 255], vec![255; 4]];
        assert_eq!(filled("M1 .5H2V1.5H1Z", 1.0), low);
        assert_eq!(filled("M-9-9H9V9H-9Z", 0.2), [vec![204; 4], vec![204; 4], vec![204; 4]]);
        assert_eq!(filled("M0 0H4", 1.0), [vec![255; 4], vec![255; 4], vec![255; 4]]);
    }

    #[test]
    fn shapes_that_overlap_are_one_and_a_hole_stays() {
        let full = [vec![255; 4], vec![0, 0, 0, 255], vec![255; 4]];
        assert_eq!(filled("M0 1H2V2H0ZM1 1H3V2H1Z", 1.0), full);
        let hole = [vec![0; 4], vec![0, 255, 255, 0], vec![0; 4]];
        assert_eq!(filled("M0 0H4V3H0ZM1 1V2H3V1Z", 1.0), hole);
    }

    #[test]
    fn a_shape_is_cut_to_the_clip() {
        let mut canvas = Canvas::new(3, 3);
        let clip = Clip { from: Point::new(1.0, 1.0), to: Point::new(2.0, 9.0) };
        canvas.fill(&[circle(Point::new(1.5, 1.5), 9.0)], Rgb::BLACK, 1.0, clip);
        let rows: Vec<Vec<u8>> =
            canvas.rows().map(|row| row.iter().step_by(3).copied().collect()).collect();
        assert_eq!(rows, [vec![255, 255, 255], vec![255, 0, 255], vec![255, 0, 255]]);
    }
}
