//! The commands that read results: one folder each, with its flags. None of them imports another.

pub(crate) mod compare;
pub(crate) mod dump;
pub(crate) mod encode;
pub(crate) mod figure_file;
pub(crate) mod fit;
pub(crate) mod plot;
pub(crate) mod report;
mod run_facts;
pub(crate) mod runs;
mod selection;
mod server_offset;
mod stored;
pub(crate) mod ui;
