//! The target server: chosen service time, queue and faults; also the tests' server.
//!
//! ```text
//! socket bytes ──▶ Driver ──handle_*──▶ ServerMachine ──▶ Route ──▶ Queue (workers) ──▶ Answer
//!              ◀──        ◀─poll_output─         ◀──────────────────────────────┘
//! an upgraded connection ──▶ Sockets (echo, Action Cable with its chosen defects)
//! ```
//!
//! [`ServerMachine`] is the server without I/O, clock or threads; [`Server`] runs one over real sockets on a thread of its
//! own. It promises nothing about how a real server behaves: every delay and fault in it was asked for.

mod action;
mod answer;
mod bodies;
mod cable;
mod certificate;
mod config;
mod connection;
mod driver;
mod machine;
mod queue;
mod route;
mod server;
mod sockets;
mod stats;
mod upgrade;

pub use cable::Cable;
pub use certificate::{CertificateError, self_signed};
pub use config::{Config, ConfigError, Identity, KeepAlive};
pub use machine::ServerMachine;
pub use queue::{Offer, Queue};
pub use server::Server;
pub use stats::{SocketStats, Stats};
/// The law of service times.
pub use stdx::Distribution as ServiceTime;
