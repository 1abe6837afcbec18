//! The real machine behind [`crate::Io`], by Linux's `io_uring`: for the sockets of a client. It listens to nothing.
//!
//! ```text
//! send ─▶ Outbox ──┐                                 ┌─▶ Inbox ─▶ recv
//! open ─▶ Slot   ──┴─▶ Ring ═ one system call ═ Ring ─┴─▶ next_event
//!        (what is wanted)     (wait)             (what was done)
//! ```
//!
//! Where the system has none, [`Uring`] is there and cannot be made.

#[cfg(not(target_os = "linux"))]
mod absent;
#[cfg(target_os = "linux")]
mod batch_wait;
#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod event_fd;
#[cfg(target_os = "linux")]
mod inbox;
#[cfg(target_os = "linux")]
mod outbox;
#[cfg(target_os = "linux")]
mod ring;
#[cfg(target_os = "linux")]
mod slot;

use std::io;

use thiserror::Error;

#[cfg(not(target_os = "linux"))]
pub use absent::Uring;
#[cfg(target_os = "linux")]
pub use client::Uring;

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
