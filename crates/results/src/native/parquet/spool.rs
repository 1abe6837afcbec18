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
    let copied = io::copy(&mut input.take(SPOOL_MAX + 1), &mut file);
    fs::remove_file(path)?;
    let len = copied?;
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
        match File::options().read(true).write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return Ok((path, opened?)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
