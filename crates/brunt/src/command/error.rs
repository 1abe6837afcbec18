//! `CommandError`: why a command did not run to its end.

use cli::FlagError;

use crate::exit_code::{ExitCode, Failed};

/// The message for a command line that asks for help where a load test is required.
pub(crate) const ASKS_FOR_HELP: &str = "asks for help or the version, and offers nothing";

/// Why a command did not run to its end.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// The flags are wrong, or the user asked for help or the version.
    Flags(FlagError),
    /// The command failed.
    Failed(Failed),
}

impl From<FlagError> for CommandError {
    fn from(error: FlagError) -> Self {
        Self::Flags(error)
    }
}

impl From<Failed> for CommandError {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

impl CommandError {
    /// The reason in one line, in brunt's own words.
    #[must_use]
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Flags(FlagError::Help | FlagError::Version) => ASKS_FOR_HELP.to_owned(),
            Self::Flags(error) => error.native(),
            Self::Failed(failed) => failed.to_string(),
        }
    }
}

/// The error of a wrong operand, or of flags that do not go together.
#[must_use]
pub(crate) fn usage_error(text: impl Into<String>) -> CommandError {
    CommandError::Failed(Failed { code: ExitCode::Usage, error: anyhow::Error::msg(text.into()) })
}
