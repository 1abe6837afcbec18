//! The Parquet writer: row groups of the columns of a result stream, compressed with Snappy. Its footer has the schema of Arrow
//! as well, as that of every Arrow writer, so that an Arrow reader restores its own types.

use std::io;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes as Shared;
use metrics::server::Row;
use metrics::tally::Assertion;
use metrics::{Batch, Generator, TargetTable};
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};

use super::checksums::{self, Summed};
use crate::native::array::{Array, Bitmap, Values};
use crate::native::columns::Columns;
use crate::native::message::encode_schema;
use crate::native::record_batch::RecordBatch;
use crate::native::schema::{DataType, Field, Schema};
use crate::note::NoteWriter;
use crate::write::Output;
use crate::{Encoding, StreamInfo, WriteError, Writer};

/// The key of the schema of Arrow in the footer.
pub(super) const ARROW_SCHEMA: &str = "ARROW:schema";
/// Rows of one group, which is in memory until it is complete.
const GROUP_ROWS: usize = 256 << 10;
/// Bytes of bodies, headers and notes of one group, but for the last message's.
const GROUP_BYTES: usize = 64 << 20;
/// A group has the limit of the process by this number, at most.
const GROUP_PARTS: usize = 64;
/// Columns with values that hardly repeat: a dictionary of them costs time and saves no room.
const UNIQUE: [&str; 6] = ["seq", "timestamp", "latency", "service", "sent", "first_byte"];

/// Writes Parquet.
pub(crate) struct ParquetWriter {
    file: SerializedFileWriter<Summed>,
    /// The checksums of the groups that are written.
    checksums: Vec<String>,
    columns: Columns,
    /// The rows of the group that is not yet written.
    batches: Vec<RecordBatch>,
    rows: usize,
    bytes: usize,
    notes: NoteWriter,
    epoch: i64,
}

impl ParquetWriter {
    pub(crate) fn new(output: Output, info: &StreamInfo) -> Result<Self, WriteError> {
        let columns = Columns::new(info);
        let schema = columns.schema();
        let arrow = KeyValue::new(ARROW_SCHEMA.to_owned(), STANDARD.encode(encode_schema(&schema)));
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(vec![arrow]));
        for column in UNIQUE {
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(column), false);
        }
        let root = root(&schema).map_err(refused)?;
        let output = Summed::new(output);
        let file = SerializedFileWriter::new(output, Arc::new(root), Arc::new(properties.build()));
        Ok(Self {
            file: file.map_err(refused)?,
            checksums: Vec::new(),
            columns,
            batches: Vec::new(),
            rows: 0,
            bytes: 0,
            notes: NoteWriter::default(),
            epoch: info.epoch,
        })
    }

    fn write_columns(&mut self) -> Result<(), WriteError> {
        if self.columns.is_empty() {
            return Ok(());
        }
        let batch = self.columns.take();
        if self.rows + batch.rows > GROUP_ROWS {
            self.write_group()?;
        }
        self.rows += batch.rows;
        self.bytes += batch.columns.iter().map(|column| blob_bytes(&column.array)).sum::<usize>();
        self.batches.push(batch);
        if self.bytes >= stdx::within_memory(GROUP_BYTES, GROUP_PARTS) {
            self.write_group()
        } else {
            Ok(())
        }
    }

    /// Writes the rows at hand as a group.
    fn write_group(&mut self) -> Result<(), WriteError> {
        let batches = std::mem::take(&mut self.batches);
        (self.rows, self.bytes) = (0, 0);
        if batches.is_empty() {
            return Ok(());
        }
        let schema = self.columns.schema();
        // What the library has buffered is not of this group.
        self.file.flush()?;
        self.file.inner_mut().begin_group();
        let mut group = self.file.next_row_group().map_err(refused)?;
        for (number, field) in schema.fields.iter().enumerate() {
            let Some(mut column) = group.next_column().map_err(refused)? else { break };
            for batch in &batches {
                write_column(&mut column, &batch.columns[number].array, field.is_nullable)
                    .map_err(refused)?;
            }
            column.close().map_err(refused)?;
        }
        group.close().map_err(refused)?;
        self.file.flush()?;
        self.checksums.push(self.file.inner().group_sum());
        Ok(())
    }
}

fn blob_bytes(array: &Array) -> usize {
    if let Values::Bytes(bytes) = &array.values { bytes.bytes.len() } else { 0 }
}

