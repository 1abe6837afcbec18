//! A simulated world from a seed: one worker's machine, its links and its servers, in one thread and without real time.
//!
//! ```text
//!  worker ──open, send, recv──▶ World ──Link (segments, delays)──▶ Peer
//!         ◀──Event ──────────   Clock ◀─Link ────────────────────  poll_output
//! ```
//!
//! The same seed and the same calls give the same world, to the byte and to the nanosecond; [`World::trace`] is the
//! proof. It mirrors the reactor: readiness is edge-triggered and changes in [`crate::Io::wait`] alone. It opens
//! no socket, reads no clock and starts no thread.

mod clock;
mod conn;
mod event_queue;
mod fault;
mod link;
mod worker;
mod world;

#[cfg(test)]
mod tests;

pub use fault::{Faults, Span};
pub use world::World;
