//! `StartError`: why a run could not start.

use std::fmt;

use net::NoUring;
use thiserror::Error;
use wire::proxy::ProxyError;
use wire::tls::TlsSetupError;

/// What a certificate is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateRole {
    /// The client's own, with its key.
    Client,
    /// The client's own for some hosts.
    ClientOfHosts,
    /// The roots that servers are verified against.
    Roots,
}

impl fmt::Display for CertificateRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Client => "client certificate",
            Self::ClientOfHosts => "client certificate of some hosts",
            Self::Roots => "root certificates",
        })
    }
}

/// Why a run could not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// A certificate or key cannot be used.
    #[error("{role}: {reason}")]
    Certificate {
        /// What it is for.
        role: CertificateRole,
        /// What is wrong with it.
        reason: TlsSetupError,
    },
    /// A proxy cannot be spoken to.
    #[error("proxy \"{url}\": {reason} (expected SCHEME://HOST:PORT)")]
    Proxy {
        /// Its address, without the password.
        url: String,
        /// What is wrong with it.
        reason: ProxyError,
    },
    /// `io_uring` was asked for, and cannot be used here.
    #[error("io_uring: {0}")]
    Uring(#[from] NoUring),
    /// The machine refused a thread, a poller or a timer.
    #[error("starting a worker: {0}")]
    Worker(#[from] std::io::Error),
}
