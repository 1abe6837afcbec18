//! Targets as files give them: Vegeta's two grammars, each as Vegeta reads it and as it should be read. Nothing here opens a
//! file: input comes as bytes or as a reader, and body files through a function of the caller's.

mod bare;
mod collect;
mod field;
mod grammar;
pub mod http;
pub mod json;
mod lines;
mod options;
mod problem;
mod url;
mod vegeta_json;

pub use bare::BareTarget;
pub use grammar::{Grammar, LINE_MAX};
pub use options::{Defaults, Options, ReadBody};
pub use problem::{PROBLEMS_MAX, Problem, ProblemKind};
