//! The machine: sockets, timers, names, cores, and the same over a simulated world.
//!
//! ```text
//! engine / demo ──open, listen, send, recv, close──▶ Io ──▶ Reactor (epoll, kqueue)   the real machine
//!               ◀──────── wait, next_event ────────          sim::World               a world from a seed
//! ```
//!
//! It knows no HTTP. It is the one place that makes system calls, and the one place where `unsafe` is allowed.

mod dns;
mod io;
pub mod machine;
mod peer;
mod reactor;
pub mod sim;

pub use dns::{Reply, Resolver};
pub use io::{Address, Dial, Event, Io, IoFailure, Key, Progress, Ready, Sock};
pub use peer::{Output, Peer};
pub use reactor::{Reactor, Waker};
