//! Command lines of `run`, `inspect` and `archive`, read with k6's exit codes.

use crate::flags::RunFlags;
use cli::{CommandError, ExitCode, Flag, FlagError, Invocation, ParsedArgs, eprint_line};

/// Reads flags as k6's commands do; errors are printed, and have k6's exit code.
pub(crate) fn typed(
    invocation: &Invocation,
    table: &[Flag<RunFlags>],
) -> Result<Result<ParsedArgs<RunFlags>, ExitCode>, CommandError> {
    match invocation.parse(table) {
        Ok(typed) => Ok(Ok(typed)),
        Err(error @ (FlagError::Help | FlagError::Version)) => Err(error.into()),
        Err(error) => {
            eprint_line(&format!("brunt run: {}\nfor help: brunt help run", error.native()));
            // k6 has no gates, and so no code for a wrong one.
            let is_gate = matches!(&error, FlagError::Value { name, .. } if name == "fail-on");
            Ok(Err(if is_gate { ExitCode::Usage } else { ExitCode::Other }))
        }
    }
}
