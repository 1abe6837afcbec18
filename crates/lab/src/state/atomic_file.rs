//! A file that is replaced as a whole: a reader sees the old one or the new one, also after a crash.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::anyhow;
use cli::ExitError;

/// Replaces a file: writes `PATH.part` beside it, syncs it, and renames it.
///
/// # Errors
/// The new file cannot be written; the old one is unchanged.
pub(crate) fn replace_file(path: &Path, document: &[u8]) -> Result<(), ExitError> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let write = || {
        let mut file = fs::File::create(&part)?;
        file.write_all(document)?;
        file.sync_all()?;
        fs::rename(&part, path)
    };
    write().map_err(|error| anyhow!("writing {}: {}", path.display(), cli::reason(&error)).into())
}
