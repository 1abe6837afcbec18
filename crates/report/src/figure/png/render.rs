//! An SVG drawn on a canvas, element by element in the order of the text.

use std::collections::HashMap;
use std::io;

use thiserror::Error;

use super::canvas::{Canvas, Clip};
use super::geometry::{Point, Transform};
use super::markup::{Element, Event, Events};
use super::path::{Outline, Polyline, circle, parse, rectangle, transformed};
use super::style::Style;
use super::{encode, font, stroke};

/// Why a picture could not be drawn: a mistake in this crate, since the SVG comes from here.
#[derive(Debug, Error)]
pub enum PngError {
    /// The SVG is not well formed.
    #[error("drawing the picture: it is not well formed {rest} bytes before its end")]
    Svg {
        /// Bytes of it that were not read.
        rest: usize,
    },
    /// The picture has no pixels, or too many.
    #[error("drawing the picture: impossible size {width}x{height}")]
    Size {
        /// Pixels across.
        width: f32,
        /// Pixels down.
        height: f32,
    },
    /// The pixels could not be encoded.
    #[error("encoding the picture: {0}")]
    Encode(#[from] io::Error),
}

/// Pixels of one side, at most.
const SIDE_MAX: f32 = 32_768.0;
/// Pixels of a picture, at most: 768 MB.
const PIXELS_MAX: f32 = 256.0 * 1024.0 * 1024.0;

/// The PNG of an SVG that this crate wrote.
///
/// # Errors
/// The SVG is not well formed or has an impossible size.
pub(crate) fn draw(svg: &str) -> Result<Vec<u8>, PngError> {
    let mut events = Events::new(svg);
    let mut renderer = None;
    for event in events.by_ref() {
        match (event, &mut renderer) {
            (Event::Open(element), None) => renderer = Some(Renderer::new(&element)?),
            (Event::Open(element), Some(renderer)) => renderer.open(&element),
            (Event::Close, Some(renderer)) => renderer.close(),
            (Event::Text(text), Some(renderer)) => renderer.text(&text),
            _ => {}
        }
    }
    let rest = events.rest().trim().len();
    match renderer {
        Some(renderer) if rest == 0 => Ok(encode::encode(&renderer.canvas)?),
        _ => Err(PngError::Svg { rest }),
    }
}

/// Elements with content that is not drawn.
const NOT_DRAWN: [&str; 5] = ["style", "script", "title", "desc", "metadata"];

/// What an element is, as far as its content matters.
enum Open {
    /// A group or a shape; its content is drawn.
    Drawn,
    NotDrawn,
    /// A text that begins at a place.
    Text(Point),
    /// A clip path of this id: its rectangle is not drawn.
    ClipPath(String),
}

struct Renderer {
    canvas: Canvas,
    /// The open elements, the outermost first, with their styles.
    open: Vec<(Open, Style)>,
    /// Rectangles by the ids of their clip paths.
    clips: HashMap<String, Clip>,
}

impl Renderer {
    fn new(root: &Element<'_>) -> Result<Self, PngError> {
        let (width, height) = (root.number("width"), root.number("height"));
        let sides = 1.0..=SIDE_MAX;
        if !sides.contains(&width) || !sides.contains(&height) || width * height > PIXELS_MAX {
            return Err(PngError::Size { width, height });
        }
        let canvas = Canvas::new(width as u32, height as u32);
        let style = Style::new(canvas.bounds()).of(root);
        Ok(Self { canvas, open: vec![(Open::Drawn, style)], clips: HashMap::new() })
    }

    fn open(&mut self, element: &Element<'_>) {
        let Some((parent, around)) = self.open.last() else { return };
        let mut style = around.of(element);
        if let Some(clip) = element.get("clip-path").and_then(|value| self.clip(value)) {
            style.clip = style.clip.intersection(transformed_clip(clip, &style));
        }
        let open = match (parent, element.name) {
            (Open::NotDrawn, _) => Open::NotDrawn,
            (Open::ClipPath(id), "rect") => {
                let from = Point::new(element.number("x"), element.number("y"));
                let size = Point::new(element.number("width"), element.number("height"));
                self.clips.insert(id.clone(), Clip { from, to: from.plus(size) });
                Open::NotDrawn
            }
            (_, "clipPath") => Open::ClipPath(element.get("id").unwrap_or_default().to_owned()),
            (_, name) if NOT_DRAWN.contains(&name) => Open::NotDrawn,
            (_, "text") => Open::Text(Point::new(element.number("x"), element.number("y"))),
            _ => {
                self.paint(&shape(element), &style);
                Open::Drawn
            }
        };
        self.open.push((open, style));
    }

    fn close(&mut self) {
        self.open.pop();
    }

    /// The rectangle that `url(#id)` names.
    fn clip(&self, value: &str) -> Option<Clip> {
        let id = value.trim().strip_prefix("url(#")?.strip_suffix(')')?;
        self.clips.get(id).copied()
    }

    fn text(&mut self, text: &str) {
        let Some((Open::Text(at), style)) = self.open.last() else { return };
        let style = style.clone();
        let (outline, width) = font::line(text, style.font_size);
        let start = font::start(*at, width, &style.text_anchor);
        let place = Transform::translate(start.x, start.y);
        self.paint(&transformed(&outline, &place), &style);
    }

