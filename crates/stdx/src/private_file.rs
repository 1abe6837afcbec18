//! Files that only their owner may read, or that only their owner may have written: keys, tokens, journals. What another user could
//! have put in their place (a link, a file of that user's, a folder that others write) is refused, and nothing is written through it.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

/// Names that are tried for a new file.
const NAMES_MAX: usize = 16;

/// Does not wait for the writer of a pipe: `O_NONBLOCK`, the same number on all processors that Linux has but for Alpha, MIPS and SPARC.
const NOT_WAITING: i32 = 0o4000;

/// Permission of others than the owner to write.
const OTHERS_WRITE: u32 = 0o022;

/// Writes a file of mode 0600, whole or not at all, also after a crash. It is made anew under a name that cannot be guessed, and takes the
/// place of what has its name: a link there is replaced, not followed.
///
/// # Errors
/// The folder takes no files, or the disk is full; what was there stays.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (mut file, part) = new_beside(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if let Err(error) = written.and_then(|()| fs::rename(&part, path)) {
        // It may be gone already.
        fs::remove_file(&part).unwrap_or_default();
        return Err(error);
    }
    sync_folder_of(path)
}

/// A new file of mode 0600 beside the one of this name, and its path.
fn new_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    let name = path.file_name().ok_or(ErrorKind::InvalidFilename)?;
    for _ in 0..NAMES_MAX {
        let mut part = std::ffi::OsString::from(".");
        part.push(name);
        part.push(format!(".{:016x}.part", RandomState::new().hash_one(std::process::id())));
        let part = path.with_file_name(part);
        // A link that was planted there is not followed.
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part) {
            Ok(file) => return Ok((file, part)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Makes a new name last: without it a crash may bring back what had it before.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Reads a file that only this user, or root, can have written: a regular file of at most so many bytes, and no link.
///
/// # Errors
/// It is none, it is larger, or the system refuses it.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let named = fs::symlink_metadata(path)?;
    if !named.is_file() {
        return Err(refused("it is a link, a folder, a pipe or a device, and no plain file"));
    }
    let file = OpenOptions::new().read(true).custom_flags(NOT_WAITING).open(path)?;
    let opened = file.metadata()?;
    if (opened.dev(), opened.ino()) != (named.dev(), named.ino()) {
        return Err(refused("another file took its place just now"));
    }
    check_owner(&opened)?;
    let mut bytes = Vec::new();
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(io::Error::new(ErrorKind::FileTooLarge, "it is too large"));
    }
    Ok(bytes)
}

/// Makes a folder of mode 0700 where it is missing, with those above it.
///
/// # Errors
/// It cannot be made, or the one that is there is not as [`check_folder`] asks.
pub fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    check_folder(path)
}

/// Refuses a folder that another user has or can write to: whatever is in it may be replaced by that user at any time.
///
/// # Errors
/// It is one, or it cannot be looked at.
pub fn check_folder(path: &Path) -> io::Result<()> {
    let meta = fs::metadata(path)?;
    if !meta.is_dir() {
        return Err(ErrorKind::NotADirectory.into());
    }
    check_owner(&meta)
}

/// Refuses what another user than this one and root has, or can write to.
fn check_owner(meta: &Metadata) -> io::Result<()> {
    if let Some(own) = own_user()
        && meta.uid() != own
        && meta.uid() != 0
    {
        return Err(refused("it belongs to another user"));
    }
    if meta.permissions().mode() & OTHERS_WRITE != 0 {
        return Err(refused("other users can write it (chmod go-w takes that from them)"));
    }
    Ok(())
}

/// The user of this process, as Linux shows it.
fn own_user() -> Option<u32> {
    fs::metadata("/proc/self").ok().map(|meta| meta.uid())
}

fn refused(why: &'static str) -> io::Error {
    io::Error::new(ErrorKind::PermissionDenied, why)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A folder of its own, gone at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("brunt-{name}-{}", std::process::id()));
            fs::remove_dir_all(&path).ok();
            make_folder(&path).unwrap();
            Self(path)
        }

        fn mode(&self, name: &str) -> u32 {
            fs::metadata(self.0.join(name)).unwrap().permissions().mode() & 0o777
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).ok();
        }
    }

    #[test]
    fn a_file_is_replaced_whole_and_never_through_a_link() {
        let folder = Folder::new("private-write");
        let [key, victim] = ["key", "victim"].map(|name| folder.0.join(name));
        fs::write(&victim, "victim").unwrap();
        symlink(&victim, &key).unwrap();
        for text in ["one", "another"] {
            write(&key, text.as_bytes()).unwrap();
            assert_eq!(read(&key, 100).unwrap(), text.as_bytes());
            assert_eq!(folder.mode("key"), 0o600);
        }
        assert_eq!(fs::read(&victim).unwrap(), b"victim");
        fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
        write(&key, b"narrow").unwrap();
        assert_eq!(folder.mode("key"), 0o600);
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 2, "no part stays");
        assert!(write(&folder.0.join("none/key"), b"x").is_err());
    }

    #[test]
    fn what_others_could_have_written_is_not_read() {
        let folder = Folder::new("private-read");
        let at = |name: &str| folder.0.join(name);
        write(&at("key"), b"secret").unwrap();
        symlink(at("key"), at("link")).unwrap();
        for (name, word) in [("link", "link"), (".", "folder")] {
            let error = read(&at(name), 100).unwrap_err();
            assert!(error.to_string().contains(word), "{name}: {error}");
        }
        assert_eq!(read(&at("key"), 5).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert_eq!(read(&at("none"), 5).unwrap_err().kind(), ErrorKind::NotFound);
        fs::set_permissions(at("key"), Permissions::from_mode(0o602)).unwrap();
        let error = read(&at("key"), 100).unwrap_err().to_string();
        assert!(error.contains("other users can write it"), "{error}");
    }

    #[test]
    fn a_folder_is_ones_own() {
        let folder = Folder::new("private-folder");
        assert_eq!(folder.mode("."), 0o700);
        for (mode, is_own) in [(0o755, true), (0o775, false), (0o777, false), (0o1777, false)] {
            fs::set_permissions(&folder.0, Permissions::from_mode(mode)).unwrap();
            assert_eq!(make_folder(&folder.0).is_ok(), is_own, "{mode:o}");
        }
    }
}
