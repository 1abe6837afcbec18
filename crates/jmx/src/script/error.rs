//! Why a script does not run, and why one that ran has failed.

use super::library::full_name;
use super::value::Thrown;

/// What of a script is not understood, with its line from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptProblem {
    /// It is written otherwise than the language has it.
    #[error("line {line}: not understood at \"{near}\"")]
    Syntax {
        /// The line.
        line: u32,
        /// The word there.
        near: String,
    },
    /// A text or a comment has no end.
    #[error("line {line}: a {what} begins and does not end")]
    Open {
        /// The line on which it begins.
        line: u32,
        /// A text or a comment.
        what: &'static str,
    },
    /// A class that is not known.
    #[error("line {line}: the class {name} is not supported")]
    Class {
        /// The line.
        line: u32,
        /// Its name.
        name: String,
    },
    /// A class that reaches files, processes or networks.
    #[error(
        "line {line}: the class {name} is not supported: scripts reach no files, processes or networks"
    )]
    Reserved {
        /// The line.
        line: u32,
        /// Its name.
        name: String,
    },
    /// A part of the language that is not supported.
    #[error("line {line}: {what} are not supported")]
    Refused {
        /// The line.
        line: u32,
        /// The part.
        what: &'static str,
    },
    /// Brackets and blocks stand too deep in one another.
    #[error("line {line}: too deep: brackets and blocks may stand 40 deep in one another")]
    Deep {
        /// The line.
        line: u32,
    },
    /// It is too long.
    #[error("longer than 1 MiB")]
    Long,
}

/// A limit that a script has come to. A script cannot catch it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptLimit {
    /// It has done too many steps.
    #[error("it has gone on for 10 million steps")]
    Steps,
    /// It has made too many texts and lists.
    #[error("it has made more texts and lists than it may: 256 MiB, or half of -memory-limit")]
    Memory,
    /// Its calls stand too deep in one another.
    #[error("its calls stand too deep in one another")]
    Depth,
    /// The test has come to its end.
    #[error("the test has ended")]
    Time,
}

/// Why a script has failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// It has thrown an exception.
    #[error("{}", exception_text(thrown))]
    Thrown {
        /// The exception.
        thrown: Thrown,
        /// The line on which it was thrown; 0 where that is not known.
        line: u32,
    },
    /// It has come to a limit.
    #[error("the script was ended: {0}")]
    Limit(ScriptLimit),
}

impl ScriptError {
    /// The line on which it failed; 0 where that is not known.
    #[must_use]
    pub fn line(&self) -> u32 {
        match self {
            Self::Thrown { line, .. } => *line,
            Self::Limit(_) => 0,
        }
    }
}

/// An exception as Java writes it: `java.lang.RuntimeException: boom`.
fn exception_text(thrown: &Thrown) -> String {
    let name = full_name(thrown.class);
    match &thrown.message {
        Some(message) => format!("{name}: {message}"),
        None => name,
    }
}
