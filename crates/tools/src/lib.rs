//! Command lines of other load testers: ab, ghz, wrk, wrk2, hey, oha, perfer. Each is a folder with its flags, the plan and settings that
//! they make, its texts and its exit codes.
//!
//! ```text
//! argv ─▶ LoadTool ─▶ ToolConfig (plan, settings, layout) ─▶ probe ─▶ Session ─▶ report in the tool's layout ─▶ exit code
//! ab: argv ─▶ AbFlags ─▶ plan, settings ─▶ Session with AbObserver ─▶ report, files ─▶ exit code
//! ghz: argv, config ─▶ GhzOptions ─▶ GhzTest ─▶ Session with GhzObserver ─▶ report ─▶ exit code
//! ```
//!
//! [`run()`], [`validate`] and [`help`] take one of [`LOAD_TOOLS`]; ab and ghz, whose reports are no layouts of figures of ours, have their own in
//! [`ab`] and [`ghz`].

pub mod ab;
mod command_line;
mod config;
mod error;
pub mod ghz;
mod hey;
mod oha;
mod perfer;
mod probe;
mod run;
#[cfg(test)]
mod tests;
mod tool;
mod wrk;

pub use command_line::{help, run, validate};
pub use hey::HEY;
pub use oha::OHA;
pub use perfer::PERFER;
pub use tool::LoadTool;
pub use wrk::{WRK, WRK2};

/// Every tool, by name, but for ab and ghz.
pub const LOAD_TOOLS: [LoadTool; 5] = [HEY, OHA, PERFER, WRK, WRK2];
