//! `dump`: Vegeta's old name of `encode`. It explains itself and fails, so that no script takes silence for results.

use anyhow::anyhow;
use cli::{CommandError, Dialect, ExitCode, ExitError, Flag, Invocation, ValueKind};

/// Says what to use instead.
pub(crate) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
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
    Err(ExitError { code: ExitCode::Failure, error: anyhow!(text) }.into())
}

/// The flags of `dump`, which only explains itself.
pub(crate) const DUMP: &[Flag<()>] = &[
    Flag::new(
        "dumper",
        ValueKind::Text("NAME"),
        "",
        "Accepted, as old scripts give it.",
        |_, _| Ok(()),
    ),
    Flag::new("inputs", ValueKind::Path, "", "Accepted, as old scripts give it.", |_, _| Ok(())),
    Flag::new("output", ValueKind::Path, "", "Accepted, as old scripts give it.", |_, _| Ok(())),
];
