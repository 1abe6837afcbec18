//! `SessionError`: why a session did not reach its end, or not with all of its outputs.

use std::io;

use cli::{ExitCode, ExitError};
use engine::StartError;
use results::WriteError;
use thiserror::Error;

use crate::start_error::with_flag;

/// Why an observer could not take rows.
pub type ObserverError = Box<dyn std::error::Error + Send + Sync>;

/// Why a session did not reach its end, or not with all of its outputs.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The engine refuses the settings, or the machine a thread. Nothing was sent.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The reader of a pipe went away before the last row.
    #[error("writing results to {name}: the reader closed the pipe{}", lost(*rows))]
    ReaderClosed {
        /// The name of the output.
        name: String,
        /// Rows that it was not given.
        rows: u64,
    },
    /// The reader of a pipe ended by the same interrupt that ended the run.
    #[error(
        "writing results to {name}: its reader ended before they did{} (Ctrl-C ends tee, but not tee -i)", lost(*rows)
    )]
    ReaderInterrupted {
        /// The name of the output.
        name: String,
        /// Rows that it was not given.
        rows: u64,
    },
    /// The results could not be written.
    #[error("{name}: {source}")]
    Results {
        /// The name of the results file.
        name: String,
        /// The writer's reason.
        source: WriteError,
    },
    /// The system refuses a thread for the monitor.
    #[error("-watch: starting a thread: {0}")]
    Monitor(#[source] io::Error),
    /// An observer failed; the run was aborted.
    #[error("{0}")]
    Observer(ObserverError),
}

/// How many rows a reader was not given, for the end of a sentence.
fn lost(rows: u64) -> String {
    if rows == 0 {
        return String::new();
    }
    format!(", which lost the last {}", stdx::counted(rows, "row"))
}

impl SessionError {
    /// The error of results that could not be written to the file of this name.
    pub(crate) fn results(source: WriteError, name: &str) -> Self {
        match source {
            WriteError::ClosedPipe => Self::ReaderClosed { name: name.to_owned(), rows: 0 },
            source => Self::Results { name: name.to_owned(), source },
        }
    }
}

impl From<SessionError> for ExitError {
    fn from(error: SessionError) -> Self {
        let code = match error {
            SessionError::Start(StartError::Worker(_)) => ExitCode::Failure,
            // What the command line names is wrong: a certificate, a proxy.
            SessionError::Start(_) => ExitCode::Input,
            _ => ExitCode::Failure,
        };
        Self::new(
            code,
            match &error {
                SessionError::Start(error) => with_flag(error),
                error => error.to_string(),
            },
        )
    }
}
