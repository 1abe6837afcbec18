//! `fit`: a queueing model of results at several loads.

mod command;
mod flags;
mod measured;

pub(crate) use command::{ABOUT, run};
pub(crate) use flags::FIT;
