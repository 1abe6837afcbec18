//! `plot`: pictures of results.

mod bars;
mod chart;
mod command;
mod curves;
mod flags;
mod load;
mod operand;
mod over_time;
mod parts;
mod server;

pub(crate) use command::run;
pub(crate) use flags::PLOT;
