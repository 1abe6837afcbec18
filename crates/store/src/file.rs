//! Files that are replaced as a whole.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use crate::error::StoreError;

/// Replaces a file, or creates it: it is the old one or the new one at any moment, whatever happens to this process.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = File::create(&beside).and_then(|mut file| {
        file.write_all(bytes)?;
        // A disk may report only now that it was full.
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&beside, path)).map_err(|error| {
        // What is left of it is of no use.
        fs::remove_file(&beside).ok();
        StoreError::Io { path: path.to_owned(), error }
    })
}
