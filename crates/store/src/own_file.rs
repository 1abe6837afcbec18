//! Files of a run's folder, opened to be read. A run may come from another machine, so its folder may hold anything: a link that leads
//! out of it, a pipe without a writer, a file without end. None of these is opened or waited for.

use std::fs::{DirBuilder, File};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::OFlag;

use crate::error::StoreError;

/// Bytes of a manifest, at most. A command line has 2 MB of arguments on Linux, and JSON takes six bytes for some characters.
pub(crate) const MANIFEST_BYTES_MAX: u64 = 16 << 20;
/// Bytes of a report, at most.
pub(crate) const DOCUMENT_BYTES_MAX: u64 = 64 << 20;

/// Makes a folder that its owner alone reads: results hold what servers answered, to requests with credentials.
///
/// # Errors
/// The system refuses it.
pub(crate) fn create_folder(path: &Path) -> Result<(), StoreError> {
    DirBuilder::new().mode(0o700).create(path).map_err(StoreError::io(path))
}

/// Opens a regular file of a run's folder.
///
/// # Errors
/// It is none (a link, a pipe, a folder), or the system refuses it.
pub(crate) fn open(path: &Path) -> Result<File, StoreError> {
    let foreign = |found| StoreError::Foreign { path: path.to_owned(), found };
    // A pipe without a writer would be waited for.
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let file = File::options().read(true).custom_flags(flags.bits()).open(path);
    let file = file.map_err(|error| match is_link(&error) {
        true => foreign("a symbolic link"),
        false => StoreError::Io { path: path.to_owned(), error },
    })?;
    let kind = file.metadata().map_err(StoreError::io(path))?.file_type();
    match (kind.is_file(), kind.is_dir()) {
        (true, _) => Ok(file),
        (false, true) => Err(foreign("a folder")),
        (false, false) => Err(foreign("a pipe or a device")),
    }
}

/// Whether a path was not opened because it is a symbolic link: POSIX has `ELOOP` for it, FreeBSD `EMLINK`.
fn is_link(error: &std::io::Error) -> bool {
    let known = [Errno::ELOOP, Errno::EMLINK].map(|errno| errno as i32);
    error.raw_os_error().is_some_and(|number| known.contains(&number))
}

/// Refuses what is there under this path and is no regular file. A file that is missing is none of that.
///
/// # Errors
/// As [`open`].
pub(crate) fn check(path: &Path) -> Result<(), StoreError> {
    match open(path) {
        Err(StoreError::Io { error, .. }) if error.kind() == ErrorKind::NotFound => Ok(()),
        opened => opened.map(drop),
    }
}

/// Reads a regular file of a run's folder, of at most so many bytes.
///
/// # Errors
/// As [`open`], or it is larger.
pub(crate) fn read(path: &Path, bytes_max: u64) -> Result<Vec<u8>, StoreError> {
    let file = open(path)?;
    let mut bytes = Vec::new();
    let read = match file.metadata() {
        // Nothing of it is read.
        Ok(meta) if meta.len() > bytes_max => {
            return Err(StoreError::TooLarge { path: path.to_owned(), bytes_max });
        }
        Ok(_) => file.take(bytes_max + 1).read_to_end(&mut bytes),
        Err(error) => Err(error),
    };
    read.map_err(StoreError::io(path))?;
    if bytes.len() as u64 > bytes_max {
        // It grew meanwhile.
        return Err(StoreError::TooLarge { path: path.to_owned(), bytes_max });
    }
    Ok(bytes)
}
