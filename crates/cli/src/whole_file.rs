//! A file that is replaced as a whole: a reader sees the old one or the new one, also after a crash.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

/// Replaces a file, or creates it: writes `PATH.part` beside it, syncs it, and renames it. What has that name already, such as the
/// remainder of a killed process, goes; a link is removed and never followed.
///
/// # Errors
/// The new file cannot be written, or another user's has its name; the old one is unchanged.
pub fn replace_file(path: &Path, document: &[u8]) -> io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = Path::new(&part);
    let write = || {
        let mut file = create_anew(part)?;
        file.write_all(document)?;
        // A disk may report only at its close that it was full.
        file.sync_all()?;
        fs::rename(part, path)
    };
    write().inspect_err(|_| {
        // What is left of it cannot be read.
        fs::remove_file(part).ok();
    })
}

/// A file of this name that did not exist before.
fn create_anew(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    File::options().write(true).create_new(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 19, C18: a link of the name `PATH.part` had what it leads to overwritten.
    #[test]
    fn a_planted_link_is_not_followed() {
        let dir = std::env::temp_dir().join(format!("brunt-planted-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let (path, precious) = (dir.join("state.json"), dir.join("precious"));
        fs::write(&precious, "precious").unwrap();
        std::os::unix::fs::symlink(&precious, dir.join("state.json.part")).unwrap();
        replace_file(&path, b"one").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert!(!fs::symlink_metadata(&path).unwrap().is_symlink());
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
        // The remainder of a process that was killed, and a name that cannot be had.
        fs::write(dir.join("state.json.part"), "half").unwrap();
        replace_file(&path, b"two").unwrap();
        fs::create_dir(dir.join("state.json.part")).unwrap();
        assert!(replace_file(&path, b"three").is_err());
        assert_eq!(fs::read(&path).unwrap(), b"two");
        fs::remove_dir_all(&dir).unwrap();
    }
}
