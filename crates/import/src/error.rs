//! Why an input cannot be imported at all, with its place.

use std::fmt;

use crate::openapi::DocumentError;
use crate::{DEPTH_MAX, INPUT_BYTES_MAX, Kind, REQUESTS_MAX};

/// A place in an input: its name, and the line, which counts from 1; 0 is the input as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The input's name, as given.
    pub name: Box<str>,
    /// The line, from 1; 0: no line in particular.
    pub line: usize,
}

impl Place {
    /// The line `line` of the input `name`.
    #[must_use]
    pub fn new(name: &str, line: usize) -> Self {
        Self { name: name.into(), line }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = stdx::terminal_line(&self.name);
        if self.line == 0 { write!(out, "{name}") } else { write!(out, "{name}:{}", self.line) }
    }
}

/// Why nothing of an input is imported. All but `NotBuilt` are at the input.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The input is larger than the bound.
    #[error("{name}: {bytes} bytes are more than the {INPUT_BYTES_MAX} that an input may have")]
    TooLarge {
        /// The input.
        name: Box<str>,
        /// Its size.
        bytes: usize,
    },
    /// The input is nested deeper than the bound.
    #[error("{place}: nested deeper than {DEPTH_MAX} levels")]
    TooDeep {
        /// Where.
        place: Place,
    },
    /// There is no request in the input.
    #[error("{name}: no request is found in it, read as {kind}")]
    NoRequests {
        /// The input.
        name: Box<str>,
        /// As what it was read.
        kind: Kind,
    },
    /// More requests than a script may hold.
    #[error("{name}: {count} requests are more than the {REQUESTS_MAX} that a script may hold")]
    TooManyRequests {
        /// The input.
        name: Box<str>,
        /// How many.
        count: usize,
    },
    /// A quote that is opened and not closed.
    #[error("{place}: the quote {quote} is not closed")]
    UnclosedQuote {
        /// Where it opens.
        place: Place,
        /// The quote.
        quote: char,
    },
    /// The input is not the JSON that its kind is written in.
    #[error("{place}: not JSON, {source}")]
    NotJson {
        /// Where.
        place: Place,
        /// Why.
        source: serde_json::Error,
    },
    /// A part that the kind demands is missing.
    #[error("{place}: no `{field}`, so it is no {kind} file")]
    Missing {
        /// Where.
        place: Place,
        /// The missing field.
        field: &'static str,
        /// The kind it was read as.
        kind: Kind,
    },
    /// The input is neither JSON nor YAML of an OpenAPI document.
    #[error("{place}: {source}")]
    NotADocument {
        /// Where.
        place: Place,
        /// Why.
        source: DocumentError,
    },
    /// The kind is not understood yet.
    #[error("{kind} files are not understood yet")]
    NotBuilt {
        /// The kind.
        kind: Kind,
    },
}
