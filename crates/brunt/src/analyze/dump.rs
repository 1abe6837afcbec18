//! `dump`: Vegeta's old name of `encode`. It explains itself and fails, so that no script takes silence for results.

use anyhow::anyhow;
use cli::{CommandError, ExitCode, ExitError, Flag, Invocation, ValueKind};

use crate::dialect::ReadRules;

/// Prints what to use instead.
pub(crate) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let rules = ReadRules::of(invocation.dialect);
    if rules.checks_dump {
        invocation.parse(DUMP)?;
    }
    Err(ExitError { code: ExitCode::Failure, error: anyhow!(rules.dump_text) }.into())
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
