//! `writer`: the writer of each encoding. It opens no file: the output is the caller's.

use std::io::Write;

use crate::csv::CsvWriter;
use crate::gob::GobWriter;
use crate::json::JsonWriter;
use crate::native::{ArrowWriter, ParquetWriter};
use crate::write::{Output, StreamInfo, Writer};
use crate::zone::Zone;
use crate::{Encoding, Format, WriteError};

/// A writer of this format. The beginning of the stream is written at once.
///
/// # Errors
/// The output refuses the first bytes.
pub fn writer(
    format: impl Into<Format>,
    output: Box<dyn Write + Send>,
    info: &StreamInfo,
) -> Result<Box<dyn Writer>, WriteError> {
    let Format { encoding, compression } = format.into();
    let output = Output::new(output, compression);
    let attack = &info.attack;
    Ok(match encoding {
        Encoding::Arrow => Box::new(ArrowWriter::new(output, info)?),
        Encoding::Parquet => Box::new(ParquetWriter::new(output, info)?),
        Encoding::Csv => Box::new(CsvWriter::new(output, attack)),
        Encoding::Json => {
            Box::new(JsonWriter::new(output, attack, Zone::local()).for_bodies(info.bodies))
        }
        Encoding::Gob => Box::new(GobWriter::new(output, attack, Zone::local())),
    })
}
