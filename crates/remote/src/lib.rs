//! The load of a fleet. The command that the user started packs its plan into an archive and becomes the coordinator; each agent cuts
//! its part out of the plan and runs it on an engine of its own; what they measured comes back row by row, as one run.
//!
//! ```text
//! Plan, Settings ─▶ Archive ─▶ control (NATS) ─▶ AgentLoad: engine::cut ─▶ session::Session
//!                                                    │ rows, the generator's record, once a second (payload)
//! session::Session ◀─ FleetExecution ◀─ control ◀────┘
//!   └─ the same observers, results and report as on one machine; rows have the number of their agent
//! a test of Action Cable: CableArchive ─▶ CablePart, with barriers ─▶ CableParts
//! ```

mod agent;
mod agent_load;
mod archive;
mod cable_part;
mod cable_parts;
mod error;
mod execution;
pub mod flags;
mod gather;
mod payload;
mod records;
mod resume;
mod uplink;
mod work;

pub use agent::{RunScript, ScriptWork, serve};
pub use archive::{Archive, ArchiveError, CableArchive};
pub use cable_parts::CableParts;
pub use error::RemoteError;
pub use execution::{FleetExecution, PartSink, ends_at_once};
pub use gather::{FleetOptions, start};
pub use records::{FleetOutcome, Records};
pub use resume::{Resumable, newest_run};
pub use uplink::Uplink;
pub use work::FleetWork;
