//! A file that is replaced as a whole: a reader sees the old one or the new one, also after a crash.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use stdx::private_file::{ALL_AS_MASKED, NewFile};

/// Replaces a file, or creates it, by a [`Replacement`].
///
/// # Errors
/// The new file cannot be written; the old one is unchanged.
pub fn replace_file(path: &Path, document: &[u8]) -> io::Result<()> {
    let mut replacement = Replacement::beside(path)?;
    replacement.write_all(document)?;
    replacement.publish()
}

/// A file that takes another's place once it is whole. Of two writers each publishes a whole document, and the later one's stays.
/// Dropped before, it goes. A process that is killed meanwhile leaves it behind (`.NAME.NUMBER-PROCESS.part`).
#[derive(Debug)]
pub struct Replacement {
    new: NewFile,
    replaces: PathBuf,
    /// Nothing may be written under the name meanwhile: it would lose it.
    guards_name: bool,
    /// The file that is there, which no stream may be written to as long as it is shared here.
    there: Option<File>,
}

/// The file that is to be replaced has a writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HasWriter;

impl Replacement {
    /// An empty file beside the one of this name. What a link leads to is replaced, and the link stays.
    ///
    /// # Errors
    /// The folder takes no files.
    pub fn beside(path: &Path) -> io::Result<Self> {
        let replaces = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let new = NewFile::beside(&replaces, ALL_AS_MASKED)?;
        Ok(Self { new, replaces, guards_name: false, there: None })
    }

    /// The same, with owner and mode of the file that is there; `None` where that one has to be written itself: it is no plain
    /// file, has other names, belongs to another user or is open already (`/dev/stdout`), or its folder takes no files.
    ///
    /// # Errors
    /// The file has a writer.
    pub(crate) fn alike(path: &Path) -> Result<Option<Self>, HasWriter> {
        let meta = fs::metadata(path).ok();
        if leads_elsewhere(path) || meta.as_ref().is_some_and(|meta| !meta.is_file()) {
            return Ok(None);
        }
        let there = meta.as_ref().and_then(|_| File::open(path).ok());
        share(there.as_ref())?;
        let has_one_name = meta.as_ref().is_none_or(|meta| meta.nlink() == 1);
        let beside = if has_one_name { Self::beside(path).ok() } else { None };
        let Some(mut replacement) = beside else { return Ok(None) };
        let is_alike = meta.is_none_or(|meta| {
            let file = replacement.new.file();
            let same_owner = file.metadata().is_ok_and(|own| own.uid() == meta.uid());
            let writable = !meta.permissions().readonly();
            same_owner && writable && file.set_permissions(meta.permissions()).is_ok()
        });
        (replacement.there, replacement.guards_name) = (there, true);
        Ok(is_alike.then_some(replacement))
    }

    /// Gives it the name.
    ///
    /// # Errors
    /// It cannot be synced or renamed, or something is written under the name meanwhile: what was there stays.
    pub fn publish(mut self) -> io::Result<()> {
        // A disk may report only at its close that it was full.
        self.new.sync()?;
        if self.guards_name && fs::metadata(&self.replaces).is_ok_and(|meta| meta.is_file()) {
            // It may be another one by now. Shared until the rename is over.
            self.there = File::open(&self.replaces).ok();
            share(self.there.as_ref()).map_err(|HasWriter| io::ErrorKind::ResourceBusy)?;
        }
        self.new.publish()
    }

    /// Another handle to what is written, for who keeps it as long as the writing takes.
    ///
    /// # Errors
    /// There is no descriptor left.
    pub fn handle(&self) -> io::Result<File> {
        self.new.file().try_clone()
    }
}

/// Whether what a path leads to is another program's to name, and may have a part already: `/dev/stdout`.
fn leads_elsewhere(path: &Path) -> bool {
    let begins = ["/dev/std", "/dev/fd/", "/proc/"];
    begins.iter().any(|begin| path.as_os_str().as_encoded_bytes().starts_with(begin.as_bytes()))
}

/// Keeps writers of streams away from a file until it is closed, as far as its file system has locks: theirs are exclusive.
fn share(file: Option<&File>) -> Result<(), HasWriter> {
    match file.map(File::try_lock_shared) {
        Some(Err(TryLockError::WouldBlock)) => Err(HasWriter),
        _ => Ok(()),
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.new.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let dir =
            tempfile::Builder::new().prefix(&format!("brunt-{name}-")).tempdir().unwrap().keep();
        fs::create_dir_all(&dir).unwrap();
        dir
    }

    fn names(dir: &Path) -> usize {
        fs::read_dir(dir).unwrap().count()
    }

    /// Issue 19: two writers had one name for the part; one of them renamed the half that the other had written.
    #[test]
    fn two_writers_publish_whole_documents() {
        let dir = folder("writers");
        let path = dir.join("state.json");
        // Another process, of the same number in its container, has written half of its document.
        let mut other = Replacement::beside(&path).unwrap();
        other.write_all(b"the other's ").unwrap();
        replace_file(&path, b"ours").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"ours");
        other.write_all(b"document").unwrap();
        other.publish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"the other's document");
        assert_eq!(names(&dir), 1, "nothing is left beside it");
        fs::remove_dir_all(&dir).unwrap();
    }

    /// Issue 19: what another process had begun to write lost its name.
    #[test]
    fn what_has_a_writer_keeps_its_name() {
        let dir = folder("has-writer");
        let path = dir.join("r.arrow");
        let late = Replacement::alike(&path).unwrap().unwrap();
        let writer = File::create(&path).unwrap();
        writer.try_lock().unwrap();
        assert_eq!(Replacement::alike(&path).unwrap_err(), HasWriter);
        assert_eq!(late.publish().unwrap_err().kind(), io::ErrorKind::ResourceBusy);
        drop(writer);
        let replacement = Replacement::alike(&path).unwrap().unwrap();
        let second = File::open(&path).unwrap().try_lock();
        assert!(second.is_err(), "it is not to be written meanwhile");
        let other = Replacement::alike(&path).unwrap().unwrap();
        replacement.publish().unwrap();
        other.publish().expect("the later document stays");
        fs::remove_file(&path).unwrap();
        // To open a pipe would be to wait for its writer.
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(Replacement::alike(&path).unwrap().is_none());
        assert_eq!(names(&dir), 1);
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn what_is_not_published_goes() {
        let dir = folder("unpublished");
        let path = dir.join("state.json");
        fs::write(&path, "old").unwrap();
        let mut half = Replacement::beside(&path).unwrap();
        half.write_all(b"half").unwrap();
        assert_eq!(names(&dir), 2);
        drop(half);
        assert_eq!((fs::read(&path).unwrap(), names(&dir)), (b"old".to_vec(), 1));
        let part = Replacement::alike(&path).unwrap().unwrap();
        let folder = part.new.part().parent().map(Path::to_owned);
        assert_eq!(folder.as_deref(), path.canonicalize().unwrap().parent(), "one file system");
        drop(part);
        assert_eq!((fs::read(&path).unwrap(), names(&dir)), (b"old".to_vec(), 1));
        fs::remove_dir_all(&dir).unwrap();
    }
}
