//! `Writer`: rows in, bytes out, in any encoding, and the output that each writes to. It never waits for time to pass; the
//! caller says when to flush.

use std::io::{self, BufWriter, Write};

use metrics::server::Row;
use metrics::tally::Assertion;
use metrics::{Batch, Generator, Sample, TargetTable};
use stdx::{Compression, Compressor};

use crate::WriteError;

/// What a stream says of itself before its first row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamInfo {
    /// The version of brunt that writes.
    pub version: String,
    /// Unix time of the run's start, in nanoseconds; 0 where there was no run (`encode`).
    pub epoch: i64,
    /// The attack's name; also that of rows that belong to no target.
    pub attack: String,
    /// The seed of the run's random choices.
    pub seed: u64,
    /// How much is known of each hit.
    pub detail: Detail,
    /// Whether hits have tags of a script; without, the native encodings have no column for them.
    pub has_tags: bool,
    /// It goes into a pipe, whose reader may end before the last row.
    pub is_piped: bool,
    /// Whether rows may have no body.
    pub bodies: Bodies,
    /// Further keys and values, for the native encodings.
    pub metadata: Vec<(String, String)>,
}

/// How much is known of each hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Every time of the sample was measured.
    #[default]
    Full,
    /// Only start and end, as in Vegeta's encodings: `sent` equals `intended`, `first_byte` equals `done`, and there is
    /// no service time to speak of.
    StartAndEnd,
}

/// Whether rows may have no body, which is not the same as an empty one in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bodies {
    /// An empty one is taken for none.
    #[default]
    MayBeMissing,
    /// Each row has one, as in CSV, which has a column for it.
    Present,
}

/// Rows in, bytes out.
pub trait Writer: Send {
    /// Adds the batch's rows. They may stay in memory until [`Writer::flush`], up to a limit of the encoding's.
    ///
    /// # Errors
    /// The output refuses; nothing more can be written.
    fn batch(&mut self, batch: &Batch, targets: &TargetTable) -> Result<(), WriteError>;

    /// Adds the generator's view of itself so far; each replaces the one before. Vegeta's encodings have no room for it.
    ///
    /// # Errors
    /// As [`Writer::batch`].
    fn generator(&mut self, generator: &Generator) -> Result<(), WriteError>;

    /// Adds a row of the server's side. Vegeta's encodings have no room for it.
    ///
    /// # Errors
    /// As [`Writer::batch`].
    fn server(&mut self, row: &Row) -> Result<(), WriteError>;

    /// Adds a threshold or a check of a script, judged at this Unix time (ns). Vegeta's encodings have no room for it.
    ///
    /// # Errors
    /// As [`Writer::batch`].
    fn assertion(&mut self, _assertion: &Assertion, _at: i64) -> Result<(), WriteError> {
        Ok(())
    }

    /// Hands everything added so far to the system, as far as the encoding can be read in parts (Parquet cannot).
    ///
    /// # Errors
    /// As [`Writer::batch`].
    fn flush(&mut self) -> Result<(), WriteError>;

    /// Writes the end of the stream; returns the total of bytes written, before they were compressed.
    ///
    /// # Errors
    /// As [`Writer::batch`].
    fn finish(self: Box<Self>) -> Result<u64, WriteError>;
}

/// When a hit was due, as Unix time in nanoseconds.
pub(crate) fn unix_ns(batch: &Batch, sample: &Sample) -> i64 {
    batch.epoch.saturating_add_unsigned(sample.intended.0)
}

/// A buffered output that counts its bytes, and may compress them.
pub(crate) struct Output {
    inner: BufWriter<Compressor<Box<dyn Write + Send>>>,
    bytes: u64,
}

/// Bytes buffered before they are handed to the system.
const OUTPUT_BUFFER: usize = 256 << 10;

impl Output {
    pub(crate) fn new(inner: Box<dyn Write + Send>, compression: Compression) -> Self {
        let inner = Compressor::new(compression, inner);
        Self { inner: BufWriter::with_capacity(OUTPUT_BUFFER, inner), bytes: 0 }
    }

    /// Hands over what is left, and the end of what is compressed; returns the bytes written.
    pub(crate) fn finish(&mut self) -> io::Result<u64> {
        self.inner.flush()?;
        self.inner.get_mut().finish()?;
        Ok(self.bytes)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
