//! `dump`: Vegeta's old name of `encode`. It explains itself and fails, so that no script takes silence for results.

use anyhow::anyhow;

use super::CommandError;
use crate::dialect::{Dialect, Invocation};
use crate::exit_code::{ExitCode, Failed};
use crate::flags::results::DUMP;

/// Says what to use instead.
pub(super) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let text = match invocation.dialect {
        Dialect::Vegeta => {
            "vegeta dump has been deprecated and succeeded by the vegeta encode command"
        }
        Dialect::Native => {
            "dump was Vegeta's way to print results as CSV or JSON; use: brunt encode -to=csv FILE, \
             or: brunt encode -to=json FILE"
        }
    };
    if invocation.dialect == Dialect::Native {
        invocation.parse(DUMP)?;
    }
    Err(Failed { code: ExitCode::Failure, error: anyhow!(text) }.into())
}
