//! Recorded runs: results files as summaries with verdicts, by label, with the rows of their servers.
//!
//! ```text
//! [LABEL=]PATH… ─▶ read_labelled ─▶ LabelledRuns ─▶ RecordedRun (Summary, Verdict) ─▶ comparison, fit, study
//! rows of servers ─▶ ServerRows, moved by ClockShift ─▶ report, plot
//! ```

mod clock_offset;
mod generators;
mod header;
mod run;
mod server_rows;
mod variants;

pub use clock_offset::{ClockShift, ServerOffset, clock_shift};
pub use generators::Generators;
pub use run::{RecordedRun, read_run, undamaged, unreadable};
pub use server_rows::ServerRows;
pub use variants::{LabelledRuns, read_labelled};
