//! `StartError`: why a run could not start.

use net::NoUring;
use thiserror::Error;

/// Why a run could not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// A certificate or key given is no good.
    #[error("{flag}: {reason}")]
    Certificate {
        /// The flag that gave it.
        flag: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A proxy's address is no URL.
    #[error("proxy \"{0}\" is not a URL (expected http://host:port)")]
    Proxy(String),
    /// `io_uring` was asked for, and cannot be used here.
    #[error("--io=uring: {0}")]
    Uring(#[from] NoUring),
    /// The machine refused a thread, a poller or a timer.
    #[error("starting a worker: {0}")]
    Worker(#[from] std::io::Error),
}
