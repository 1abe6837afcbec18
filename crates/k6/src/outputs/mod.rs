//! Outputs: each sample goes to the files that `-o` names, written by a thread of its own behind a bounded queue.
//!
//! ```text
//! crews ─▶ Vec<OutputSample> ─▶ (queue; what finds no room is counted) ─▶ thread ─▶ json, csv
//! ```

mod csv;
mod json;
mod queue;
mod writer;

pub(crate) use self::queue::{Outputs, is_results, start};
pub(crate) use self::writer::TestMetadata;
