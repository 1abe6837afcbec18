//! Parquet read: the columns that a result stream has, a stretch of rows at a time.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType as ParquetType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use super::checksums::{self, Checksums};
use super::pages;
use super::spool::spool;
use super::write::ARROW_SCHEMA;
use crate::Detail;
use crate::feed::Feed;
use crate::labels::Labels;
use crate::native::array::{Array, Bitmap, Bytes, Values};
use crate::native::guard::guarded;
use crate::native::message::decode_schema;
use crate::native::record_batch::{Column, RecordBatch};
use crate::native::rows::{RowStep, Rows};
use crate::native::schema::{DataType, Field, Schema, is_ours};
use crate::note::NoteReader;
use crate::source::{Fault, Source, Step};
use metrics::Batch;

/// Where the footer is missing: the writer was killed, or its disk was full.
const CUT_OFF: &str =
    "its writer was cut off before it wrote the footer, without which no row can be read";
/// Rows decoded at once.
const READ_ROWS: usize = 16 << 10;

/// Reads Parquet.
pub(crate) struct ParquetSource {
    file: SerializedFileReader<File>,
    /// The same file, whose pages are looked at before they are decoded.
    pages: File,
    checksums: Checksums,
    /// The next row group.
    group: usize,
    /// Rows of the current group that were not read.
    left: usize,
    columns: Vec<OpenColumn>,
    rows: Option<Rows>,
    detail: Detail,
    has_tags: bool,
    epoch: Option<i64>,
    notes: NoteReader,
}

/// A column of the current row group.
struct OpenColumn {
    name: String,
    data_type: DataType,
    /// The level of a value that is there; 0 where every one is.
    level: i16,
    /// `None` for a type that no column of ours has.
    reader: Option<ColumnReader>,
}

impl ParquetSource {
    pub(crate) fn open(feed: Feed) -> Result<Self, Fault> {
        let file = spool(feed.into_read())?;
        if !ends_with_mark(&file)? {
            return Err(Fault::Corrupt { at: 0, reason: CUT_OFF.to_owned() });
        }
        let pages = file.try_clone().map_err(Fault::Io)?;
        guarded(|| pages::check_footer(&pages)).map_err(corrupt)?;
        let has_checksum = checksums::verify_footer(&pages).map_err(corrupt)?;
        let file = guarded(|| SerializedFileReader::new(file)).map_err(corrupt)?;
        let schema = schema(&file);
        let (detail, has_tags, epoch) = (schema.detail(), schema.has_tags(), schema.epoch());
        let checksums = Checksums::of(file.metadata(), has_checksum).map_err(corrupt)?;
        Ok(Self {
            file,
            pages,
            checksums,
            group: 0,
            left: 0,
            columns: Vec::new(),
            rows: None,
            detail,
            has_tags,
            epoch,
            notes: NoteReader::default(),
        })
    }

    /// The next rows; `None` after the last.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, ParquetError> {
        while self.left == 0 {
            if self.group == self.file.num_row_groups() {
                return Ok(None);
            }
            self.open_group()?;
        }
        let rows = self.left.min(READ_ROWS);
        self.left -= rows;
        let columns = self.columns.iter_mut().map(|column| column.read(rows));
        Ok(Some(RecordBatch { rows, columns: columns.collect::<Result<_, _>>()? }))
    }

    fn open_group(&mut self) -> Result<(), ParquetError> {
        let group = self.file.get_row_group(self.group)?;
        self.checksums.verify(self.group, group.metadata(), &self.pages)?;
        self.group += 1;
        let rows = group.metadata().num_rows();
        self.left = usize::try_from(rows).map_err(|_| refused("a negative number of rows"))?;
        self.columns.clear();
        let schema = group.metadata().schema_descr();
        for (number, column) in schema.columns().iter().enumerate() {
            let path = column.path().parts();
            if path.len() != 1 || column.max_rep_level() > 0 || !is_ours(&path[0]) {
                continue;
            }
            let data_type = data_type(column);
            let is_known = !matches!(data_type, DataType::Other(..));
            if is_known {
                let (start, len) = group.metadata().column(number).byte_range();
                pages::check(&self.pages, start, len)?;
            }
            let reader = if is_known { Some(group.get_column_reader(number)?) } else { None };
            let (name, level) = (path[0].clone(), column.max_def_level());
            self.columns.push(OpenColumn { name, data_type, level, reader });
        }
        Ok(())
    }
}

