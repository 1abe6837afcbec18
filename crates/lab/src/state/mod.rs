//! What a study keeps on disk between its calls.

pub(crate) mod atomic_file;
pub(crate) mod checkpoint;
pub(crate) mod config_files;
pub(crate) mod folder;
mod pairs;
mod provenance;
pub(crate) mod record;
