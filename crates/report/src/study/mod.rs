//! `StudyReport`: all runs of a study as one page and one JSON document: which variant is better under each workload, by how
//! much, whether the expected orderings held, and how every run went.

mod build_server;
mod findings;
mod input;
mod json;
mod model;
mod overview;
mod page;
mod report;
mod tables;
#[cfg(test)]
mod tests;

pub use input::{StudyInput, StudyRun, StudyState, StudyVariant, StudyWorkload};
pub use report::StudyReport;
