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

/// Permissions of others than the owner.
const OTHERS: u32 = 0o077;
/// Permission of others than the owner to write.
const OTHERS_WRITE: u32 = 0o022;

/// Writes a file of mode 0600, whole or not at all, also after a crash. It is made anew under a name that cannot be guessed, and takes the
/// place of what has its name: a link there is replaced, not followed.
///
/// # Errors
/// The folder takes no files, or the disk is full; what was there stays.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = NewFile::beside(path, OWNER_ALONE)?;
    file.write_all(bytes)?;
    file.publish()
}

/// A file for the output of a program, which has its name from the start: what had it before is replaced, and no link is followed.
///
/// # Errors
/// The folder takes no files.
pub fn create_stream(path: &Path) -> io::Result<File> {
    let mut new = NewFile::beside(path, ALL_AS_MASKED)?;
    let file = new.file.try_clone()?;
    fs::rename(&new.part, path)?;
    new.is_published = true;
    Ok(file)
}

/// Opens a file that is held locked as long as its process lives, and makes it where it is missing. Nothing in it is changed; a link is
/// not followed.
///
/// # Errors
/// It is no plain file, or the system refuses it.
pub fn open_lock(path: &Path) -> io::Result<File> {
    let new = OpenOptions::new().write(true).create_new(true).mode(OWNER_ALONE).open(path);
    match new {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            open_named(path, OpenOptions::new().write(true))
        }
        opened => opened,
    }
}

/// A file that takes another's place once it is whole. Until then it stands beside it under a name that no other writer has and none can
/// guess (`.NAME.NUMBER-PROCESS.part`). Dropped before, it goes; a process that is killed meanwhile leaves it behind.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    part: PathBuf,
    place: PathBuf,
    is_published: bool,
}

impl NewFile {
    /// An empty file beside the one of this name, of this mode but for what the process masks.
    ///
    /// # Errors
    /// The folder takes no files.
    pub fn beside(path: &Path, mode: u32) -> io::Result<Self> {
        // Numbers of processes are the same in many containers.
        let numbers = std::iter::repeat_with(|| RandomState::new().hash_one(std::process::id()));
        Self::numbered(path, mode, numbers.take(NAMES_MAX))
    }

    /// The same; its name has the first of the numbers that is free.
    fn numbered(path: &Path, mode: u32, numbers: impl Iterator<Item = u64>) -> io::Result<Self> {
        let name = path.file_name().ok_or(ErrorKind::InvalidFilename)?;
        let named = fs::symlink_metadata(path);
        if named.is_ok_and(|named| !named.is_file() && !named.is_symlink()) {
            // `/dev/null` is every program's.
            return Err(refused(
                "it is a folder, a pipe or a device, and takes no other file in its place",
            ));
        }
        for number in numbers {
            let mut part = std::ffi::OsString::from(".");
            part.push(name);
            part.push(format!(".{number:016x}-{}.part", std::process::id()));
            let part = path.with_file_name(part);
            // A link that was planted there is not followed.
            match OpenOptions::new().write(true).create_new(true).mode(mode).open(&part) {
                Ok(file) => {
                    let place = path.to_owned();
                    return Ok(Self { file, part, place, is_published: false });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// The file under its name of now.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Where it stands until it is published.
    #[must_use]
    pub fn part(&self) -> &Path {
        &self.part
    }

    /// Has the disk keep what was written. It may report only now that it was full.
    ///
    /// # Errors
    /// It does.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Gives it the name.
    ///
    /// # Errors
    /// It cannot be synced or renamed: what was there stays.
    pub fn publish(mut self) -> io::Result<()> {
        self.sync()?;
        fs::rename(&self.part, &self.place)?;
        self.is_published = true;
        match sync_folder_of(&self.place) {
            // Of a folder that may not be read, or whose file system cannot do it, the name is what it is.
            Err(error) if CANNOT_SYNC.contains(&error.kind()) => Ok(()),
            synced => synced,
        }
    }
}

impl io::Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_published {
            // What is left of it cannot be read, and is of no use if it stays.
            fs::remove_file(&self.part).unwrap_or_default();
        }
    }
}

/// The mode of a file that its owner alone may read.
const OWNER_ALONE: u32 = 0o600;
/// The mode of a file that is as the process masks it.
pub const ALL_AS_MASKED: u32 = 0o666;
/// Why a folder is not synced.
const CANNOT_SYNC: [ErrorKind; 3] =
    [ErrorKind::PermissionDenied, ErrorKind::InvalidInput, ErrorKind::Unsupported];

/// Makes a new name last: without it a crash may bring back what had it before.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Reads a secret that only this user, or root, can have written: a regular file of at most so many bytes, and no link, that no other user
/// may read. Git and archives restore files that others read: keys that came with a project are its author's as well.
///
/// # Errors
/// It is none, it is larger, or the system refuses it.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let file = open_named(path, OpenOptions::new().read(true))?;
    let opened = file.metadata()?;
    check_owner(&opened)?;
    if opened.permissions().mode() & OTHERS != 0 {
        return Err(refused(
            "other users can read it, as they can what comes with a project, whose author has its keys too (if it is your own: chmod 600)",
        ));
    }
    let mut bytes = Vec::new();
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(io::Error::new(ErrorKind::FileTooLarge, "it is too large"));
    }
    Ok(bytes)
}

