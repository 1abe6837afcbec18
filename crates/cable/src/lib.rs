//! The common tests of Action Cable without a script: echo, broadcast, idle, herd.
//!
//! ```text
//! CablePlan ─▶ Cable ──users──▶ one CableUsers a worker: VirtualUsers to the engine
//!                │               asks for upgrades, speaks wire::ws and wire::cable over the pipes
//!                ├─ ConnectedBarrier: how many users are up, round by round         shared, atomic
//!                ├─ InFlightMessages: deliveries made and owed           shared, atomic; a lock for each message sent
//!                └─ CableReport: counts and histograms, merged when a worker's users end ──▶ report
//! on several machines: Cable ─▶ PartRecords ─▶ MergedParts ─▶ CableReport, a row for each message
//! ```
//!
//! It does no I/O, reads no clock and starts no thread: the engine hands it bytes and `now`.

mod cable;
mod cable_report;
mod connected_barrier;
mod factory;
mod in_flight_messages;
mod merged_parts;
mod part_record;
mod plan;
mod received_set;
mod template;
mod token;
mod users;

pub use cable::Cable;
pub use cable_report::{
    CableReport, Deliveries, MESSAGES_MAX, MessageReport, RoundReport, Subscribers,
};
pub use merged_parts::MergedParts;
pub use part_record::{PartEnd, PartRecord, ReceivedMessage, SentMessage, WorkerEnd};
pub use plan::{CablePlan, HERD_ROUNDS_MAX, Pattern, USERS_MAX};
pub use template::Template;

#[cfg(test)]
mod tests;
