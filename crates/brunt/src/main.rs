//! The command: dialects in, exit code out.
//!
//! ```text
//! argv ─▶ dialect ─▶ ParsedArgs (what was typed) ─▶ Meant (files read, plan validated) ─▶ command ─▶ exit code
//! ```
//!
//! It wires the rooms together and holds no logic that a test would want without a process.

mod analyze;
mod command;
mod dialect;
mod flags;

use std::process::ExitCode;

/// Exit codes and the errors that carry them.
mod exit_code {
    pub(crate) use cli::{CommandResult as Outcome, ExitCode, ExitError as Failed, OrExit};
}

/// Formats of documents.
mod ending {
    pub(crate) use cli::Document;
}

/// What a command reads.
mod input {
    pub(crate) use cli::input::{announce_stdin, is_stdin, read_regular, read_whole};
    pub(crate) use cli::{INTERRUPT_CHECK_INTERVAL as LOOK_EVERY, Interrupts, reason};
}

/// What a command writes.
mod output {
    pub(crate) use cli::{
        OpenOutput as Outlet, Output as Place, eprint_line as complain, is_closed_pipe, log_time,
        stdout_is_terminal,
    };
}

/// The terminal a command draws on.
mod terminal {
    pub(crate) use cli::terminal::{DrawnLines as Drawn, width};
}

fn main() -> ExitCode {
    // A descriptor for each connection; where the limit stays, those beyond it fail and are counted.
    net::machine::raise_descriptor_limit().ok();
    let mut args = std::env::args_os();
    let program = args.next().unwrap_or_default();
    match args.map(|arg| arg.into_string()).collect::<Result<Vec<String>, _>>() {
        Ok(args) => cli::or_internal(|| dialect::dispatch::run(&program, args, &command::REGISTRY)),
        Err(arg) => {
            cli::eprint_line(&format!("brunt: argument {} is not UTF-8", arg.display()));
            cli::ExitCode::Usage.into()
        }
    }
}
