//! The server's side: its machine, processes, containers, metrics endpoints and logs, as rows of [`metrics::server`].
//!
//! It never touches the load path: it runs on a thread of its own, or on another machine.

pub mod log;
