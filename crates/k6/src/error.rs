//! `K6Error`: why a script is not run, in k6's words and with k6's exit code.

use cli::ExitCode;
use script::CompileError;

/// Why a script is not run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct K6Error {
    /// k6's code for it.
    pub(super) code: ExitCode,
    /// The message.
    pub(super) text: String,
}

impl K6Error {
    /// Options, thresholds or scenarios are wrong.
    pub(super) fn config(text: String) -> Self {
        Self { code: ExitCode::Config, text }
    }

    /// A flag that k6 does not have is wrong.
    pub(super) fn usage(text: String) -> Self {
        Self { code: ExitCode::Usage, text }
    }

    /// Anything else is wrong.
    pub(super) fn other(text: String) -> Self {
        Self { code: ExitCode::Other, text }
    }

    /// Prints the message where there is no log yet, and returns the code to end with.
    pub(super) fn print(self) -> ExitCode {
        let text = stdx::shown_error(&self.text);
        cli::eprint_line(&format!("level=error msg={text:?}"));
        self.code
    }
}

impl From<CompileError> for K6Error {
    fn from(error: CompileError) -> Self {
        let code = match error {
            CompileError::Options(_) => ExitCode::Other,
            CompileError::Thrown(_) | CompileError::Engine(_) => ExitCode::Script,
        };
        Self { code, text: error.to_string() }
    }
}
