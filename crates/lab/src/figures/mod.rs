//! What a measured run showed, read from its files.

pub(crate) mod monitor;
pub(crate) mod run;
