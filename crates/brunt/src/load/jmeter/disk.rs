//! `PlanDisk`: files that threads read and write.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use jmeter::{Base, Disk};
use jmx::Writing;
use nix::fcntl::OFlag;

/// The files of a run.
#[derive(Debug)]
pub(super) struct PlanDisk {
    /// The plan's folder.
    pub(super) folder: PathBuf,
}

/// Bytes of a file at most: 512 MiB.
const FILE_MAX: u64 = 512 << 20;

impl Disk for PlanDisk {
    fn read(&self, path: &str, base: Base) -> Option<Vec<u8>> {
        let path = match base {
            Base::Plan => self.folder.join(path),
            Base::Work => PathBuf::from(path),
        };
        let meta = std::fs::metadata(&path).ok().filter(|meta| meta.is_file())?;
        (meta.len() <= FILE_MAX).then(|| std::fs::read(&path).ok()).flatten()
    }

    fn write(&self, path: &str, bytes: &[u8], how: Writing) -> bool {
        let file = open(Path::new(path), how);
        file.and_then(|mut file| file.write_all(bytes)).is_ok()
    }
}

/// Opens a file to be written; a link in its place is not followed.
pub(super) fn open(path: &Path, how: Writing) -> std::io::Result<std::fs::File> {
    let mut options = OpenOptions::new();
    options.create(true).custom_flags(OFlag::O_NOFOLLOW.bits());
    match how {
        Writing::Append => options.append(true),
        Writing::Replace => options.write(true).truncate(true),
    };
    options.open(path)
}
