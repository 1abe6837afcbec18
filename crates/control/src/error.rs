//! `ControlError`: why the control plane cannot start.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::files::FILE_MAX;
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
    /// The fleet's keys cannot be made.
    #[error("making the fleet's certificate: {0}")]
    Keys(String),
    /// The stored certificate cannot be read.
    #[error("keys.json has no certificate; remove the file, and all agents must join again")]
    BadKeys,
    /// nats-server is not installed.
    #[error("nats-server is not installed (Debian: apt-get install -y nats-server)")]
    NoServerProgram,
    /// nats-server ended, with its reason.
    #[error("nats-server ended: {0}")]
    Server(String),
    /// There is no free port.
    #[error("listening on {0}: {1}")]
    Listen(std::net::SocketAddr, io::Error),
    /// The server listens on all addresses, and none is given to others.
    #[error(
        "-listen on all addresses needs -advertise HOST: the name or address by which agents reach this machine"
    )]
    NoAddress,
    /// The folder is not of a fleet.
    #[error("{} is not the folder of a fleet; `brunt fleet up -dir` makes one", .0.display())]
    NoFleet(PathBuf),
    /// Another process has the folder.
    #[error("another brunt fleet up holds {}", .0.display())]
    InUse(PathBuf),
    /// The folder is of no fleet that lets machines in itself.
    #[error("{} is not the folder of a fleet with a server of its own", .0.display())]
    NoOwnServer(PathBuf),
    /// No agent has this name.
    #[error("the fleet has no agent {0}")]
    NoAgent(fleet::Name),
    /// The process that holds the fleet did not do what was asked, with its reason.
    #[error("the fleet: {0}")]
    NotChanged(String),
    /// The fleet refuses this machine, with its reason.
    #[error("the fleet refuses this machine: {0}")]
    NotLetIn(String),
    /// A file for agents is too large; its size.
    #[error("an archive of {0} bytes, where {FILE_MAX} is the most")]
    TooLarge(usize),
    /// A thread cannot be started.
    #[error("starting a thread: {0}")]
    Thread(io::Error),
}

impl ControlError {
    pub(crate) fn file(path: &Path, error: io::Error) -> Self {
        Self::File { path: path.to_owned(), error }
    }
}
