//! The load generators of one run: processes of brunt itself, each with its own command line and files.

use std::process::Command;

use cli::reason;
use nix::sys::signal::Signal;

use super::command::RunError;
use super::environment::{RunEnvironment, generator_output};
use super::targets_file::with_filled_targets;
use crate::OWN_PROGRAM;
use crate::file::Variant;
use crate::process::group::{ProcessGroup, RunGuard};

/// Stands for the exit code of a process that a signal ended.
pub(super) const KILLED: i32 = -1;

/// What the load generators of a run are started for: the names of their output files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Their results are thrown away.
    WarmUp,
    /// Their results count.
    Measurement,
}

impl Purpose {
    fn file_name(self) -> &'static str {
        match self {
            Self::WarmUp => "warm-up",
            Self::Measurement => "generator",
        }
    }
}

/// Starts the load generators of a variant; `words` are the arguments of the one with this number, from 1.
///
/// # Errors
/// One of them cannot be started.
pub(super) fn start(
    (variant, environment): (&Variant, &RunEnvironment),
    guard: &RunGuard,
    purpose: Purpose,
    words: impl Fn(usize) -> Vec<String>,
) -> Result<Vec<ProcessGroup>, RunError> {
    let mut groups = Vec::new();
    let mut lines = String::new();
    for number in 1..=variant.generators {
        let values = environment.values.clone().with("generator", number.to_string());
        let environment = RunEnvironment { values, ..environment.clone() };
        let words = with_filled_targets(&environment, words(number), number)?;
        let line = [&variant.prefix[..], &own_words(), &words].concat();
        let filled: Vec<String> = environment.values.fill_all(&line);
        lines.push_str(&store::without_secrets(&filled).join(" "));
        lines.push('\n');
        let output = generator_output(&environment, purpose.file_name(), number);
        let errors = output.with_extension("err");
        let command = own_command(&environment, line, variant.prefix.len());
        let group = ProcessGroup::start(&command, (&output, &errors), Signal::SIGINT, guard);
        let group = group.map_err(|error| {
            let reason = reason(&error);
            RunError::Failed(format!("{} cannot be started: {reason}", filled[0]))
        })?;
        groups.push(group);
    }
    if purpose == Purpose::Measurement {
        // The file is for people to read; a folder that cannot be written fails the run elsewhere.
        cli::replace_file(&environment.file("command.txt"), lines.as_bytes()).ok();
    }
    Ok(groups)
}

/// This program, which redacts what the study redacts.
fn own_words() -> Vec<String> {
    let redact = stdx::redacted_names().map(|names| format!("-redact={names}"));
    [OWN_PROGRAM.to_owned()].into_iter().chain(redact).collect()
}

/// A command line whose word at `at` is this program, replaced by its path.
fn own_command(environment: &RunEnvironment, mut line: Vec<String>, at: usize) -> Command {
    if let Ok(own) = std::env::current_exe() {
        line[at] = own.display().to_string();
    }
    environment.command(&line, ".")
}
