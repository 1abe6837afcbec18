//! Exit codes and the errors that carry them.

pub(crate) use cli::{CommandResult as Outcome, ExitCode, ExitError as Failed, OrExit};
