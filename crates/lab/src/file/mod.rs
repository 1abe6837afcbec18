//! The file of a study: its parts, how they are read, and what must hold between them.

mod check;
mod command_family;
mod command_line;
mod facts;
mod model;
mod parse;
#[cfg(test)]
mod tests;
mod toml_reader;
mod toml_values;
mod workload_check;

pub(crate) use command_line::{Placeholders, placeholders};
pub use model::Mode;
pub(crate) use model::{MonitorPlan, Required, Requirement, ServerPlan, Study, Variant, Workload};
pub(crate) use parse::read;
pub(crate) use toml_reader::PROBLEMS_MAX;
pub use toml_reader::Problem;
pub use workload_check::CommandLines;
