//! perfer: its flags, and the plan that they make.

mod config;
mod flags;

pub(crate) use config::{ask, check};
#[cfg(test)]
pub(crate) use flags::PERFER;
