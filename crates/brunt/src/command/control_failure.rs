//! The failure of a fleet's control plane, as that of a command.

use cli::ExitError;
use control::ControlError;

/// Ends the command with the words of the control plane.
pub(crate) fn failed(error: ControlError) -> ExitError {
    anyhow::Error::new(error).into()
}
