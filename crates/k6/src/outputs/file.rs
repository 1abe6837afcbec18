//! `SampleFile`: where JSON and CSV go: a file that has one writer, compressed where its name ends so, or standard output.

use std::io::{self, BufWriter, Write};

use cli::Output;
use results::{Encoding, Format};
use stdx::Compressor;

use crate::error::K6Error;

/// The file of an output.
pub(super) struct SampleFile(Compressor<BufWriter<Box<dyn Write + Send>>>);

impl SampleFile {
    /// Opens the output of this name, for text of this encoding: `-` and, as in k6, no other word is standard output.
    ///
    /// # Errors
    /// It cannot be written, has a writer already, or its name stands for something else.
    pub(super) fn open(name: &str, encoding: Encoding) -> Result<Self, K6Error> {
        let compression = Format::of_text(name, encoding);
        let compression = compression.map_err(|wrong| K6Error::other(wrong.to_string()))?;
        let place = match name {
            "-" | "/dev/stdout" => Output::Stdout,
            _ => Output::File(name.to_owned()),
        };
        let opened = place.open().map_err(|failed| K6Error::other(failed.to_string()))?;
        Ok(Self(Compressor::new(compression, BufWriter::new(opened))))
    }

    /// Writes what is left, and the end of what is compressed.
    ///
    /// # Errors
    /// The place cannot be written.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.0.finish()
    }
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
