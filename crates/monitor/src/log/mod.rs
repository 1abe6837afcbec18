//! What servers' logs say, line by line: a parser for each kind.

use metrics::server::Row;
use thiserror::Error;

/// What makes rows of a log's lines.
pub trait Parser {
    /// Takes one line without its end; rows that are complete now go to `rows`. `now` is when it was read (Unix time, ns).
    fn line(&mut self, line: &[u8], now: i64, rows: &mut Vec<Row>);

    /// Says what the log left open. Called once, after the last line.
    fn finish(&mut self, _now: i64, _rows: &mut Vec<Row>) {}
}

/// Why there is no parser.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum KindError {
    /// No kind has this name.
    #[error("unknown kind of log \"{0}\"")]
    Unknown(String),
}

/// A parser of this kind, or of this pattern.
///
/// # Errors
/// There is no such kind.
pub fn parser(
    kind: &str,
    _pattern: Option<&str>,
    _host: &str,
) -> Result<Box<dyn Parser + Send>, KindError> {
    Err(KindError::Unknown(kind.to_owned()))
}
