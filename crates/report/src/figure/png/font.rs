//! The font of every picture: the one that crate `dejavu` carries. No kerning, no ligatures, left to right.

use std::sync::LazyLock;

use ttf_parser::Face;

use super::geometry::{Point, Transform};
use super::path::{CurveBuilder, Outline, transformed};

/// The font of every picture.
pub(crate) const FONT_FAMILY: &str = "DejaVu Sans";

static FACE: LazyLock<Option<Face<'static>>> =
    LazyLock::new(|| Face::parse(dejavu::sans::regular(), 0).ok());

/// A line of text: its outline from the origin on, upright, and how far it reaches to the right, in pixels.
pub(super) fn line(text: &str, font_size: f32) -> (Outline, f32) {
    let Some(face) = FACE.as_ref() else { return (Vec::new(), 0.0) };
    let scale = font_size / f32::from(face.units_per_em());
    let (mut outline, mut x) = (Vec::new(), 0.0);
    for letter in text.chars() {
        // Glyph 0 is the box for a missing glyph.
        let glyph = face.glyph_index(letter).unwrap_or_default();
        let mut builder = CurveBuilder::default();
        face.outline_glyph(glyph, &mut builder);
        // A font's y grows upwards.
        let place = Transform::translate(x, 0.0).after(&Transform::scale(scale, -scale));
        outline.extend(transformed(&builder.finish(), &place));
        x += f32::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * scale;
    }
    (outline, x)
}

/// Where a text of some width begins so that its anchor lies at a place.
pub(super) fn start(at: Point, width: f32, anchor: &str) -> Point {
    let before = match anchor {
        "middle" => width / 2.0,
        "end" => width,
        _ => 0.0,
    };
    Point::new(at.x - before, at.y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_stand_side_by_side_on_the_line() {
        let (one, width) = line("H", 12.0);
        let (two, double) = line("HH", 12.0);
        assert!((double - 2.0 * width).abs() < 1e-3 && (8.0..10.0).contains(&width), "{width}");
        assert_eq!((one.len(), two.len()), (1, 2));
        let tops = one[0].points.iter().map(|point| point.y);
        assert!(tops.clone().fold(0.0, f32::min) < -8.0 && tops.fold(0.0, f32::max) <= 0.01);
        assert!(line(" ", 12.0).0.is_empty());
        assert!(!line("\u{10ffff}", 12.0).0.is_empty());
    }
}
