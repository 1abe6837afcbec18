//! `compare`: variants with repeats against the first of them.

mod command;
mod flags;

pub(crate) use command::{ABOUT, run};
pub(crate) use flags::COMPARE;
