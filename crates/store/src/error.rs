//! `StoreError`: why the store could not do what was asked of it.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::format::{NAME_MAX, VERSION};

/// Why the store could not do what was asked of it.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The system refused a file or a folder.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or the folder.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A manifest is not one.
    #[error("{}: no manifest of a run: {error}", path.display())]
    Manifest {
        /// The manifest's file.
        path: PathBuf,
        /// What is wrong with it.
        error: serde_json::Error,
    },
    /// A field of a manifest has a value that it cannot have.
    #[error("{}: the field \"{field}\" of the manifest has \"{}\": it is to be {wanted}", path.display(), shortened(value))]
    Field {
        /// The manifest's file, or the archive that holds it.
        path: PathBuf,
        /// The field.
        field: &'static str,
        /// What it has.
        value: String,
        /// What it may have.
        wanted: &'static str,
    },
    /// What lies in a run's folder is no regular file, and may lead out of it.
    #[error("{}: it is {found}, and a run has regular files of its own folder alone", path.display())]
    Foreign {
        /// The path.
        path: PathBuf,
        /// What it is.
        found: &'static str,
    },
    /// A file of a run is larger than any that brunt writes.
    #[error("{}: it is larger than {} MiB", path.display(), bytes_max >> 20)]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most bytes that are read.
        bytes_max: u64,
    },
    /// A run was made by a newer brunt.
    #[error("{}: the run has version {found} of the store, and this brunt reads {VERSION} (a newer brunt wrote it)", path.display())]
    Newer {
        /// The manifest's file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// No run answers to a name.
    #[error("no run is \"{asked}\" in {}{hint}", store.display())]
    Unknown {
        /// What was asked for.
        asked: String,
        /// The store's folder.
        store: PathBuf,
        /// What there is instead; may be empty.
        hint: String,
    },
    /// The beginning of an id fits several runs.
    #[error("\"{asked}\" is the beginning of {count} ids (give more of it)")]
    Ambiguous {
        /// What was asked for.
        asked: String,
        /// How many runs it fits.
        count: usize,
    },
    /// A name has letters that a name has not.
    #[error(
        "\"{name}\" is no name of a run: it has 1 to {NAME_MAX} letters, digits, '.', '_' and '-', and begins with none of the last three"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// A run is under way and cannot be changed so.
    #[error("run {id} is under way")]
    UnderWay {
        /// The run's id.
        id: String,
    },
    /// A file is no export of a run.
    #[error("{}: no export of a run: {reason}", path.display())]
    Archive {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Git does not know a commit, or is not here.
    #[error("git:{reference}: {reason}")]
    Git {
        /// The branch, tag or commit.
        reference: String,
        /// What git said.
        reason: String,
    },
}

/// Letters of a foreign value that an error repeats, at most.
const VALUE_SHOWN_MAX: usize = 80;

/// A value as an error repeats it: a manifest may hold megabytes.
fn shortened(value: &str) -> String {
    match value.char_indices().nth(VALUE_SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

impl StoreError {
    /// Of a file or folder that the system refused.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::Io { path, error }
    }
}
