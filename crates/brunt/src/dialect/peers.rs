//! The dialects of wrk, wrk2, perfer, hey and oha: their words where a line is wrong, and their exit codes.

use std::process::ExitCode;

use crate::command::Stored;
use crate::command::peers::{self, Refusal};
use crate::output::{self, Place};

/// Runs a command line of the tool of this name.
pub(super) fn run(name: &str, args: &[String], results: Option<Stored>) -> ExitCode {
    let asked = peers::ask(name, args).and_then(|asked| peers::probe(&asked).map(|()| asked));
    match asked {
        Err(refusal) => refuse(&refusal),
        Ok(asked) => match peers::carry_out(&asked, results) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failed) => {
                output::complain(&format!("brunt {name}: {failed}"));
                ExitCode::FAILURE
            }
        },
    }
}

/// Says why nothing is sent.
fn refuse(refusal: &Refusal) -> ExitCode {
    if !refusal.stderr.is_empty() {
        output::complain(&refusal.stderr);
    }
    // Where nobody reads it, the code says as much.
    Place::Stdout.write(refusal.stdout.as_bytes()).ok();
    ExitCode::from(refusal.code)
}
