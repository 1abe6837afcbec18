//! `Problem`: what is wrong with a line of a targets file, and what was expected instead.

use std::fmt;

use super::grammar::{Grammar, LINE_MAX};
use super::url::{go_quoted, why_no_url};

/// Problems reported of one file; reading stops there.
pub const PROBLEMS_MAX: usize = 100;

/// What is wrong with a line of a targets file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line's number, from 1; 0 where no line is at fault.
    pub line: u64,
    /// The grammar that words it: Vegeta's has Vegeta's texts, without the line.
    pub grammar: Grammar,
    /// What is wrong.
    pub kind: ProblemKind,
}

/// What can be wrong. `found` is what stands there instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// No request line where one must be.
    Target {
        /// The line.
        found: String,
    },
    /// No method.
    Method {
        /// The first word.
        found: String,
    },
    /// No URL, or none that can be asked for.
    Url {
        /// The rest of the line.
        found: String,
    },
    /// No header field.
    Header {
        /// The line.
        found: String,
    },
    /// The body file could not be read.
    Body {
        /// Its path.
        path: String,
        /// Why.
        reason: String,
    },
    /// No `weight=` or `name=` behind `#brunt`, or no weight.
    Directive {
        /// The word.
        found: String,
    },
    /// The line is not JSON, or a key has not the type it must have.
    Json {
        /// What the parser says.
        reason: String,
    },
    /// The JSON target has no method.
    NoMethod,
    /// The JSON target has no URL.
    NoUrl,
    /// The line is not UTF-8.
    NotText,
    /// The line is longer than [`LINE_MAX`].
    LineTooLong,
    /// The input could not be read any further.
    Input {
        /// Why.
        reason: String,
    },
    /// There is no target at all.
    NoTargets,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.grammar {
            Grammar::Vegeta => self.kind.fmt_vegeta(f),
            Grammar::Native => {
                if self.line > 0 {
                    write!(f, "line {}: ", self.line)?;
                }
                self.kind.fmt_native(f)
            }
        }
    }
}

impl std::error::Error for Problem {}

impl ProblemKind {
    fn fmt_vegeta(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Target { found } => write!(f, "bad target: {found}"),
            Self::Method { found } => write!(f, "bad method: {found}"),
            Self::Url { found } => {
                let (quoted, why) = (go_quoted(found), why_no_url(found));
                write!(f, "bad URL: {found}, parse {quoted}: {why}")
            }
            Self::Header { found } => write!(f, "bad header: {found}"),
            Self::Body { reason, .. } => write!(f, "bad body: {reason}"),
            Self::Json { reason } => f.write_str(reason),
            Self::NoMethod => f.write_str("target: required method is missing"),
            Self::NoUrl => f.write_str("target: required url is missing"),
            _ => self.fmt_native(f),
        }
    }

    fn fmt_native(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Target { found } => write!(f, "expected \"METHOD URL\", found {found:?}"),
            Self::Method { found } => {
                write!(f, "expected a method in capitals, such as GET, found {found:?}")
            }
            Self::Url { found } => {
                write!(f, "expected a URL, such as http://host:port/path, found {found:?}")
            }
            Self::Header { found } => {
                write!(f, "expected \"Name: value\", \"@file\", or a blank line, found {found:?}")
            }
            Self::Body { path, reason } => write!(f, "reading the body {path:?}: {reason}"),
            Self::Directive { found } => {
                write!(f, "expected weight=N (1 or more) or name=TEXT, found {found:?}")
            }
            Self::Json { reason } => {
                write!(f, "expected a JSON object with method and url: {reason}")
            }
            Self::NoMethod => f.write_str("required method is missing"),
            Self::NoUrl => f.write_str("required url is missing"),
            Self::NotText => f.write_str("expected UTF-8 text"),
            Self::LineTooLong => {
                write!(f, "the line is too long (at most {LINE_MAX} bytes)")
            }
            Self::Input { reason } => write!(f, "reading the targets: {reason}"),
            Self::NoTargets => f.write_str("no targets to attack"),
        }
    }
}