/// Whether a file ends with the mark that follows a footer. The position in the file is as it was.
fn ends_with_mark(mut file: &File) -> Result<bool, Fault> {
    let mut mark = [0; 4];
    let len = file.seek(SeekFrom::End(0)).map_err(Fault::Io)?;
    if len >= 8 {
        file.seek(SeekFrom::End(-4)).map_err(Fault::Io)?;
        file.read_exact(&mut mark).map_err(Fault::Io)?;
    }
    file.seek(SeekFrom::Start(0)).map_err(Fault::Io)?;
    Ok(mark == *b"PAR1" || mark == *b"PARE")
}

/// The schema in the footer, or the names of the columns.
fn schema(file: &SerializedFileReader<File>) -> Schema {
    let metadata = file.metadata().file_metadata();
    let arrow = metadata.key_value_metadata().into_iter().flatten();
    let arrow = arrow.filter(|pair| pair.key == ARROW_SCHEMA).find_map(|pair| {
        let message = STANDARD.decode(pair.value.as_ref()?).ok()?;
        // The mark that every message begins with, and the length of what follows.
        decode_schema(message.get(8..)?).ok()
    });
    arrow.unwrap_or_else(|| {
        let fields = metadata.schema_descr().columns().iter().map(|column| Field {
            name: column.path().parts().first().cloned().unwrap_or_default(),
            data_type: data_type(column),
            is_nullable: column.max_def_level() > 0,
            dictionary: 0,
            children: Vec::new(),
        });
        Schema { fields: fields.collect(), metadata: Vec::new() }
    })
}

/// The type of a column in Arrow's terms.
fn data_type(column: &ColumnDescriptor) -> DataType {
    let (logical, converted) = (column.logical_type_ref(), column.converted_type());
    match (column.physical_type(), logical, converted) {
        (Physical::BOOLEAN, ..) => DataType::Boolean,
        (Physical::INT32 | Physical::INT64, Some(LogicalType::Integer(int)), _) => {
            DataType::Int(int.bit_width.cast_unsigned(), int.is_signed)
        }
        (Physical::INT64, Some(LogicalType::Timestamp(time)), _) => match time.unit {
            TimeUnit::NANOS => {
                DataType::Timestamp(time.is_adjusted_to_u_t_c.then(|| "UTC".to_owned()))
            }
            TimeUnit::MICROS => other("Timestamp(µs)"),
            TimeUnit::MILLIS => other("Timestamp(ms)"),
        },
        (Physical::INT32, None, ConvertedType::UINT_8) => DataType::Int(8, false),
        (Physical::INT32, None, ConvertedType::UINT_16) => DataType::Int(16, false),
        (Physical::INT32, None, ConvertedType::UINT_32) => DataType::Int(32, false),
        (Physical::INT32, None, ConvertedType::NONE) => DataType::Int(32, true),
        (Physical::INT64, None, ConvertedType::UINT_64) => DataType::Int(64, false),
        (Physical::INT64, None, ConvertedType::NONE | ConvertedType::INT_64) => {
            DataType::Int(64, true)
        }
        (Physical::BYTE_ARRAY, Some(LogicalType::String), _)
        | (Physical::BYTE_ARRAY, None, ConvertedType::UTF8) => DataType::Utf8,
        (Physical::BYTE_ARRAY, None, ConvertedType::NONE) => DataType::Binary,
        (Physical::FLOAT, ..) => other("Float32"),
        (Physical::DOUBLE, ..) => other("Float64"),
        (physical, ..) => other(&physical.to_string()),
    }
}

