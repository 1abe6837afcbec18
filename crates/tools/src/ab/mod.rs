//! ApacheBench: its flags in, its report, files and exit codes out. The load is a plan as any other (`config`); `report::ab` lays out
//! the report.
//!
//! ```text
//! AbFlags, URL ─▶ Address ─▶ Request ─▶ Plan, Settings ─▶ AbObserver (rows, progress, what ends it) ─▶ report, files, code
//! ```

mod address;
mod banner;
mod command;
mod command_line;
mod conclusion;
mod config;
mod error;
mod files;
mod flags;
mod observer;
mod recorded_report;
mod request;
mod stdout;

pub use command_line::{help, run, validate};
pub use recorded_report::AbReport;
