//! `report`: a report of results.

mod assertions;
mod command;
mod flags;

pub(crate) use command::run;
pub(crate) use flags::REPORT;
