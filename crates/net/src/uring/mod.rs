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
mod no_uring;
#[cfg(target_os = "linux")]
mod outbox;
#[cfg(target_os = "linux")]
mod ring;
#[cfg(target_os = "linux")]
mod slot;

#[cfg(not(target_os = "linux"))]
pub use absent::Uring;
#[cfg(target_os = "linux")]
pub use client::Uring;
pub use no_uring::NoUring;
