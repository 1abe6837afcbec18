//! `Exception`: what a script threw, with its stack.

use std::fmt;

use rquickjs::{CaughtError, Ctx, Error, Value};

use crate::inspect::inspect;

/// What a script threw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// Name and message, `TypeError: not a function`.
    pub text: String,
    /// Where, a line a frame, innermost first: `at name (file:line:column)`.
    pub stack: String,
}

impl Exception {
    /// Takes the pending exception, or tells of an error of ours.
    pub(crate) fn of(ctx: &Ctx<'_>, error: Error) -> Self {
        match CaughtError::from_error(ctx, error) {
            CaughtError::Exception(exception) => Self::of_value(exception.as_object().as_value()),
            CaughtError::Value(value) => Self::of_value(&value),
            CaughtError::Error(error) => Self { text: error.to_string(), stack: String::new() },
        }
    }

    /// What a rejected promise holds, or a `throw` threw.
    pub(crate) fn of_value(value: &Value<'_>) -> Self {
        let Some(object) = value.as_object().filter(|object| object.is_error()) else {
            return Self { text: inspect(value), stack: String::new() };
        };
        let field = |name: &str| object.get::<_, Option<String>>(name).ok().flatten();
        let (name, message) =
            (field("name").unwrap_or_default(), field("message").unwrap_or_default());
        let text = match (name.is_empty(), message.is_empty()) {
            (true, _) => message,
            (false, true) => name,
            (false, false) => format!("{name}: {message}"),
        };
        let stack = field("stack").unwrap_or_default();
        let lines: Vec<&str> =
            stack.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        Self { text, stack: lines.join("\n") }
    }
}

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        self.stack.lines().try_for_each(|line| write!(f, "\n\t{line}"))
    }
}
