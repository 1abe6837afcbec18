//! `SampleFile`: where JSON and CSV go: a file that has one writer, compressed where its name ends so, or standard output.

use std::io::{self, BufWriter, Write};

use cli::Output;
use stdx::{Compression, Compressor};

use crate::error::K6Error;

/// The file of an output.
pub(super) struct SampleFile(Compressor<BufWriter<Box<dyn Write + Send>>>);

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
        Ok(Self(Compressor::new(compression_of(name), BufWriter::new(opened))))
    }

    /// Writes what is left, and the end of what is compressed.
    ///
    /// # Errors
    /// The place cannot be written.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.0.finish()
    }
}

/// What a file of this name is compressed with.
pub(crate) fn compression_of(name: &str) -> Compression {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    Compression::of_ending(ending)
}

impl Write for SampleFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    /// Hands over all that was written, so that it can be read if this process is killed now.
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
