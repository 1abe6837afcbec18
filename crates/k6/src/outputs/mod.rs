//! Outputs: each sample goes to the files and servers that `-o` names, written by a thread of its own behind a bounded queue.
//!
//! ```text
//! crews ─▶ Vec<OutputSample> ─▶ (queue; what finds no room is counted) ─▶ thread ─▶ json, csv, exporters
//! ```

mod csv;
mod file;
mod json;
mod queue;
mod remote;
mod writer;

pub(crate) use self::queue::{Losses, Outputs, is_results, results_format, spare, start};
pub(crate) use self::writer::TestMetadata;
