//! `encode`: results in another format.

mod command;
mod flags;

pub(crate) use command::run;
pub(crate) use flags::ENCODE;
