//! A file that is replaced as a whole: a reader sees the old one or the new one, also after a crash.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Replaces a file, or creates it: writes `PATH.PID.part` beside it, syncs it, and renames it. The name is this process' own, so that
/// of two writers each publishes a whole document, and the later one's stays. What has that name already goes; a link is removed and
/// never followed. A process that is killed meanwhile leaves it behind.
///
/// # Errors
/// The new file cannot be written, or another user's has its name; the old one is unchanged.
pub fn replace_file(path: &Path, document: &[u8]) -> io::Result<()> {
    let part = part_of(path, std::process::id());
    let write = || {
        let mut file = create_anew(&part)?;
        file.write_all(document)?;
        // A disk may report only at its close that it was full.
        file.sync_all()?;
        fs::rename(&part, path)
    };
    write().inspect_err(|_| {
        // What is left of it cannot be read.
        fs::remove_file(&part).ok();
    })
}

/// What a process names the file that is to replace this one.
fn part_of(path: &Path, process: u32) -> PathBuf {
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{process}.part"));
    PathBuf::from(part)
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

    /// Issue 19, C18: a link of the name of the part had what it leads to overwritten.
    #[test]
    fn a_planted_link_is_not_followed() {
        let dir = std::env::temp_dir().join(format!("brunt-planted-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let (path, precious) = (dir.join("state.json"), dir.join("precious"));
        let part = part_of(&path, std::process::id());
        fs::write(&precious, "precious").unwrap();
        std::os::unix::fs::symlink(&precious, &part).unwrap();
        replace_file(&path, b"one").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert!(!fs::symlink_metadata(&path).unwrap().is_symlink());
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
        // The remainder of a process that was killed, and a name that cannot be had.
        fs::write(&part, "half").unwrap();
        replace_file(&path, b"two").unwrap();
        fs::create_dir(&part).unwrap();
        assert!(replace_file(&path, b"three").is_err());
        assert_eq!(fs::read(&path).unwrap(), b"two");
        fs::remove_dir_all(&dir).unwrap();
    }

    /// Issue 19: two writers had one name for the part; one of them renamed the half that the other had written.
    #[test]
    fn two_writers_publish_whole_documents() {
        let dir = std::env::temp_dir().join(format!("brunt-writers-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join("state.json");
        // Another process has written half of its document, and goes on when this one is done.
        let part = part_of(&path, std::process::id() + 1);
        let mut other = create_anew(&part).unwrap();
        other.write_all(b"the other's ").unwrap();
        replace_file(&path, b"ours").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"ours");
        other.write_all(b"document").unwrap();
        fs::rename(&part, &path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"the other's document");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "nothing is left beside it");
        fs::remove_dir_all(&dir).unwrap();
    }
}
