//! The processes that a study starts, and how all of them end with it.

pub(crate) mod group;
pub(crate) mod output_tail;
pub(crate) mod reaper;
