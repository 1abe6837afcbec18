//! `Chart`: what `plot` draws, and the documents that it can be written as.

use cli::{CommandError, Document, ExitCode, ExitError, OrExit};
use report::{BarSheet, Differences, Figure, FigureSheet};

use super::flags::PlotFlags;
use crate::analyze::figure_file::{encode_figure, encode_sheet};

/// A chart of one of four kinds.
pub(super) enum Chart {
    /// A chart.
    Figure(Figure),
    /// A chart, and the differences of what is on it.
    Compared(Figure, Differences),
    /// Charts of bars.
    Bars(BarSheet),
    /// Charts with one axis of time.
    Sheet(FigureSheet),
}

/// A chart, and the first damage of an input, which ended the reading of that input.
pub(super) type ChartAndDamage = (Chart, Option<ExitError>);

impl Chart {
    /// The document to write. Text and JSON are those of bars and differences; the command refuses them for other figures.
    pub(super) fn document(&self, kind: Document) -> Result<Vec<u8>, CommandError> {
        let text = match (self, kind) {
            (Self::Figure(figure), _) => return Ok(encode_figure(figure, kind)?),
            (Self::Compared(figure, differences), Document::Svg | Document::Png) => {
                let mut figure = figure.clone();
                figure.notes.extend(differences.notes());
                return Ok(encode_figure(&figure, kind)?);
            }
            (Self::Compared(_, differences), Document::Json) => differences.json(),
            (Self::Compared(_, differences), Document::Text) => differences.text(),
            (Self::Compared(_, differences), Document::Markdown) => fenced(&differences.text()),
            (Self::Compared(figure, differences), _) => figure.html_with(differences),
            (Self::Sheet(sheet), _) => return Ok(encode_sheet(sheet, kind)?),
            (Self::Bars(sheet), Document::Png) => {
                return Ok(sheet.png().or_exit(ExitCode::Failure)?);
            }
            (Self::Bars(sheet), Document::Svg) => sheet.svg(),
            (Self::Bars(sheet), Document::Json) => sheet.json(),
            (Self::Bars(sheet), Document::Text) => sheet.text(),
            (Self::Bars(sheet), Document::Markdown) => fenced(&sheet.text()),
            (Self::Bars(sheet), _) => sheet.html(),
        };
        Ok(text.into_bytes())
    }
}

/// Tables of text as Markdown: as they are, in a block of code.
fn fenced(text: &str) -> String {
    format!("```\n{}\n```\n", text.trim_end().replace('`', "'"))
}

/// The title given, else the default.
pub(super) fn title<'a>(flags: &'a PlotFlags, default: &'a str) -> &'a str {
    flags.title.as_deref().unwrap_or(default)
}
