//! A file that is replaced as a whole: a reader sees the old one or the new one, also after a crash.

use std::path::Path;

use anyhow::anyhow;
use cli::ExitError;

/// Replaces a file: writes another beside it, syncs it, and renames it.
///
/// # Errors
/// The new file cannot be written; the old one is unchanged.
pub(crate) fn replace_file(path: &Path, document: &[u8]) -> Result<(), ExitError> {
    cli::replace_file(path, document)
        .map_err(|error| anyhow!("writing {}: {}", path.display(), cli::reason(&error)).into())
}
