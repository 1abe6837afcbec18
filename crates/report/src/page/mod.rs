//! Pages: the shell around tables and charts, and the cards in it. One file, nothing loaded from anywhere.

mod cards;
mod shell;

pub(crate) use cards::{chart, charts, charts_from, push, table};
pub(crate) use shell::{HINT, figure, shell};
