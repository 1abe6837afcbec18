//! `NoUring`: why `io_uring` cannot be used.

use std::io;

use thiserror::Error;

/// Why `io_uring` cannot be used here.
#[derive(Debug, Error)]
pub enum NoUring {
    /// The kernel refuses a ring: it is older than Linux 6.1, or a sandbox forbids it.
    #[error("io_uring_setup: {0}")]
    Setup(#[source] io::Error),
    /// The kernel refuses buffers to receive into.
    #[error("io_uring_register: {0}")]
    Buffers(#[source] io::Error),
    /// The kernel lacks a feature of Linux 6.1.
    #[error("the kernel is too old")]
    Old,
    /// The system has no descriptor left for the waker.
    #[error("eventfd: {0}")]
    Waker(#[source] io::Error),
    /// Only Linux has it.
    #[error("this system has none")]
    System,
}
