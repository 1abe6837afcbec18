//! `FleetLock`: one process at a time holds a fleet's folder.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::error::ControlError;

/// The file that is locked. It stays: a name that comes and goes could be locked twice.
const FILE: &str = "lock";

/// The folder is this process's until it is dropped, however the process ends.
#[derive(Debug)]
pub(super) struct FleetLock {
    _file: File,
}

impl FleetLock {
    /// Takes the folder; `None` where another process has it.
    pub(super) fn try_take(dir: &Path) -> Result<Option<Self>, ControlError> {
        let path = dir.join(FILE);
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = file.map_err(|error| ControlError::file(&path, error))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(ControlError::file(&path, error)),
        }
    }
}
