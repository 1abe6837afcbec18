//! What ends the evaluation of a part of a script.

use crate::script::error::{ScriptError, ScriptLimit};
use crate::script::value::Thrown;

/// What ends an evaluation.
#[derive(Debug)]
pub(crate) enum Fault {
    /// An exception, and the line on which it was thrown; 0 until that is known.
    Thrown(Box<Thrown>, u32),
    /// A limit, which no script catches.
    Limit(ScriptLimit),
}

/// What an evaluation comes to.
pub(crate) type Outcome<T> = Result<T, Fault>;

/// An exception of a class.
pub(crate) fn throw(class: &'static str, message: impl Into<String>) -> Fault {
    let message = Some(message.into().into());
    Fault::Thrown(Box::new(Thrown { class, message }), 0)
}

impl Fault {
    /// The same on a line, where it has none yet.
    pub(super) fn on_line(self, line: u32) -> Self {
        match self {
            Self::Thrown(thrown, 0) => Self::Thrown(thrown, line),
            other => other,
        }
    }

    pub(super) fn into_error(self) -> ScriptError {
        match self {
            Self::Thrown(thrown, line) => ScriptError::Thrown { thrown: *thrown, line },
            Self::Limit(limit) => ScriptError::Limit(limit),
        }
    }
}
