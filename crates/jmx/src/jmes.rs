//! JMESPath, as JMeter's elements for it have it.

use jmespath::{Expression, JmespathError, Variable};
use serde_json::Value;

/// Why an expression has no value.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JmesError {
    /// The text is no JSON.
    #[error("{reason}")]
    NoJson {
        /// Why not.
        reason: serde_json::Error,
    },
    /// The expression is none, or does not fit the text.
    #[error("{reason}")]
    Expression {
        /// What is wrong.
        #[from]
        reason: JmespathError,
    },
    /// The expression is longer than it may be.
    #[error("the expression is longer than {LETTERS_MAX} letters")]
    TooLong,
}

/// Letters of an expression at most: its parser goes down by calls.
const LETTERS_MAX: usize = 4_000;

/// The value of an expression in a text.
pub(crate) fn search(expression: &str, text: &str) -> Result<Value, JmesError> {
    if expression.len() > LETTERS_MAX {
        return Err(JmesError::TooLong);
    }
    let compiled: Expression<'_> = jmespath::compile(expression)?;
    let document: Variable =
        serde_json::from_str(text).map_err(|reason| JmesError::NoJson { reason })?;
    let found = compiled.search(document)?;
    serde_json::to_value(&*found).map_err(|reason| JmesError::NoJson { reason })
}

/// A value as a text: texts without quotes, all else as JSON.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
