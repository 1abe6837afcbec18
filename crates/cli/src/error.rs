//! `ExitError`: an error with its exit code; `CommandError`: why a command did not run to its end.

use std::fmt;

use crate::exit_code::ExitCode;
use crate::parse::FlagError;

/// The error that ended a command, and its exit code.
#[derive(Debug)]
pub struct ExitError {
    /// The code to end with.
    pub code: ExitCode,
    /// The message, in one line.
    pub error: anyhow::Error,
}

impl ExitError {
    /// An error of this text.
    #[must_use]
    pub fn new(code: ExitCode, text: impl Into<String>) -> Self {
        Self { code, error: anyhow::Error::msg(text.into()) }
    }
}

impl fmt::Display for ExitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&stdx::shown_error(&format!("{:#}", self.error)))
    }
}

impl From<anyhow::Error> for ExitError {
    fn from(error: anyhow::Error) -> Self {
        Self { code: ExitCode::Failure, error }
    }
}

/// Attaches an exit code to an error.
pub trait OrExit<T> {
    /// The value, or the error with this exit code.
    ///
    /// # Errors
    /// The value is an error.
    fn or_exit(self, code: ExitCode) -> Result<T, ExitError>;
}

impl<T, E: Into<anyhow::Error>> OrExit<T> for Result<T, E> {
    fn or_exit(self, code: ExitCode) -> Result<T, ExitError> {
        self.map_err(|error| ExitError { code, error: error.into() })
    }
}

/// The end of a command.
pub type CommandResult = Result<ExitCode, ExitError>;

/// The message for a command line that asks for help where a load test is required.
pub const ASKS_FOR_HELP: &str = "asks for help or the version, and offers nothing";

/// Why a command did not run to its end.
#[derive(Debug)]
pub enum CommandError {
    /// The flags are wrong, or the user asked for help or the version.
    Flags(FlagError),
    /// The command failed.
    Failed(ExitError),
}

impl From<FlagError> for CommandError {
    fn from(error: FlagError) -> Self {
        Self::Flags(error)
    }
}

impl From<ExitError> for CommandError {
    fn from(failed: ExitError) -> Self {
        Self::Failed(failed)
    }
}

impl CommandError {
    /// The reason in one line, in brunt's own words.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::Flags(FlagError::Help | FlagError::Version) => ASKS_FOR_HELP.to_owned(),
            Self::Flags(error) => error.native(),
            Self::Failed(failed) => failed.to_string(),
        }
    }
}

/// The error of a wrong operand, or of flags that do not go together.
#[must_use]
pub fn usage_error(text: impl Into<String>) -> CommandError {
    CommandError::Failed(ExitError::new(ExitCode::Usage, text))
}