    /// Fills and strokes an outline as its style says.
    fn paint(&mut self, outline: &[Polyline], style: &Style) {
        if !style.is_visible {
            return;
        }
        if let Some(colour) = style.fill {
            let opacity = style.fill_opacity * style.opacity;
            let area = transformed(outline, &style.transform);
            self.canvas.fill(&area, colour, opacity, style.clip);
        }
        if let Some(colour) = style.stroke {
            let opacity = style.stroke_opacity * style.opacity;
            let area = transformed(&stroke::stroke(outline, &style.pen), &style.transform);
            self.canvas.fill(&area, colour, opacity, style.clip);
        }
    }
}

/// A clip's rectangle in pixels of the picture; exact unless it is turned by other than right angles.
fn transformed_clip(clip: Clip, style: &Style) -> Clip {
    let (one, other) = (style.transform.apply(clip.from), style.transform.apply(clip.to));
    Clip {
        from: Point::new(one.x.min(other.x), one.y.min(other.y)),
        to: Point::new(one.x.max(other.x), one.y.max(other.y)),
    }
}

/// The outline of a shape in its own coordinates; none for a group.
fn shape(element: &Element<'_>) -> Outline {
    match element.name {
        "path" => parse(element.get("d").unwrap_or_default()),
        "rect" => {
            let from = Point::new(element.number("x"), element.number("y"));
            let size = Point::new(element.number("width"), element.number("height"));
            rectangle(from, size, element.number("rx"))
        }
        "circle" => {
            let centre = Point::new(element.number("cx"), element.number("cy"));
            vec![circle(centre, element.number("r"))]
        }
        "line" => {
            let from = Point::new(element.number("x1"), element.number("y1"));
            let to = Point::new(element.number("x2"), element.number("y2"));
            vec![Polyline { points: vec![from, to], is_closed: false }]
        }
        name @ ("polyline" | "polygon") => {
            let mut outline = parse(element.get("points").unwrap_or_default());
            for line in &mut outline {
                line.is_closed = name == "polygon";
            }
            outline
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The darkness of the pixels, as digits: 0 is white, 9 black.
    fn check(content: &str, expect: &[&str]) {
        let svg = format!("<svg width=\"6\" height=\"3\">{content}</svg>");
        let mut renderer = None;
        for event in Events::new(&svg) {
            match (event, &mut renderer) {
                (Event::Open(element), None) => renderer = Renderer::new(&element).ok(),
                (Event::Open(element), Some(renderer)) => renderer.open(&element),
                (Event::Close, Some(renderer)) => renderer.close(),
                (Event::Text(text), Some(renderer)) => renderer.text(&text),
                _ => {}
            }
        }
        let renderer = renderer.unwrap();
        let rows = renderer.canvas.rows().map(|row| {
            let levels = row.iter().step_by(3).map(|level| (255 - u32::from(*level)) * 9 / 255);
            levels.map(|level| char::from_digit(level, 10).unwrap()).collect::<String>()
        });
        assert_eq!(rows.collect::<Vec<_>>(), expect, "{content}");
    }

    #[test]
    fn shapes_are_filled_and_stroked() {
        check(r#"<rect x="1" y="1" width="4" height="1"/>"#, &["000000", "099990", "000000"]);
        let line = r##"<g stroke="#000" stroke-width="2"><path d="M1 1H5" fill="none"/></g>"##;
        check(line, &["099990", "099990", "000000"]);
        let dashed =
            r##"<line x1="0" y1="1.5" x2="6" y2="1.5" stroke="#000" stroke-dasharray="2 1"/>"##;
        check(dashed, &["000000", "990990", "000000"]);
        check(
            r#"<g transform="translate(2 0)"><polygon points="0,0 2,0 2,3 0,3" fill-opacity="0.5"/></g>"#,
            &["004400", "004400", "004400"],
        );
    }

    #[test]
    fn a_clip_path_cuts_and_unknown_elements_draw_nothing() {
        check(
            r##"<defs><clipPath id="c"><rect x="2" y="0" width="2" height="2"/></clipPath></defs><g clip-path="url(#c)"><rect width="6" height="3"/></g>"##,
            &["009900", "009900", "000000"],
        );
        check("<style>rect{fill:red}</style><title>t</title><foo/>", &["000000"; 3]);
        check(r#"<rect width="6" height="3" display="none"/>"#, &["000000"; 3]);
    }

    #[test]
    fn text_leaves_ink_where_its_anchor_says() {
        check(
            r#"<text x="3" y="3" font-size="4" text-anchor="end">|</text>"#,
            &["003000", "003000", "003000"],
        );
    }

    #[test]
    fn a_size_or_a_text_that_cannot_be_is_refused() {
        for wrong in [
            "",
            "<svg width=\"0\" height=\"3\"></svg>",
            "<svg width=\"9\" height=\"9\"><g a=b></svg>",
            "<svg width=\"9e9\" height=\"3\"/>",
        ] {
            assert!(draw(wrong).is_err(), "{wrong}");
        }
    }
}
