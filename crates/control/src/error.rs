//! `ControlError`: why the control plane cannot start.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::journal::JournalError;
use crate::transport::TransportError;

/// Why the control plane cannot start.
#[derive(Debug, Error)]
pub enum ControlError {
    /// The transport failed, or refused.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The run's journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// A thread cannot be started.
    #[error("starting a thread: {0}")]
    Thread(io::Error),
}

impl ControlError {
    pub(crate) fn file(path: &Path, error: io::Error) -> Self {
        Self::File { path: path.to_owned(), error }
    }
}
