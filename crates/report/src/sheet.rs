//! `FigureSheet`: figures one below the other with the same horizontal axis, so that simultaneous events are aligned. It draws
//! nothing itself.

use std::fmt::Write as _;

use crate::figure::{FONT_FAMILY, Figure, PngError, Size, png};
use crate::{escape, page};

/// Figures one below the other.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureSheet {
    /// What they show; the page's title too.
    pub title: String,
    /// From top to bottom.
    pub figures: Vec<Figure>,
}

/// Pixels above the first figure.
const HEAD: u32 = 40;
/// The size of each figure.
const EACH: Size = Size { width: 1200, height: 300 };

impl FigureSheet {
    /// One self-contained page, each figure in a card across the page.
    #[must_use]
    pub fn html(&self) -> String {
        let mut body = format!("<main><header><h1>{}</h1></header>\n", escape::xml(&self.title));
        for number in 0..self.figures.len() {
            page::chart(&mut body, &self.figures[number], number);
        }
        body.push_str("</main>");
        page::shell(&self.title, &body, &self.figures)
    }

    /// All figures in one picture.
    #[must_use]
    pub fn svg(&self) -> String {
        let (width, height) = (EACH.width, HEAD + EACH.height * self.figures.len() as u32);
        let title = escape::xml(&self.title);
        let mut out = format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="{FONT_FAMILY}, system-ui, sans-serif">
<rect width="{width}" height="{height}" fill="#ffffff"/>
<text x="24" y="30" font-size="18" fill="#161b22">{title}</text>
"##
        );
        for (number, figure) in self.figures.iter().enumerate() {
            let down = HEAD + EACH.height * number as u32;
            // Writing to a String cannot fail.
            let _ =
                writeln!(out, "<g transform=\"translate(0 {down})\">\n{}</g>", figure.svg(EACH));
        }
        out + "</svg>\n"
    }

    /// The same picture as PNG.
    ///
    /// # Errors
    /// The picture could not be drawn or encoded, which is a bug of ours.
    pub fn png(&self) -> Result<Vec<u8>, PngError> {
        png(&self.svg())
    }
}
