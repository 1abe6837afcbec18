//! What was seen: samples, histograms, counters, mergeable snapshots, the verdict.
//!
//! ```text
//! engine worker ──▶ Snapshot (one a core) ──▶ moved once a second ──▶ merged by the collector
//!               └─▶ Batch of Samples ──▶ results::Sink ──▶ a file ──▶ results::Reader ──▶ Batch ──▶ report
//! ```
//!
//! It does no I/O, reads no clock and formats nothing for people but the verdict's one line.

mod agent;
mod attacked;
mod event;
mod failure;
mod failure_counts;
mod gate;
mod generator;
mod grid;
mod groups;
mod histogram;
mod iteration_course;
mod landing;
pub mod metric_name;
mod objective;
mod outcome;
mod outcome_counts;
mod phases;
mod provenance;
mod pulse;
mod row_tags;
mod sample;
pub mod server;
mod snapshot;
mod summary;
pub mod tally;
mod target_rows;
mod timeline;
mod traffic;
mod verdict;

pub use agent::{AgentRecord, ClockOffset};
pub use attacked::{Attacked, AttackedTarget, AttackedTargets};
pub use event::{Event, EventKind};
pub use failure::FailureKind;
pub use failure_counts::{FailureCounts, FailureReason};
pub use gate::{
    GATES_MAX, Gap, Gate, GateError, GateFigures, GateMetric, GateOutcome, GateState, GateUnit,
    Gates, JudgedRun, Selector, Statistic, StatusSet,
};
pub use generator::{Generator, REDIRECT_HOSTS_MAX};
pub use grid::CELLS_MAX;
pub use groups::{By, GROUPS_MAX, Group, Groups, OTHER, UNCONNECTED, UNNAMED, UNTAGGED};
pub use histogram::{Histogram, HistogramError, LogLinear, Sketch};
pub use iteration_course::{IterationCounts, IterationCourse, IterationMeter};
pub use landing::{LANDINGS_MAX, Landing};
pub use objective::{CONDITIONS_MAX, Condition, Metric, Objective, ObjectiveError, Op};
pub use outcome::{GrpcStatus, Outcome};
pub use outcome_counts::{OutcomeCounts, STATUS_MAX};
pub use phases::Phases;
pub use provenance::Provenance;
pub use pulse::Pulse;
pub use row_tags::{row_tag, row_tags};
pub use sample::{Batch, NO_TARGET, Sample, Span, TargetLabel, TargetTable};
pub use snapshot::Snapshot;
pub use summary::{ERRORS_MAX, Summary, apart};
pub use target_rows::TargetRows;
pub use timeline::{Cell, Timeline};
pub use traffic::{InFlight, SENDS_WINDOW, Sends, Traffic};
pub use verdict::{
    CPU_MAX, GoodAgents, JUDGED, LAG_BUSY, LAG_FLOOR, LAG_MAX, LAG_SHARE_MAX, LateQuantile,
    RATE_TOLERANCE, Reason, Verdict,
};
