//! perfer: its flags, and the plan that they make.

mod config;
mod flags;

pub use config::PERFER;
#[cfg(test)]
pub(crate) use flags::FLAGS;
