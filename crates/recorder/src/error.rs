//! Why there is no authority, or no proxy.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use thiserror::Error;
use wire::tls::TlsSetupError;

/// Why there is no authority.
#[derive(Debug, Error)]
pub enum AuthorityError {
    /// A file of it cannot be read or written, or another user could have written it.
    #[error("{}: {error}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file of it holds something else.
    #[error("{}: it holds no key or certificate ({error}); without the folder a new authority is made", path.display())]
    Content {
        /// Which file.
        path: PathBuf,
        /// What its reader says.
        error: rcgen::Error,
    },
    /// A certificate cannot be made.
    #[error("making a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
}

impl AuthorityError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::File { path, error }
    }
}

/// Why there is no proxy.
#[derive(Debug, Error)]
pub enum RecorderError {
    /// The address cannot be listened on.
    #[error("listening on {address}: {error}")]
    Listen {
        /// Which address.
        address: SocketAddr,
        /// What the system says.
        error: io::Error,
    },
    /// The trusted certificates cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsSetupError),
    /// The key of the hosts' certificates cannot be made.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    /// The system refuses a thread or what it waits with.
    #[error("starting the proxy: {0}")]
    Start(io::Error),
}
