//! A figure's three forms: an interactive page, an SVG, and a PNG. All draw the same data.

use super::model::{Figure, Size};
use super::{PngError, png, svg};
use crate::{Differences, page};

impl Figure {
    /// One self-contained page with the chart: zoom, reset, log scale and PNG export; light and dark; no network access.
    #[must_use]
    pub fn html(&self) -> String {
        page::figure(self, "")
    }

    /// The same page with the differences between the labelled results below the chart.
    #[must_use]
    pub fn html_with(&self, differences: &Differences) -> String {
        let mut tables = String::new();
        differences.tables(&mut tables);
        let mut figure = self.clone();
        figure.notes.extend(differences.caveats());
        page::figure(&figure, &tables)
    }

    /// The chart as SVG with axes, ticks and legend. The size is cut to [`Size::MIN`]..=[`Size::MAX`].
    #[must_use]
    pub fn svg(&self, size: Size) -> String {
        svg::draw(self, size.clamped())
    }

    /// The same picture as PNG, its text in DejaVu Sans, which the binary carries.
    ///
    /// # Errors
    /// The picture could not be drawn or encoded, which is a bug of ours.
    pub fn png(&self, size: Size) -> Result<Vec<u8>, PngError> {
        png::draw(&self.svg(size))
    }
}
