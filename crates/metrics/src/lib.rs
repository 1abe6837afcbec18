//! What was seen: samples, histograms, counters, mergeable snapshots, the verdict.
//!
//! ```text
//! engine worker ──▶ Recorder (one a core) ──▶ Snapshot (moved once a second) ──▶ merged by the collector
//!               └─▶ Batch of Samples      ──▶ results::Writer ──▶ a file ──▶ results::Reader ──▶ Batch ──▶ report
//! ```
//!
//! It does no I/O, reads no clock and formats nothing for people.

mod failure;
mod generator;
mod histogram;
mod sample;
mod snapshot;

pub use failure::FailureKind;
pub use generator::Generator;
pub use histogram::Histogram;
pub use sample::{Batch, NO_TARGET, Sample, Span, TargetLabel, TargetTable};
pub use snapshot::{STATUS_MAX, Snapshot};
