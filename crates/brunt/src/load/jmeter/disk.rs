//! `PlanDisk`: files that threads read and write.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use jmeter::{Base, Disk};
use jmx::Writing;
use nix::fcntl::OFlag;

use super::doors::PlanFolder;

/// The files of a run.
#[derive(Debug)]
pub(super) struct PlanDisk {
    /// The plan's folder.
    pub(super) folder: PlanFolder,
}

impl Disk for PlanDisk {
    fn read(&self, path: &str, base: Base) -> Option<Vec<u8>> {
        match base {
            Base::Plan => self.folder.read_beside(path),
            Base::Work => self.folder.read(Path::new(path)),
        }
    }

    fn write(&self, path: &str, bytes: &[u8], how: Writing) -> bool {
        let file = self.folder.open(path, how);
        file.is_some_and(|mut file| file.write_all(bytes).is_ok())
    }
}

/// Opens a file that the command line names; a link in its place is not followed.
pub(super) fn open(path: &Path, how: Writing) -> std::io::Result<std::fs::File> {
    let mut options = OpenOptions::new();
    options.create(true).custom_flags(OFlag::O_NOFOLLOW.bits());
    match how {
        Writing::Append => options.append(true),
        Writing::Replace => options.write(true).truncate(true),
    };
    options.open(path)
}
