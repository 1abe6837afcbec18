//! Parquet, with Snappy. It can be read only from its end, so a pipe is first copied to a file without a name.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::PathBuf;

use arrow_array::RecordBatch;
use metrics::server::Row;
use metrics::tally::Assertion;
use metrics::{Batch, Generator, TargetTable};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use super::columns::Columns;
use super::ipc::{guarded, refused};
use super::rows::Rows;
use super::schema;
use crate::feed::Feed;
use crate::labels::Labels;
use crate::note;
use crate::source::{Fault, Source, Step};
use crate::write::Output;
use crate::{Detail, Encoding, StreamInfo, WriteError, Writer};

/// Rows of one group, which is held in memory until it is whole.
const GROUP_ROWS: usize = 256 << 10;
/// Columns whose values hardly repeat: a dictionary of them costs time and saves no room.
const UNIQUE: [&str; 6] = ["seq", "timestamp", "latency", "service", "sent", "first_byte"];
/// Rows decoded at once.
const READ_ROWS: usize = 16 << 10;
/// Bytes of an input that are copied to a file of our own.
const SPOOL_MAX: u64 = 64 << 30;

/// Writes Parquet.
pub(crate) struct ParquetWriter {
    file: ArrowWriter<Output>,
    columns: Columns,
    epoch: i64,
}

impl ParquetWriter {
    pub(crate) fn new(output: Output, info: &StreamInfo) -> Result<Self, WriteError> {
        let columns = Columns::new(info);
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(GROUP_ROWS));
        for column in UNIQUE {
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(column), false);
        }
        let schema = columns.schema();
        let file = ArrowWriter::try_new(output, schema, Some(properties.build()));
        Ok(Self { file: file.map_err(file_refused)?, columns, epoch: info.epoch })
    }

    fn write_columns(&mut self) -> Result<(), WriteError> {
        if self.columns.is_empty() {
            return Ok(());
        }
        let batch = self.columns.take().map_err(refused)?;
        self.file.write(&batch).map_err(file_refused)
    }
}

/// What the Parquet library could not write.
fn file_refused(error: ParquetError) -> WriteError {
    let encode = |reason| WriteError::Encode { encoding: Encoding::Parquet, reason };
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => WriteError::from(*error),
            Err(source) => encode(source.to_string()),
        },
        error => encode(error.to_string()),
    }
}

impl Writer for ParquetWriter {
    fn batch(&mut self, batch: &Batch, targets: &TargetTable) -> Result<(), WriteError> {
        for sample in &batch.samples {
            self.columns.push_hit(sample, batch, targets);
            if self.columns.is_full() {
                self.write_columns()?;
            }
        }
        Ok(())
    }

    fn generator(&mut self, generator: &Generator) -> Result<(), WriteError> {
        let now = self.epoch.saturating_add_unsigned(generator.wall.0);
        self.columns.push_note(&note::encode(generator), now);
        Ok(())
    }

    fn server(&mut self, row: &Row) -> Result<(), WriteError> {
        self.columns.push_server(row);
        if self.columns.is_full() { self.write_columns() } else { Ok(()) }
    }

    fn assertion(&mut self, assertion: &Assertion, at: i64) -> Result<(), WriteError> {
        self.columns.push_assertion(assertion, at);
        if self.columns.is_full() { self.write_columns() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        // A group ends by its size; without its footer the file cannot be read anyhow.
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<u64, WriteError> {
        self.write_columns()?;
        let mut output = self.file.into_inner().map_err(file_refused)?;
        output.flush()?;
        Ok(output.bytes())
    }
}

/// Reads Parquet.
pub(crate) struct ParquetSource {
    batches: ParquetRecordBatchReader,
    rows: Option<Rows>,
    detail: Detail,
}

impl ParquetSource {
    pub(crate) fn open(feed: Feed) -> Result<Self, Fault> {
        let file = spool(feed.into_read())?;
        let opened = guarded(|| {
            let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
            let detail = schema::detail(builder.schema());
            Ok((detail, builder.with_batch_size(READ_ROWS).build()?))
        });
        let (detail, batches) = opened.map_err(corrupt)?;
        Ok(Self { batches, rows: None, detail })
    }
}

fn corrupt(reason: String) -> Fault {
    Fault::Corrupt { at: 0, reason }
}

impl Source for ParquetSource {
    fn next(&mut self, batch: &mut Batch, labels: &mut Labels) -> Result<Step, Fault> {
        batch.clear();
        loop {
            if let Some(rows) = &mut self.rows {
                if let Some(step) = rows.next(batch, labels).map_err(corrupt)? {
                    return Ok(step);
                }
                self.rows = None;
            }
            let batches = &mut self.batches;
            let found: Option<RecordBatch> =
                guarded(|| batches.next().transpose()).map_err(corrupt)?;
            let Some(found) = found else { return Ok(Step::End) };
            self.rows = Some(guarded(|| Rows::new(&found)).map_err(corrupt)?);
        }
    }

    fn detail(&self) -> Detail {
        self.detail
    }
}

/// Copies the input to a file that nobody else sees and that goes with us.
fn spool(input: impl Read) -> Result<File, Fault> {
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
