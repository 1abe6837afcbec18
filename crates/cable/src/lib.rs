//! The common tests of Action Cable without a script: echo, broadcast, idle, herd.
//!
//! ```text
//! CablePlan ─▶ Cable ──crew──▶ one Crowd a worker: Users to the engine
//!                │               asks for upgrades, speaks wire::ws and wire::cable over the pipes
//!                ├─ Muster: how many users are up, round by round         shared, atomic
//!                ├─ Ledger: messages in flight, who had them, and when    shared, atomic; a lock for each message sent
//!                └─ Outcome: counts and histograms, merged when a Crowd ends ──▶ report
//! ```
//!
//! It does no I/O, reads no clock and starts no thread: the engine hands it bytes and `now`.

mod cable;
mod crew;
mod crowd;
mod ledger;
mod muster;
mod outcome;
mod plan;
mod seen;
mod template;
mod token;

pub use cable::Cable;
pub use outcome::{Deliveries, MESSAGES_MAX, MessageSeen, Outcome, RoundSeen, Subscribers};
pub use plan::{CablePlan, HERD_ROUNDS_MAX, Pattern, USERS_MAX};
pub use template::Template;

#[cfg(test)]
mod tests;
