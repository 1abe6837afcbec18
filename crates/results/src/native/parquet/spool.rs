//! A pipe copied to a file: Parquet can be read only from its end.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::PathBuf;

use crate::source::Fault;

/// Bytes of an input that are copied.
const SPOOL_MAX: u64 = 64 << 30;

/// Copies the input to a temporary file without a name, which is deleted with the process.
pub(super) fn spool(input: impl Read) -> Result<File, Fault> {
    let (path, mut file) = nameless()?;
    // No other process opens it, and nothing is left of it when this process is killed.
    fs::remove_file(path)?;
    let len = io::copy(&mut input.take(SPOOL_MAX + 1), &mut file)?;
    if len > SPOOL_MAX {
        return Err(Fault::TooLarge { at: 0, what: "a file", len, max: SPOOL_MAX });
    }
    Ok(file)
}

/// Names tried before giving up.
const NAMES_MAX: u32 = 1000;

fn nameless() -> io::Result<(PathBuf, File)> {
    let (folder, process) = (std::env::temp_dir(), std::process::id());
    for number in 0..NAMES_MAX {
        let path = folder.join(format!("brunt-{process}-{number}.parquet"));
        let mut options = File::options();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.read(true).write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return Ok((path, opened?)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
