//! A file with two names: what a run is to leave in two places is written once. It is read-only, so that another program is not
//! misled to write into what the other name stands for; what is written to one of the names later is a file of its own.

use std::fs::{self, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use stdx::private_file::{ALL_AS_MASKED, NewFile};

/// Why there is no file with both names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unshared {
    /// The first name is that of a file with a writer.
    HasWriter,
    /// They are to be two files.
    NotPossible,
}

/// A new empty file of these two names, locked as long as it is open. What was there under the first name is replaced; the second is
/// the name of no file yet.
///
/// # Errors
/// There is none; what was there is as it was.
pub(crate) fn create(name: &Path, other: &Path) -> Result<File, Unshared> {
    if !may_be_replaced(name)? {
        return Err(Unshared::NotPossible);
    }
    make(name, other).map_err(|_| Unshared::NotPossible)
}

/// Whether a name is that of a file that [`create`] made, which has the other name still.
pub(crate) fn is_shared(name: &Path) -> bool {
    let is_ours = |meta: &fs::Metadata| {
        meta.is_file() && meta.nlink() > 1 && meta.permissions().mode() & WRITE_BITS == 0
    };
    fs::symlink_metadata(name).is_ok_and(|meta| is_ours(&meta))
}

fn make(name: &Path, other: &Path) -> io::Result<File> {
    let beside = NewFile::beside(name, ALL_AS_MASKED)?;
    let file = beside.file().try_clone()?;
    file.try_lock().map_err(|_| io::ErrorKind::ResourceBusy)?;
    let own = file.metadata()?;
    // Who could not read the file that was there cannot read this one.
    let there = fs::symlink_metadata(name).unwrap_or_else(|_| own.clone());
    if there.uid() != own.uid() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    // On another file system this fails, and the new file goes.
    fs::hard_link(beside.part(), other)?;
    let read_only = there.permissions().mode() & !WRITE_BITS;
    let named =
        file.set_permissions(Permissions::from_mode(read_only)).and_then(|()| beside.publish());
    if let Err(error) = named {
        fs::remove_file(other).ok();
        return Err(error);
    }
    Ok(file)
}

/// Whether a name is free, or that of a plain file which has no other, or one that was made here.
fn may_be_replaced(name: &Path) -> Result<bool, Unshared> {
    let Ok(meta) = fs::symlink_metadata(name) else { return Ok(true) };
    if !meta.is_file() || (meta.nlink() > 1 && !is_shared(name)) {
        return Ok(false);
    }
    match File::open(name).map(|file| file.try_lock_shared()) {
        Ok(Err(TryLockError::WouldBlock)) => Err(Unshared::HasWriter),
        _ => Ok(is_shared(name) || !meta.permissions().readonly()),
    }
}

const WRITE_BITS: u32 = 0o222;

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn what_is_written_once_has_both_names() {
        let folder = tempfile::tempdir().unwrap();
        let [name, other] = ["results", "stored"].map(|name| folder.path().join(name));
        fs::write(&name, "old").unwrap();
        fs::set_permissions(&name, Permissions::from_mode(0o640)).unwrap();
        let mut file = create(&name, &other).unwrap();
        assert_eq!(fs::metadata(&name).unwrap().permissions().mode() & 0o777, 0o440);
        file.write_all(b"rows").unwrap();
        assert_eq!(create(&name, &folder.path().join("more")).unwrap_err(), Unshared::HasWriter);
        drop(file);
        assert!(is_shared(&name) && is_shared(&other));
        assert_eq!(fs::read(&other).unwrap(), b"rows");
        assert_eq!(fs::metadata(&name).unwrap().ino(), fs::metadata(&other).unwrap().ino());
        // The next run has the name, and the store what it had.
        let next = folder.path().join("next");
        create(&name, &next).unwrap().write_all(b"more").unwrap();
        assert_eq!(
            (fs::read(&other).unwrap(), fs::read(&next).unwrap()),
            (b"rows".into(), b"more".into())
        );
        assert!(!is_shared(&other), "it has one name left");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "nothing else is left");
    }

    #[test]
    fn what_is_no_plain_file_of_its_own_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let [name, other, link] = ["a", "b", "link"].map(|name| folder.path().join(name));
        fs::write(&name, "old").unwrap();
        std::os::unix::fs::symlink(&name, &link).unwrap();
        let stored = folder.path().join("stored");
        assert_eq!(create(&link, &stored).unwrap_err(), Unshared::NotPossible);
        fs::hard_link(&name, &other).unwrap();
        assert_eq!(create(&name, &stored).unwrap_err(), Unshared::NotPossible);
        assert_eq!(create(Path::new("/dev/null"), &stored).unwrap_err(), Unshared::NotPossible);
        let nowhere = folder.path().join("no/folder");
        assert_eq!(create(&folder.path().join("c"), &nowhere).unwrap_err(), Unshared::NotPossible);
        assert_eq!(fs::read(&other).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }
}
