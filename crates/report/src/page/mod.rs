//! Pages: the shell around tables and charts, and the cards in it. One file, nothing loaded from anywhere.

mod cards;
mod shell;

pub use cards::figure_card;
pub(crate) use cards::{chart, charts, charts_from, push, table};
pub use shell::served_page;
pub(crate) use shell::{HINT, figure, shell};