/// The schema in Parquet's types.
fn root(schema: &Schema) -> Result<Type, ParquetError> {
    let fields = schema.fields.iter().map(|field| column_type(field).map(Arc::new));
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder("arrow_schema").with_fields(fields).build()
}

fn column_type(field: &Field) -> Result<Type, ParquetError> {
    let (physical, logical) = match &field.data_type {
        DataType::Boolean => (Physical::BOOLEAN, None),
        DataType::Int(64, true) => (Physical::INT64, None),
        DataType::Int(64, false) => (Physical::INT64, Some(LogicalType::integer(64, false))),
        DataType::Int(bits, is_signed) => {
            (Physical::INT32, Some(LogicalType::integer(*bits as i8, *is_signed)))
        }
        DataType::Timestamp(zone) => {
            (Physical::INT64, Some(LogicalType::timestamp(zone.is_some(), TimeUnit::NANOS)))
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Dictionary(..) => {
            (Physical::BYTE_ARRAY, Some(LogicalType::String))
        }
        DataType::Binary | DataType::Other(..) => (Physical::BYTE_ARRAY, None),
    };
    let repetition = if field.is_nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    Type::primitive_type_builder(&field.name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .build()
}

/// Writes the rows of one batch into a column.
fn write_column(
    column: &mut SerializedColumnWriter<'_>,
    array: &Array,
    is_nullable: bool,
) -> Result<(), ParquetError> {
    let valid = array.valid.as_ref();
    let rows = is_nullable.then_some(valid);
    match &array.values {
        Values::UInt8(values) => {
            let values = values.iter().map(|value| i32::from(*value));
            write::<Int32Type>(column, values.collect(), rows)
        }
        Values::UInt16(values) => {
            let values = values.iter().map(|value| i32::from(*value));
            write::<Int32Type>(column, values.collect(), rows)
        }
        Values::UInt32(values) => {
            let values = values.iter().map(|value| value.cast_signed());
            write::<Int32Type>(column, values.collect(), rows)
        }
        Values::UInt64(values) => {
            let values = values.iter().map(|value| value.cast_signed());
            write::<Int64Type>(column, values.collect(), rows)
        }
        Values::Int64(values) => write::<Int64Type>(column, values.clone(), rows),
        Values::Boolean(values) => write::<BoolType>(column, values.iter().collect(), rows),
        Values::Bytes(bytes) => {
            let all = Shared::copy_from_slice(&bytes.bytes);
            let values = bytes.offsets.windows(2);
            let values = values.map(|ends| ByteArray::from(all.slice(ends[0]..ends[1])));
            write::<ByteArrayType>(column, values.collect(), rows)
        }
        Values::Dictionary { keys, texts } => {
            let Values::Bytes(texts) = &texts.values else { return Ok(()) };
            let all = Shared::copy_from_slice(&texts.bytes);
            let texts: Vec<ByteArray> = texts
                .offsets
                .windows(2)
                .map(|ends| ByteArray::from(all.slice(ends[0]..ends[1])))
                .collect();
            let values = keys.iter().map(|key| texts[*key as usize].clone());
            write::<ByteArrayType>(column, values.collect(), rows)
        }
        Values::Unknown => Ok(()),
    }
}

/// Writes values; `nulls` is given for a column that may have them, and within it the rows that are not null.
fn write<T: parquet::data_type::DataType>(
    column: &mut SerializedColumnWriter<'_>,
    mut values: Vec<T::T>,
    nulls: Option<Option<&Bitmap>>,
) -> Result<(), ParquetError> {
    let levels = nulls.map(|valid| match valid {
        Some(valid) => valid.iter().map(i16::from).collect(),
        None => vec![1i16; values.len()],
    });
    if let Some(Some(valid)) = nulls {
        let mut rows = valid.iter();
        values.retain(|_| rows.next().unwrap_or(false));
    }
    column.typed::<T>().write_batch(&values, levels.as_deref(), None).map(|_| ())
}

/// What the Parquet library could not write.
fn refused(error: ParquetError) -> WriteError {
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
        self.columns.push_note(&self.notes.encode(generator), now);
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
        self.write_group()?;
        self.file.append_key_value_metadata(checksums::of_groups(&self.checksums));
        self.file.append_key_value_metadata(checksums::blank_of_footer());
        self.file.flush()?;
        self.file.inner_mut().hold();
        let output = self.file.into_inner().map_err(refused)?;
        let mut output = output.seal()?;
        Ok(output.finish()?)
    }
}
