//! `SampleFile`: where JSON and CSV go: a file that has one writer, compressed where its name ends so, or standard output.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use cli::Output;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::error::K6Error;

type Plain = BufWriter<Box<dyn Write + Send>>;

/// The file of an output.
pub(super) enum SampleFile {
    Plain(Plain),
    Gzip(GzEncoder<Plain>),
}

impl SampleFile {
    /// Opens the output of this name: `-` and, as in k6, no other word is standard output.
    ///
    /// # Errors
    /// It cannot be written, or has a writer already.
    pub(super) fn open(name: &str) -> Result<Self, K6Error> {
        let place = match name {
            "-" | "/dev/stdout" => Output::Stdout,
            _ => Output::File(name.to_owned()),
        };
        let opened = place.open().map_err(|failed| K6Error::other(failed.to_string()))?;
        let file = BufWriter::new(opened);
        let is_gzip = Path::new(name).extension().is_some_and(|ending| ending == "gz");
        Ok(match is_gzip {
            true => Self::Gzip(GzEncoder::new(file, Compression::default())),
            false => Self::Plain(file),
        })
    }

    /// Writes what is left, and the end of what is compressed.
    ///
    /// # Errors
    /// The place cannot be written.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(file) => file.flush(),
            Self::Gzip(file) => {
                file.try_finish()?;
                file.get_mut().flush()
            }
        }
    }
}

impl Write for SampleFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.write(bytes),
            Self::Gzip(file) => file.write(bytes),
        }
    }

    /// Hands over all that was written, so that it can be read if this process is killed now.
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(file) => file.flush(),
            Self::Gzip(file) => file.flush(),
        }
    }
}
