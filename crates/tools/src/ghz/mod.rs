//! `ghz`'s command line: flags, config file, reports and exit codes. Calls are paced and measured by the engine.
//!
//! ```text
//! argv, config ─▶ GhzOptions ─▶ GhzTest (plan, settings, targets) ─▶ Session with GhzObserver ─▶ GhzReport ─▶ text ─▶ exit code
//! ```

mod command;
mod config_file;
mod document;
mod influx;
mod observer;
mod options;
mod prometheus;
mod report;
mod schedule;
mod summary;
mod table;
mod test;
mod workers;

pub use command::{help, run, validate};
