//! `RemoteError`: why a fleet could not offer the load.

use control::{ControlError, TransportError};
use thiserror::Error;

use crate::archive::ArchiveError;

/// Why a fleet could not offer the load; nothing was sent.
#[derive(Debug, Error)]
pub enum RemoteError {
    /// The plan cannot go to other machines.
    #[error("-fleet: {0}")]
    Archive(ArchiveError),
    /// The control plane could not be started.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The message system refused or could not be reached.
    #[error("{0} (is `brunt fleet up` running?)")]
    Transport(TransportError),
    /// The fleet had no run of this name.
    #[error("the fleet had no run {0}")]
    NoRun(String),
    /// The run is a script's: what it has judged and printed is not in the journal.
    #[error("run {0} is a script's, which cannot be resumed; its agents end with the load")]
    ScriptRun(String),
    /// The run ended before its start, with the reason.
    #[error("the fleet did not start: {0}")]
    NotStarted(String),
    /// The user ended it before its start.
    #[error("interrupted before the start")]
    Interrupted,
}

// Their words are in the error's own: as its source they would be printed twice.
impl From<ArchiveError> for RemoteError {
    fn from(error: ArchiveError) -> Self {
        Self::Archive(error)
    }
}

impl From<TransportError> for RemoteError {
    fn from(error: TransportError) -> Self {
        Self::Transport(error)
    }
}
