//! JsonPath in Jayway's dialect, as JMeter's elements have it.
//!
//! ```text
//!   "$.a[?(@.b > 1)]" ── parse ─▶ Path { steps } ── walk(Value) ─▶ values
//! ```

mod filter;
mod function;
mod parse;
mod walk;
mod write;

use serde_json::Value;

use filter::Condition;
pub(crate) use write::{decimal, plain};

/// A path through JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Path {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    /// `.a`, `['a']`, `['a','b']`.
    Names(Vec<String>),
    /// `*`.
    All,
    /// `[0]`, `[0,2]`; those below 0 count from the end.
    Indices(Vec<i64>),
    /// `[1:3]`.
    Slice(Option<i64>, Option<i64>),
    /// `[?(...)]`.
    Filter(Condition),
    /// `..`: the next step at any depth.
    Below,
    /// `.length()`.
    Function(function::Function),
}

/// Why a path gives nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum PathError {
    /// Jayway throws `PathNotFoundException`: JMeter takes it for no match.
    #[error("{0}")]
    NotFound(String),
    /// It is no path.
    #[error("{reason} at position {at}")]
    Malformed {
        /// What is wrong.
        reason: &'static str,
        /// At which letter.
        at: usize,
    },
    /// The text is no JSON.
    #[error("{reason}")]
    NoJson {
        /// Why not.
        reason: String,
    },
    /// It looks at more values than it may.
    #[error("more than {VISITED_MAX} values were visited")]
    TooLong,
    /// The test has come to its end meanwhile.
    #[error("the test has ended")]
    Ended,
}

/// Values that one path looks at, at most.
const VISITED_MAX: usize = 500_000;

/// A text as JSON.
pub(crate) fn parse_json(text: &str) -> Result<Value, PathError> {
    serde_json::from_str(text).map_err(|error| PathError::NoJson { reason: error.to_string() })
}

impl Path {
    /// Reads a path; one that does not begin with `$` begins there.
    pub(crate) fn parse(written: &str) -> Result<Self, PathError> {
        let written = written.trim();
        let whole = match written.starts_with(['$', '@']) {
            true => written.to_owned(),
            false => format!("$.{written}"),
        };
        parse::Parser::new(&whole).whole()
    }

    /// Whether it leads to one value at most.
    pub(crate) fn is_definite(&self) -> bool {
        is_definite(&self.steps)
    }

    /// The values it leads to. A definite path that leads nowhere is an error.
    pub(crate) fn find(&self, root: &Value) -> Result<Vec<Value>, PathError> {
        walk::find(self, root)
    }
}

fn is_definite(steps: &[Step]) -> bool {
    steps.iter().all(|step| match step {
        Step::Names(list) => list.len() == 1,
        Step::Indices(list) => list.len() == 1,
        Step::Function(_) => true,
        Step::All | Step::Slice(..) | Step::Filter(_) | Step::Below => false,
    })
}

#[cfg(test)]
mod tests;