/// Opens a plain file, and not what a link of this name leads to.
fn open_named(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let named = fs::symlink_metadata(path)?;
    if !named.is_file() {
        return Err(refused("it is a link, a folder, a pipe or a device, and no plain file"));
    }
    let file = options.custom_flags(NOT_WAITING).open(path)?;
    let opened = file.metadata()?;
    if (opened.dev(), opened.ino()) != (named.dev(), named.ino()) {
        return Err(refused("another file took its place just now"));
    }
    Ok(file)
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
            let path = tempfile::Builder::new()
                .prefix(&format!("brunt-{name}-"))
                .tempdir()
                .unwrap()
                .keep();
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
        fs::create_dir(folder.0.join("inner")).unwrap();
        assert!(write(&folder.0.join("inner"), b"x").unwrap_err().to_string().contains("a device"));
    }

    /// Issue 19, C18: a link of the name of the part had what it leads to overwritten; and two writers had one name for it.
    #[test]
    fn a_planted_link_is_not_followed() {
        let folder = Folder::new("planted");
        let (path, precious) = (folder.0.join("state.json"), folder.0.join("precious"));
        fs::write(&precious, "precious").unwrap();
        let pid = std::process::id();
        symlink(&precious, folder.0.join(format!(".state.json.0000000000000001-{pid}.part")))
            .unwrap();
        let numbered = |numbers: &[u64]| NewFile::numbered(&path, 0o644, numbers.iter().copied());
        assert!(numbered(&[1]).is_err());
        let mut two = numbered(&[1, 2]).unwrap();
        two.write_all(b"two").unwrap();
        two.publish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        let parts = [(); 2].map(|()| NewFile::beside(&path, 0o644).unwrap());
        assert_ne!(parts[0].part(), parts[1].part(), "the name is known to none before");
        drop(parts);
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 3, "what is not published goes");
    }

    #[test]
    fn streams_and_locks_follow_no_link() {
        let folder = Folder::new("streams");
        let [log, lock, precious] = ["log", ".lock", "precious"].map(|name| folder.0.join(name));
        fs::write(&precious, "precious").unwrap();
        symlink(&precious, &log).unwrap();
        create_stream(&log).unwrap().write_all(b"line").unwrap();
        assert_eq!(fs::read(&log).unwrap(), b"line");
        symlink(&precious, &lock).unwrap();
        assert!(open_lock(&lock).unwrap_err().to_string().contains("a link"));
        fs::remove_file(&lock).unwrap();
        let held = open_lock(&lock).unwrap();
        held.try_lock().unwrap();
        assert!(open_lock(&lock).unwrap().try_lock().is_err(), "the same file");
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
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
        // As git restores it.
        fs::set_permissions(at("key"), Permissions::from_mode(0o644)).unwrap();
        let error = read(&at("key"), 100).unwrap_err().to_string();
        assert!(error.contains("comes with a project") && error.contains("chmod 600"), "{error}");
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
