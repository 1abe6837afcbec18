//! `runs`: the runs of the store: listed, shown, labelled, carried to other machines, removed.

mod command;
mod flags;
mod table;

pub(crate) use command::{ABOUT, Others, run};
pub(crate) use flags::RUNS;
