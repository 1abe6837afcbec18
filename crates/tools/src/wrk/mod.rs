//! wrk and wrk2: their flags, and the plan that they make.

mod config;
mod flags;

pub use config::{WRK, WRK2};
#[cfg(test)]
pub(crate) use flags::wrk2_flags;