fn other(name: &str) -> DataType {
    DataType::Other(name.to_owned(), 0)
}

fn refused(reason: &str) -> ParquetError {
    ParquetError::General(reason.to_owned())
}

impl OpenColumn {
    /// The next rows of the column.
    fn read(&mut self, rows: usize) -> Result<Column, ParquetError> {
        let (name, data_type) = (self.name.clone(), self.data_type.clone());
        let level = self.level;
        let array = match (&mut self.reader, &data_type) {
            (Some(ColumnReader::BoolColumnReader(reader)), _) => read(reader, rows, level)?
                .map(|values| Values::Boolean(values.into_iter().collect())),
            (Some(ColumnReader::Int32ColumnReader(reader)), DataType::Int(8, false)) => {
                read(reader, rows, level)?
                    .map(|values| Values::UInt8(values.iter().map(|value| *value as u8).collect()))
            }
            (Some(ColumnReader::Int32ColumnReader(reader)), DataType::Int(16, false)) => {
                read(reader, rows, level)?.map(|values| {
                    Values::UInt16(values.iter().map(|value| *value as u16).collect())
                })
            }
            (Some(ColumnReader::Int32ColumnReader(reader)), DataType::Int(32, false)) => {
                let unsigned =
                    |values: Vec<i32>| values.iter().map(|value| value.cast_unsigned()).collect();
                read(reader, rows, level)?.map(|values| Values::UInt32(unsigned(values)))
            }
            (Some(ColumnReader::Int64ColumnReader(reader)), DataType::Int(64, false)) => {
                let unsigned =
                    |values: Vec<i64>| values.iter().map(|value| value.cast_unsigned()).collect();
                read(reader, rows, level)?.map(|values| Values::UInt64(unsigned(values)))
            }
            (
                Some(ColumnReader::Int64ColumnReader(reader)),
                DataType::Int(64, true) | DataType::Timestamp(_),
            ) => read(reader, rows, level)?.map(Values::Int64),
            (Some(ColumnReader::ByteArrayColumnReader(reader)), DataType::Utf8) => {
                let found = read(reader, rows, level)?;
                let data_type =
                    DataType::Dictionary(Box::new(DataType::Int(32, true)), Box::new(data_type));
                return Ok(Column { name, data_type, array: keyed(found)? });
            }
            (Some(ColumnReader::ByteArrayColumnReader(reader)), _) => {
                let found = read(reader, rows, level)?;
                check_sum(&found.values)?;
                found.map(|values| {
                    let mut bytes = Bytes::new();
                    values.iter().for_each(|value| bytes.push(bytes_of(value)));
                    Values::Bytes(bytes)
                })
            }
            _ => ColumnValues { values: Values::Unknown, valid: None },
        };
        Ok(Column { name, data_type, array: Array { values: array.values, valid: array.valid } })
    }
}

/// Bytes of the values of one column that are read at a time, at most: 512 MiB. brunt writes 64 MiB to a group of rows.
const STEP_BYTES_MAX: usize = 512 << 20;

/// Refuses values that a dictionary makes of few bytes in the file: each row would have its own copy.
fn check_sum(values: &[ByteArray]) -> Result<(), ParquetError> {
    let sum: usize = values.iter().map(|value| bytes_of(value).len()).sum();
    if sum <= STEP_BYTES_MAX {
        return Ok(());
    }
    let (rows, mib) = (values.len(), STEP_BYTES_MAX >> 20);
    Err(ParquetError::General(format!("{rows} rows hold more than {mib} MiB of bodies or headers")))
}

/// What was read of a column.
struct ColumnValues<V> {
    values: V,
    valid: Option<Bitmap>,
}

