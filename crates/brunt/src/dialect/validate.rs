//! The check of a command line without running it, which the dialects share.

use cli::Invocation;

use crate::command::{Registry, usage_error};

/// Checks the words after a dialect's global flags: the name of a command and its arguments.
///
/// # Errors
/// The words are wrong, or the command does not generate load; the error is one line in brunt's own words.
pub(super) fn validate(
    words: &[String],
    registry: &Registry,
    invocation: impl FnOnce(&str, &[String]) -> Invocation,
) -> Result<(), String> {
    let Some((name, args)) = words.split_first() else { return Err("no command".to_owned()) };
    let invocation = invocation(name, args);
    let checked = match registry.command(name).and_then(|command| command.validate) {
        Some(validate) => validate(&invocation),
        None => Err(usage_error(format!("\"{name}\" does not generate load"))),
    };
    checked.map_err(|error| error.message())
}
