//! Files that are replaced as a whole.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use crate::error::StoreError;
use crate::leftovers::part_name;

/// Replaces a file, or creates it: it is the old one or the new one at any moment, whatever happens to this process. `cli` does the
/// same for documents and is above this crate.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(part_name(&name));
    let failed = |error| StoreError::Io { path: path.to_owned(), error };
    let mut file = File::create_new(&beside).map_err(failed)?;
    let written = file.write_all(bytes).and_then(|()| {
        // A disk may report only now that it was full.
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&beside, path)).map_err(|error| {
        // What is left of it is of no use.
        fs::remove_file(&beside).ok();
        failed(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 19, C18: a link of the name of what is written was followed, and two containers had one name for it.
    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let process = std::process::id();
        let dir = std::env::temp_dir().join(format!("brunt-store-replaced-{process}"));
        fs::create_dir_all(&dir).unwrap();
        let (path, precious) = (dir.join("manifest.json"), dir.join("precious"));
        fs::write(&precious, "precious").unwrap();
        // The name that it had with the number of the process.
        let guessed = dir.join(format!(".manifest.json.{process}"));
        std::os::unix::fs::symlink(&precious, &guessed).unwrap();
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
        assert!(fs::symlink_metadata(&guessed).unwrap().is_symlink(), "it is another's");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 3);
        fs::remove_dir_all(&dir).unwrap();
    }
}
