//! A command that runs to its end within a limit, and why one does not.

use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use cli::reason;
use nix::sys::signal::Signal;

use crate::process::group::{FORCE_AT_INTERRUPT, POLL_INTERVAL, ProcessGroup, RunGuard};

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunError {
    /// Something failed; in a sentence.
    Failed(String),
    /// The user interrupted it.
    Interrupted,
}

/// Runs a command to its end.
///
/// # Errors
/// It cannot be started, takes longer than `limit`, or the user interrupts it twice.
pub(crate) fn run_to_end(
    command: &Command,
    output: &Path,
    limit: Duration,
    guard: &RunGuard,
) -> Result<ExitStatus, RunError> {
    let program = command.get_program().display().to_string();
    let group = ProcessGroup::start(command, (output, output), Signal::SIGTERM, guard);
    let mut group = group.map_err(|error| {
        RunError::Failed(format!("{program} cannot be started: {}", reason(&error)))
    })?;
    let begin = Instant::now();
    loop {
        if let Some(status) = group.ended() {
            return Ok(status);
        }
        if guard.interrupts.seen() >= FORCE_AT_INTERRUPT {
            return Err(RunError::Interrupted);
        }
        if begin.elapsed() >= limit {
            return Err(RunError::Failed(format!("{program} took longer than {limit:?}")));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}
