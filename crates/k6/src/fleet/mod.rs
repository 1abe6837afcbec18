//! A script on the agents of a fleet: setup, teardown and the summary here, the scenarios there, thresholds on the metrics of all.
//!
//! ```text
//! stage (coordinator) ─▶ ScriptArchive ─▶ part (agent): scenarios of its segment, held until the common start
//!      ▲  LiveMetrics, Control, VuStats                 │
//!      └───────────────── PartRecord, once a second ◀───┘
//! ```

mod archive;
mod part;
mod record;
mod stage;

pub use part::run_part;
pub(crate) use stage::run_on_fleet;
