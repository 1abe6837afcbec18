//! Files that are replaced as a whole.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use crate::error::StoreError;

/// Replaces a file, or creates it: it is the old one or the new one at any moment, whatever happens to this process.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}", std::process::id()));
    // A killed process of the same number may have left one. A link that another user put there is not followed.
    fs::remove_file(&beside).ok();
    let written = File::create_new(&beside).and_then(|mut file| {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 19, C18.
    #[test]
    fn a_planted_link_is_not_followed() {
        let process = std::process::id();
        let dir = std::env::temp_dir().join(format!("brunt-store-planted-{process}"));
        fs::create_dir_all(&dir).unwrap();
        let (path, precious) = (dir.join("manifest.json"), dir.join("precious"));
        fs::write(&precious, "precious").unwrap();
        let beside = dir.join(format!(".manifest.json.{process}"));
        std::os::unix::fs::symlink(&precious, &beside).unwrap();
        replace(&path, b"one").unwrap();
        assert_eq!(
            (fs::read(&path).unwrap(), fs::read(&precious).unwrap()),
            (b"one".to_vec(), b"precious".to_vec())
        );
        fs::remove_dir_all(&dir).unwrap();
    }
}
