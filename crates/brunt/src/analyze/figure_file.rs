//! A figure, or a sheet of figures, in a file: the format that its name asks for.

use cli::{Document, ExitCode, ExitError, OrExit, Output};
use report::{Figure, FigureSheet, Size};

/// Pictures of fixed size are this large.
const SIZE: Size = Size { width: 1200, height: 700 };

/// What a figure alone may be written as.
pub(crate) const PICTURES: [Document; 3] = [Document::Html, Document::Svg, Document::Png];

/// The bytes of a figure in this format; HTML for those that are not of pictures.
///
/// # Errors
/// The picture cannot be encoded.
pub(crate) fn encode_figure(figure: &Figure, kind: Document) -> Result<Vec<u8>, ExitError> {
    match kind {
        Document::Svg => Ok(figure.svg(SIZE).into_bytes()),
        Document::Png => figure.png(SIZE).or_exit(ExitCode::Failure),
        _ => Ok(figure.html().into_bytes()),
    }
}

/// The bytes of charts one below the other in this format; HTML for those that are not of pictures.
///
/// # Errors
/// The picture cannot be encoded.
pub(crate) fn encode_sheet(sheet: &FigureSheet, kind: Document) -> Result<Vec<u8>, ExitError> {
    match kind {
        Document::Svg => Ok(sheet.svg().into_bytes()),
        Document::Png => sheet.png().or_exit(ExitCode::Failure),
        _ => Ok(sheet.html().into_bytes()),
    }
}

/// The format that the ending of a file's name stands for; HTML without an ending.
///
/// # Errors
/// The ending stands for no format of pictures; the text names `flag`, which named the file.
pub(crate) fn figure_document(flag: &str, path: &str) -> Result<Document, String> {
    let found = Document::by_ending(flag, Some(path), &PICTURES)?;
    Ok(found.unwrap_or(Document::Html))
}

/// Writes a figure to a file.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write_figure(figure: &Figure, path: &str, kind: Document) -> Result<(), ExitError> {
    Output::named(Some(path)).write(&encode_figure(figure, kind)?)
}

/// Writes charts one below the other to a file.
///
/// # Errors
/// The picture cannot be encoded, or the file cannot be written.
pub(crate) fn write_sheet(
    sheet: &FigureSheet,
    path: &str,
    kind: Document,
) -> Result<(), ExitError> {
    Output::named(Some(path)).write(&encode_sheet(sheet, kind)?)
}
