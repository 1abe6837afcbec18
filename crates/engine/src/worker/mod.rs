//! `Worker`: THE loop. One thread, one `Io`; it owns its connections, hits, counts and random numbers, and shares nothing.
//!
//! ```text
//! turn:  go on, start what is due ─▶ end what is overdue ─▶ use the room, send ─▶ send counts and rows ─▶ wait ─▶ handle events
//!        turn_taking.rs, begin.rs   finish.rs               dial.rs, transfer.rs  turn.rs                       all but begin.rs
//! ```

mod begin;
mod call_status;
mod change;
mod dial;
mod finish;
mod landing;
mod parted;
mod pipes;
mod proxies;
mod redirect_hosts;
mod request_cache;
mod sleep_through;
mod state;
mod streams;
mod transfer;
mod turn;
mod turn_taking;
mod users;

pub use pipes::sample_of;
pub(crate) use state::{Start, TargetOrigins, Worker};
