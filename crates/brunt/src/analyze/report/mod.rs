//! `report`: a report of results.

mod assertions;
mod command;
mod figures;
mod flags;
mod parts;

pub(crate) use command::run;
pub(crate) use flags::REPORT;
