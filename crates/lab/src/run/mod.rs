//! One run: its servers, its load generators and the monitor beside them.

pub(crate) mod command;
pub(crate) mod environment;
mod generators;
mod monitor;
pub(crate) mod runner;
mod servers;
pub(crate) mod targets_file;
pub(crate) mod versions;
