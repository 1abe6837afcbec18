//! Studies: variants under workloads, run by run in a shuffled order, each with its own servers, and one report of all.
//!
//! ```text
//! study.toml ─▶ file (all problems at once) ─▶ requirements ─▶ state::checkpoint (the order, the runs that are done)
//!     ─▶ for each run: commands before ─▶ servers ─▶ warm-up ─▶ load generators, monitored ─▶ servers stopped ─▶ commands after
//!     ─▶ figures of each run ─▶ report.html, study.json
//! ```
//!
//! Load generators and monitors are processes of brunt itself: [`run_study`] starts the program that calls it. The word [`REAP`] or
//! [`HOLD`] after `study` makes such a process call [`reap`] or [`exec_held`]: they end what a killed study has started.
//! The command lines of workloads are checked by the crate above, which hands in [`CommandLines`].

mod conclusion;
mod console;
mod ending;
mod figures;
mod file;
mod machine;
mod page;
mod plan;
mod port_owner;
mod process;
mod progress;
mod readiness;
mod requirements;
mod run;
mod start;
mod state;
mod targets_check;
mod template;
mod until_sure;

pub use conclusion::StudyOutcome;
pub use console::Style;
pub use file::{CommandLines, Mode, Problem};
pub use process::reaper::{HOLD, REAP, exec_held, reap};
pub use start::{StudyOptions, problems, run_study};
pub use state::checkpoint::StartMode;
pub use template::{Existing, TEMPLATE, write_template};
pub use until_sure::UntilSure;

/// The word in the commands of a study that stands for this program.
const OWN_PROGRAM: &str = "brunt";
