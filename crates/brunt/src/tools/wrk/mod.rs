//! wrk and wrk2: their flags, and the plan that they make.

mod config;
mod flags;

pub(crate) use config::{ask, ask_two};
#[cfg(test)]
pub(crate) use flags::wrk2;