impl<V> ColumnValues<V> {
    fn map<W>(self, convert: impl FnOnce(V) -> W) -> ColumnValues<W> {
        ColumnValues { values: convert(self.values), valid: self.valid }
    }
}

/// Reads so many rows; a null has its type's default.
fn read<T: ParquetType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    level: i16,
) -> Result<ColumnValues<Vec<T::T>>, ParquetError> {
    let (mut values, mut levels, mut count) = (Vec::new(), Vec::new(), 0);
    while count < rows {
        let levels = (level > 0).then_some(&mut levels);
        let (records, ..) = reader.read_records(rows - count, levels, None, &mut values)?;
        if records == 0 {
            return Err(refused("a column with fewer values than rows"));
        }
        count += records;
    }
    if level == 0 {
        return Ok(ColumnValues { values, valid: None });
    }
    let valid: Bitmap = levels.iter().map(|found| *found == level).collect();
    let mut given = values.into_iter();
    let spread = valid.iter().map(|is_valid| {
        let value = if is_valid { given.next() } else { None };
        value.unwrap_or_default()
    });
    Ok(ColumnValues { values: spread.collect(), valid: Some(valid) })
}

/// A value's bytes; a null has none.
fn bytes_of(value: &ByteArray) -> &[u8] {
    // `data` panics on a value that was never set, which the default is.
    if *value == ByteArray::new() { &[] } else { value.data() }
}

/// Texts by their place among the different ones.
fn keyed(found: ColumnValues<Vec<ByteArray>>) -> Result<Array, ParquetError> {
    let mut texts = Bytes::new();
    let mut numbers: HashMap<&[u8], i32> = HashMap::new();
    let mut keys: Vec<i32> = Vec::with_capacity(found.values.len());
    for value in &found.values {
        let text = bytes_of(value);
        let next = texts.len() as i32;
        let key = *numbers.entry(text).or_insert(next);
        if key == next {
            if std::str::from_utf8(text).is_err() {
                return Err(refused("a text that is not UTF-8"));
            }
            texts.push(text);
        }
        keys.push(key);
    }
    let texts = Arc::new(Array::new(Values::Bytes(texts)));
    Ok(Array { values: Values::Dictionary { keys, texts }, valid: found.valid })
}

fn corrupt(reason: String) -> Fault {
    Fault::Corrupt { at: 0, reason }
}

impl Source for ParquetSource {
    fn next(&mut self, batch: &mut Batch, labels: &mut Labels) -> Result<Step, Fault> {
        batch.clear();
        loop {
            if let Some(rows) = &mut self.rows {
                match rows.next(batch, labels).map_err(corrupt)? {
                    Some(RowStep::Step(step)) => return Ok(step),
                    Some(RowStep::Note(note)) => {
                        self.notes.add(note).map_err(corrupt)?;
                        continue;
                    }
                    None => self.rows = None,
                }
            }
            if self.notes.has_new() {
                let last = self.notes.last().map_err(corrupt)?.cloned();
                return Ok(Step::Generator(Box::new(last.unwrap_or_default())));
            }
            let found = guarded(|| self.next_batch()).map_err(corrupt)?;
            let Some(found) = found else { return Ok(Step::End) };
            self.rows = Some(Rows::new(found, self.epoch).map_err(corrupt)?);
        }
    }

    fn detail(&self) -> Detail {
        self.detail
    }

    fn has_tags(&self) -> bool {
        self.has_tags
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dictionary_makes_no_more_of_a_column_than_fits() {
        let value = ByteArray::from(vec![b'x'; 1 << 20]);
        let rows = |count: usize| vec![value.clone(); count];
        assert!(check_sum(&rows(512)).is_ok());
        let error = check_sum(&rows(513)).unwrap_err().to_string();
        assert!(error.ends_with("513 rows hold more than 512 MiB of bodies or headers"), "{error}");
    }
}
