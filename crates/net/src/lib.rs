//! The machine: sockets, timers, names, cores, and the same over a simulated world.
//!
//! ```text
//! engine / demo ──open, listen, send, recv, close──▶ Io ──▶ Reactor (epoll, kqueue)   the real machine
//!               ◀──────── wait, next_event ────────          Uring (io_uring)         the same, for clients on Linux
//!                                                            sim::World               a world from a seed
//! ```
//!
//! It knows no HTTP. It is the one place that makes system calls, and the one place where `unsafe` is allowed.

mod dns;
mod event_loop;
mod io;
pub mod machine;
mod mailbox;
mod peer;
mod reactor;
pub mod sim;
mod uring;

pub use dns::{Resolver, ResolverCallback};
pub use io::{Address, Dial, Event, Io, IoFailure, Key, Progress, Ready, Sock};
pub use mailbox::Waker;
pub use peer::{Output, Peer};
pub use reactor::Reactor;
pub use uring::{NoUring, Uring};

#[cfg(test)]
mod tests;
