//! Messages of the Arrow IPC format: schemas, dictionaries and record batches, to and from their bytes. Reading trusts no
//! length; columns of types that a result stream does not have are passed over. Bodies are little-endian.
//! Source: "Arrow Columnar Format", serialization and interprocess communication; Message.fbs and Schema.fbs.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::array::{Array, Bitmap, Bytes, Values};
use super::checksum;
use super::compression;
use super::flatbuffer::{Table, Value, encode};
use super::layout;
use super::record_batch::{Column, RecordBatch};
use super::schema::{DataType, Field, Schema};

/// What every message begins with.
pub(super) const CONTINUATION: [u8; 4] = [0xff; 4];
/// Bytes that messages and buffers are padded to.
const ALIGNMENT: usize = 64;
/// Bytes that compressed buffers are padded to; what they become has memory of its own.
const COMPRESSED_ALIGNMENT: usize = 8;
/// `MetadataVersion.V5`.
const VERSION: i16 = 4;
/// `MessageHeader`.
const SCHEMA: u8 = 1;
const DICTIONARY_BATCH: u8 = 2;
const RECORD_BATCH: u8 = 3;

/// A message without a body: the schema that a stream begins with.
pub(super) fn encode_schema(schema: &Schema) -> Vec<u8> {
    message(SCHEMA, layout::encode(schema), &[])
}

/// The message with the texts of a dictionary.
///
/// # Errors
/// The texts are longer than 2 GiB together.
pub(super) fn encode_dictionary(id: i64, texts: &Array) -> Result<Vec<u8>, String> {
    let mut body = Body::default();
    let rows = if let Values::Bytes(bytes) = &texts.values { bytes.len() } else { 0 };
    body.push(texts, rows)?;
    let header = vec![Value::I64(id), Value::Table(body.header(rows)), Value::U8(0)];
    Ok(message(DICTIONARY_BATCH, header, &body.bytes))
}

/// The message of a record batch; its dictionaries have messages of their own.
///
/// # Errors
/// A column is longer than 2 GiB.
pub(super) fn encode_batch(batch: &RecordBatch) -> Result<Vec<u8>, String> {
    let mut body = Body::default();
    for column in &batch.columns {
        body.push(&column.array, batch.rows)?;
    }
    if compression::is_worthwhile(batch, body.bytes.len()) {
        body = body.compressed();
    }
    Ok(message(RECORD_BATCH, body.header(batch.rows), &body.bytes))
}

/// A message: mark, length, metadata, body.
fn message(kind: u8, header: Vec<Value>, body: &[u8]) -> Vec<u8> {
    let body_len = Value::I64(body.len() as i64);
    let fields =
        [Value::I16(VERSION), Value::U8(kind), Value::Table(header), body_len, checksum::blank()];
    let metadata = encode(&fields);
    let whole = (8 + metadata.len()).next_multiple_of(ALIGNMENT);
    let mut bytes = Vec::with_capacity(whole + body.len());
    bytes.extend(CONTINUATION);
    bytes.extend(((whole - 8) as u32).to_le_bytes());
    bytes.extend(metadata);
    bytes.resize(whole, 0);
    checksum::seal(&mut bytes[8..], body);
    bytes.extend(body);
    bytes
}

/// A body as it grows.
#[derive(Default)]
struct Body {
    bytes: Vec<u8>,
    /// Length and number of nulls of each column.
    nodes: Vec<[i64; 2]>,
    /// Where each buffer begins, and its length without padding.
    buffers: Vec<[i64; 2]>,
    is_compressed: bool,
}

impl Body {
    fn header(&mut self, rows: usize) -> Vec<Value> {
        let (nodes, buffers) = (std::mem::take(&mut self.nodes), std::mem::take(&mut self.buffers));
        let compression = if self.is_compressed { compression::field() } else { Value::None };
        vec![Value::I64(rows as i64), Value::Pairs(nodes), Value::Pairs(buffers), compression]
    }

    /// The same with compressed buffers. Those that take their room once do so here too, if they are of the same length.
    fn compressed(self) -> Self {
        let mut body = Self { nodes: self.nodes, is_compressed: true, ..Self::default() };
        for (number, buffer) in self.buffers.iter().enumerate() {
            if let Some(twin) = self.buffers[..number].iter().position(|earlier| earlier == buffer)
            {
                body.buffers.push(body.buffers[twin]);
                continue;
            }
            let [at, len] = buffer.map(|n| n as usize);
            let coded = compression::compress(&self.bytes[at..at + len]);
            body.buffers.push([body.bytes.len() as i64, coded.len() as i64]);
            body.bytes.extend(coded);
            body.bytes.resize(body.bytes.len().next_multiple_of(COMPRESSED_ALIGNMENT), 0);
        }
        body.bytes.resize(body.bytes.len().next_multiple_of(ALIGNMENT), 0);
        body
    }

    fn push(&mut self, array: &Array, rows: usize) -> Result<(), String> {
        self.nodes.push([rows as i64, array.null_count() as i64]);
        match &array.valid {
            Some(valid) => self.buffer(valid.bits.iter().copied()),
            None => self.buffer([]),
        }
        match &array.values {
            Values::UInt8(values) => self.buffer(values.iter().copied()),
            Values::UInt16(values) => self.buffer(values.iter().flat_map(|n| n.to_le_bytes())),
            Values::UInt32(values) => self.buffer(values.iter().flat_map(|n| n.to_le_bytes())),
            Values::UInt64(values) => self.buffer(values.iter().flat_map(|n| n.to_le_bytes())),
            Values::Int64(values) => self.buffer(values.iter().flat_map(|n| n.to_le_bytes())),
            Values::Boolean(values) => self.buffer(values.bits.iter().copied()),
            Values::Dictionary { keys, .. } => {
                self.buffer(keys.iter().flat_map(|key| key.to_le_bytes()));
            }
            Values::Bytes(bytes) => {
                if i32::try_from(bytes.bytes.len()).is_err() {
                    return Err(format!("a column of {} bytes in one message", bytes.bytes.len()));
                }
                self.buffer(bytes.offsets.iter().flat_map(|at| (*at as i32).to_le_bytes()));
                self.buffer(bytes.bytes.iter().copied());
            }
            Values::Unknown => self.buffer([]),
        }
        Ok(())
    }

    /// Adds a buffer. One whose bytes an earlier one begins with is that one again: columns of zeros, or of the same times, take
    /// their room once.
    fn buffer(&mut self, bytes: impl IntoIterator<Item = u8>) {
        let start = self.bytes.len();
        self.bytes.extend(bytes);
        let len = self.bytes.len() - start;
        if let Some(twin) = self.twin(start) {
            self.bytes.truncate(start);
            self.buffers.push([twin, len as i64]);
            return;
        }
        self.buffers.push([start as i64, len as i64]);
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
    }

    /// Where an earlier buffer begins that begins with the bytes from `start` on.
    fn twin(&self, start: usize) -> Option<i64> {
        let new = &self.bytes[start..];
        let mut earlier = self.buffers.iter().filter(|[_, len]| *len as usize >= new.len());
        earlier.find_map(|[at, _]| self.bytes[*at as usize..].starts_with(new).then_some(*at))
    }
}

/// The length of the body that follows this metadata.
///
/// # Errors
/// It is no message, or the length is negative.
pub(super) fn body_len(metadata: &[u8]) -> Result<u64, String> {
    let message = Table::root(metadata).ok_or_else(no_message)?;
    u64::try_from(message.i64(3)).map_err(|_| "a body of negative length".to_owned())
}

/// The schema in a message's metadata.
///
/// # Errors
/// It is another message.
pub(super) fn decode_schema(metadata: &[u8]) -> Result<Schema, String> {
    let message = Table::root(metadata).ok_or_else(no_message)?;
    match message.table(2) {
        Some(schema) if message.u8(1) == SCHEMA => layout::decode(&schema),
        _ => Err("no schema in front".to_owned()),
    }
}

fn no_message() -> String {
    "no message of Arrow".to_owned()
}

/// The state of one stream after its messages so far.
#[derive(Default)]
pub(super) struct Decoder {
    schema: Option<Schema>,
    /// The schema has a checksum: so has every message.
    is_checked: bool,
    dictionaries: HashMap<i64, Arc<Array>>,
}

impl Decoder {
    /// Handles the next message; returns its record batch, if it is one.
    ///
    /// # Errors
    /// It is damaged, malformed, has wrong lengths, or comes out of order.
    pub(super) fn decode(
        &mut self,
        metadata: &[u8],
        body: &[u8],
    ) -> Result<Option<RecordBatch>, String> {
        let message = Table::root(metadata).ok_or_else(no_message)?;
        let header = message.table(2).ok_or_else(no_message)?;
        let is_schema = message.u8(1) == SCHEMA;
        // Programs that copy a stream drop what they do not understand, the schema's first.
        if is_schema || self.is_checked {
            let has_checksum = checksum::verify(metadata, body)?;
            if self.is_checked && !has_checksum {
                return Err(checksum::DAMAGED.to_owned());
            }
            self.is_checked = has_checksum;
        }
        match (message.u8(1), &self.schema) {
            (SCHEMA, None) => self.schema = Some(layout::decode(&header)?),
            (DICTIONARY_BATCH, Some(schema)) => {
                let id = header.i64(0);
                let Some(texts) = schema.fields.iter().find_map(|field| texts_of(field, id)) else {
                    return Err(format!("a dictionary {id} that no column has"));
                };
                let data = header.table(1).ok_or_else(no_message)?;
                let mut array = Cursor::new(&data, body, &self.dictionaries)?.column(&texts)?;
                if header.u8(2) != 0
                    && let Some(before) = self.dictionaries.get(&id)
                {
                    array = joined(before, &array);
                }
                self.dictionaries.insert(id, Arc::new(array));
            }
            (RECORD_BATCH, Some(schema)) => {
                return self.batch(&header, body, schema).map(Some);
            }
            (SCHEMA, Some(_)) => return Err("a second schema".to_owned()),
            (DICTIONARY_BATCH | RECORD_BATCH, None) => {
                return Err("no schema in front".to_owned());
            }
            (kind, _) => return Err(format!("a message of kind {kind}")),
        }
        Ok(None)
    }

    fn batch(
        &self,
        header: &Table<'_>,
        body: &[u8],
        schema: &Schema,
    ) -> Result<RecordBatch, String> {
        let mut cursor = Cursor::new(header, body, &self.dictionaries)?;
        let rows = usize::try_from(header.i64(0)).map_err(|_| "a negative length".to_owned())?;
        let mut columns = Vec::with_capacity(schema.fields.len());
        for field in &schema.fields {
            let array = cursor.column(field)?;
            if cursor.rows != rows {
                return Err(format!(
                    "column \"{}\" has {} rows of {rows}",
                    field.name, cursor.rows
                ));
            }
            let (name, data_type) = (field.name.clone(), field.data_type.clone());
            columns.push(Column { name, data_type, array });
        }
        Ok(RecordBatch { rows, columns })
    }
}

/// The texts of the dictionary of this number, as a column.
fn texts_of(field: &Field, id: i64) -> Option<Field> {
    if let DataType::Dictionary(_, texts) = &field.data_type
        && field.dictionary == id
    {
        return Some(Field { data_type: (**texts).clone(), ..field.clone() });
    }
    field.children.iter().find_map(|child| texts_of(child, id))
}

/// The texts of two arrays, one after the other.
fn joined(before: &Array, after: &Array) -> Array {
    let mut all = Bytes::new();
    let mut valid = Vec::new();
    for array in [before, after] {
        let rows = if let Values::Bytes(bytes) = &array.values { bytes.len() } else { 0 };
        for row in 0..rows {
            all.push(array.bytes(row));
            valid.push(array.is_valid(row));
        }
    }
    Array { values: Values::Bytes(all), valid: Some(valid.into_iter().collect()) }
}

/// How many times as many bytes as a body has its buffers may have together, as they share them (ours have some twenty), and up to
/// which size. Each column is a copy: without a limit a small file could fill memory.
const SHARES_MAX: usize = 64;
const SHARED_BYTES_MAX: usize = 256 << 20;
/// What the buffers of a compressed body may have in any case.
const COMPRESSED_MIN: usize = 4 << 20;

/// Goes through the columns of a body.
struct Cursor<'m> {
    body: &'m [u8],
    nodes: Box<dyn Iterator<Item = [i64; 2]> + 'm>,
    buffers: Box<dyn Iterator<Item = [i64; 2]> + 'm>,
    /// How many buffers of its own each column of a view type has.
    variadic: Box<dyn Iterator<Item = i64> + 'm>,
    dictionaries: &'m HashMap<i64, Arc<Array>>,
    /// Those of the last column.
    rows: usize,
    /// Bytes that buffers may still be of.
    bytes_left: usize,
    is_compressed: bool,
}

impl<'m> Cursor<'m> {
    fn new(
        header: &Table<'m>,
        body: &'m [u8],
        dictionaries: &'m HashMap<i64, Arc<Array>>,
    ) -> Result<Self, String> {
        let is_compressed = compression::is_compressed(header)?;
        // Rows that are all alike become next to nothing.
        let shared_min = if is_compressed { COMPRESSED_MIN } else { 0 };
        let shared = SHARED_BYTES_MAX.min(body.len().saturating_mul(SHARES_MAX - 1));
        Ok(Self {
            body,
            nodes: Box::new(header.pairs(1)),
            buffers: Box::new(header.pairs(2)),
            variadic: Box::new(header.numbers(4)),
            dictionaries,
            rows: 0,
            bytes_left: body.len() + shared.max(shared_min),
            is_compressed,
        })
    }

    fn column(&mut self, field: &Field) -> Result<Array, String> {
        let [rows, nulls] = self.nodes.next().ok_or_else(|| "too few columns".to_owned())?;
        let rows = usize::try_from(rows).map_err(|_| "a negative length".to_owned())?;
        if matches!(field.data_type, DataType::Other(..)) {
            self.skip(field)?;
            self.rows = rows;
            return Ok(Array::new(Values::Unknown));
        }
        let valid = self.validity(rows, nulls)?;
        let values = match &field.data_type {
            DataType::Int(8, false) => Values::UInt8(self.numbers(rows, u8::from_le_bytes)?),
            DataType::Int(16, false) => Values::UInt16(self.numbers(rows, u16::from_le_bytes)?),
            DataType::Int(32, false) => Values::UInt32(self.numbers(rows, u32::from_le_bytes)?),
            DataType::Int(64, false) => Values::UInt64(self.numbers(rows, u64::from_le_bytes)?),
            DataType::Int(64, true) | DataType::Timestamp(_) => {
                Values::Int64(self.numbers(rows, i64::from_le_bytes)?)
            }
            DataType::Boolean => {
                let bits = self.bytes(rows.div_ceil(8))?.into_owned();
                Values::Boolean(Bitmap { bits, len: rows })
            }
            DataType::Utf8 => self.texts(rows, |at| i64::from(i32::from_le_bytes(at)))?,
            DataType::LargeUtf8 => self.texts(rows, i64::from_le_bytes)?,
            DataType::Binary => {
                Values::Bytes(self.blobs(rows, |at| i64::from(i32::from_le_bytes(at)))?)
            }
            DataType::Dictionary(keys, _) if **keys == DataType::Int(32, true) => {
                let keys = self.numbers(rows, i32::from_le_bytes)?;
                let texts = self.dictionaries.get(&field.dictionary).cloned();
                let texts = texts.ok_or_else(|| format!("no dictionary of \"{}\"", field.name))?;
                Values::Dictionary { keys, texts }
            }
            DataType::Dictionary(..) | DataType::Int(..) | DataType::Other(..) => {
                self.buffer()?;
                Values::Unknown
            }
        };
        self.rows = rows;
        Ok(Array { values, valid })
    }

    /// Passes over a column's buffers and children.
    fn skip(&mut self, field: &Field) -> Result<(), String> {
        if let DataType::Other(name, buffers) = &field.data_type {
            let variadic = if name.ends_with("8View") || name == "BinaryView" {
                self.variadic.next()
            } else {
                None
            };
            let more = usize::try_from(variadic.unwrap_or(0)).unwrap_or(usize::MAX);
            for _ in 0..buffers.saturating_add(more) {
                self.buffer()?;
            }
            for child in &field.children {
                self.column(child)?;
            }
        }
        Ok(())
    }

    /// The next buffer.
    fn buffer(&mut self) -> Result<Cow<'m, [u8]>, String> {
        let [start, len] = self.buffers.next().ok_or_else(|| "too few buffers".to_owned())?;
        let range = usize::try_from(start).ok().zip(usize::try_from(len).ok());
        let end = range.and_then(|(start, len)| start.checked_add(len));
        let found = range.zip(end).and_then(|((start, _), end)| self.body.get(start..end));
        let found = found.ok_or_else(|| "a buffer beyond the message".to_owned())?;
        let found = match self.is_compressed {
            true => compression::decompress(found, self.bytes_left)?,
            false => Cow::Borrowed(found),
        };
        let left = self.bytes_left.checked_sub(found.len());
        self.bytes_left = left.ok_or_else(|| "too many buffers of the same bytes".to_owned())?;
        Ok(found)
    }

    /// The next buffer, cut to the bytes of interest.
    fn bytes(&mut self, len: usize) -> Result<Cow<'m, [u8]>, String> {
        let buffer = self.buffer()?;
        if len > buffer.len() {
            return Err(format!("a buffer of {} bytes of {len}", buffer.len()));
        }
        Ok(match buffer {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[..len]),
            Cow::Owned(mut bytes) => {
                bytes.truncate(len);
                Cow::Owned(bytes)
            }
        })
    }

    fn validity(&mut self, rows: usize, nulls: i64) -> Result<Option<Bitmap>, String> {
        if nulls == 0 {
            self.buffer()?;
            return Ok(None);
        }
        let bits = self.bytes(rows.div_ceil(8))?.into_owned();
        Ok(Some(Bitmap { bits, len: rows }))
    }

    fn numbers<T, const N: usize>(
        &mut self,
        rows: usize,
        number: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, String> {
        let len = rows.checked_mul(N).ok_or_else(|| "too many rows".to_owned())?;
        let bytes = self.bytes(len)?;
        Ok(bytes.as_chunks::<N>().0.iter().map(|bytes| number(*bytes)).collect())
    }

    /// Values of different lengths, by their offsets of `N` bytes.
    fn blobs<const N: usize>(
        &mut self,
        rows: usize,
        number: impl Fn([u8; N]) -> i64,
    ) -> Result<Bytes, String> {
        let offsets = self.buffer()?;
        let bytes = self.buffer()?;
        let mut ends = vec![0];
        // Of no rows, some writers give no offset at all.
        if rows > 0 {
            ends.clear();
            let offsets = offsets.as_chunks::<N>().0;
            let count = rows.checked_add(1).ok_or_else(|| "too many rows".to_owned())?;
            let offsets = offsets.get(..count).ok_or_else(|| "too few offsets".to_owned())?;
            ends.extend(
                offsets.iter().map(|at| usize::try_from(number(*at)).unwrap_or(usize::MAX)),
            );
        }
        let last = ends.last().copied().unwrap_or(0);
        if !ends.is_sorted() || last > bytes.len() {
            return Err("offsets that go back or beyond the message".to_owned());
        }
        Ok(Bytes { offsets: ends, bytes: bytes[..last].to_vec() })
    }

    fn texts<const N: usize>(
        &mut self,
        rows: usize,
        number: impl Fn([u8; N]) -> i64,
    ) -> Result<Values, String> {
        let texts = self.blobs(rows, number)?;
        let first = texts.offsets.first().copied().unwrap_or(0);
        if std::str::from_utf8(&texts.bytes[first..]).is_err() {
            return Err("a text that is not UTF-8".to_owned());
        }
        Ok(Values::Bytes(texts))
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;
    use crate::{Detail, StreamInfo};

    /// Metadata and body of a message.
    fn parts(message: &[u8]) -> (&[u8], &[u8]) {
        assert_eq!(message[..4], CONTINUATION);
        assert_eq!(message.len() % ALIGNMENT, 0);
        let len = u32::from_le_bytes(message[4..8].try_into().unwrap()) as usize;
        let (metadata, body) = message[8..].split_at(len);
        assert_eq!(body_len(metadata), Ok(body.len() as u64));
        (metadata, body)
    }

    fn bytes(values: &[&[u8]]) -> Bytes {
        let mut all = Bytes::new();
        values.iter().for_each(|value| all.push(value));
        all
    }

    fn schema() -> Schema {
        let info = StreamInfo {
            has_tags: false,
            version: "1.2".to_owned(),
            epoch: 5,
            attack: "a".to_owned(),
            seed: 1,
            detail: Detail::Full,
            is_piped: false,
            bodies: crate::Bodies::default(),
            metadata: vec![("k".to_owned(), "v".to_owned())],
        };
        Schema::new(&info)
    }

    #[test]
    fn a_schema_reads_back_as_it_was_written() {
        let schema = schema();
        let message = encode_schema(&schema);
        let (metadata, body) = parts(&message);
        assert!(body.is_empty());
        assert_eq!(decode_schema(metadata), Ok(schema));
    }

    /// A column of each kind, with its field in the order of the schema.
    fn example() -> (Schema, RecordBatch, Arc<Array>) {
        let texts = Arc::new(Array::new(Values::Bytes(bytes(&[b"GET", b"POST"]))));
        let valid: Bitmap = [true, false, true].into_iter().collect();
        let arrays = [
            ("kind", Array::new(Values::UInt8(vec![1, 2, 3]))),
            ("code", Array::new(Values::UInt16(vec![200, 0, 65535]))),
            (
                "connection",
                Array { values: Values::UInt32(vec![7, 0, 9]), valid: Some(valid.clone()) },
            ),
            ("seq", Array::new(Values::UInt64(vec![0, u64::MAX, 5]))),
            ("latency", Array::new(Values::Int64(vec![-1, 0, i64::MAX]))),
            ("timestamp", Array::new(Values::Int64(vec![1, 2, 3]))),
            ("reused", Array::new(Values::Boolean(valid.clone()))),
            (
                "body",
                Array { values: Values::Bytes(bytes(&[b"x", b"", b"yz"])), valid: Some(valid) },
            ),
            (
                "method",
                Array::new(Values::Dictionary { keys: vec![1, 0, 1], texts: Arc::clone(&texts) }),
            ),
        ];
        let all = schema();
        let (mut fields, mut columns) = (Vec::new(), Vec::new());
        for (name, array) in arrays {
            let field = all.fields.iter().find(|field| field.name == name).unwrap();
            fields.push(field.clone());
            let data_type = field.data_type.clone();
            columns.push(Column { name: name.to_owned(), data_type, array });
        }
        (Schema { fields, metadata: Vec::new() }, RecordBatch { rows: 3, columns }, texts)
    }

    fn decoder(schema: &Schema, texts: &Array) -> Decoder {
        let mut decoder = Decoder::default();
        let id = schema.fields.last().unwrap().dictionary;
        let dictionary = encode_dictionary(id, texts).unwrap();
        for message in [encode_schema(schema), dictionary] {
            let (metadata, body) = parts(&message);
            assert!(decoder.decode(metadata, body).unwrap().is_none());
        }
        decoder
    }

    #[test]
    fn a_record_batch_reads_back_as_it_was_written() {
        let (schema, batch, texts) = example();
        let message = encode_batch(&batch).unwrap();
        let (metadata, body) = parts(&message);
        let found = decoder(&schema, &texts).decode(metadata, body).unwrap().unwrap();
        assert_eq!(found.rows, 3);
        for (found, expect) in found.columns.iter().zip(&batch.columns) {
            assert_eq!(found.array, expect.array, "{}", expect.name);
        }
    }

    /// So many columns of the same numbers, and their schema.
    fn alike(columns: usize, numbers: &[i64]) -> (Schema, RecordBatch) {
        let field = schema().fields.into_iter().find(|field| field.name == "latency").unwrap();
        let column = |at: usize| Column {
            name: at.to_string(),
            data_type: field.data_type.clone(),
            array: Array::new(Values::Int64(numbers.to_vec())),
        };
        let columns: Vec<Column> = (0..columns).map(column).collect();
        let named = |column: &Column| Field { name: column.name.clone(), ..field.clone() };
        let schema = Schema { fields: columns.iter().map(named).collect(), metadata: Vec::new() };
        (schema, RecordBatch { rows: numbers.len(), columns })
    }

    /// What a decoder says of a message, after its schema.
    fn decoded(schema: &Schema, message: &[u8]) -> Result<RecordBatch, String> {
        let mut decoder = Decoder::default();
        let front = encode_schema(schema);
        decoder.decode(parts(&front).0, &[]).unwrap();
        let (metadata, body) = parts(message);
        decoder.decode(metadata, body).map(|batch| batch.expect("rows"))
    }

    /// Issue 41: a night's rows took 400 MB.
    #[test]
    fn small_messages_are_compressed_and_lead_back() {
        for (rows, is_compressed) in [(3, false), (500, true), (5_000, false)] {
            let mut rng = 7_u64;
            let mut number = |at: u64| {
                rng = rng.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(at);
                5_000_000 + (rng >> 44) as i64
            };
            let numbers: Vec<i64> = (0..rows).map(&mut number).collect();
            let (schema, mut batch) = alike(6, &numbers);
            for column in &mut batch.columns {
                column.array = Array::new(Values::Int64((0..rows).map(&mut number).collect()));
            }
            let message = encode_batch(&batch).unwrap();
            let found = decoded(&schema, &message).unwrap();
            assert!(found.columns.iter().zip(&batch.columns).all(|(a, b)| a.array == b.array));
            let share = message.len() as f64 / (rows * 6 * 8) as f64;
            assert_eq!(share < 0.7, is_compressed, "{rows} rows: {share}");
        }
    }

    /// A pipe has messages of 40 ms, and compressing those of 5,000 rows a second cost a quarter of the whole client's CPU time.
    #[test]
    fn messages_of_many_rows_a_second_are_not_compressed() {
        for (rows_per_s, is_compressed) in [(500, true), (5_000, false)] {
            let times = (0..200).map(|n| n * 1_000_000_000 / rows_per_s).collect();
            let (_, mut batch) = alike(20, &[0; 200]);
            for (shift, column) in batch.columns.iter_mut().enumerate() {
                let numbers = (0..200).map(|n| n % 7 + shift as i64).collect();
                column.array = Array::new(Values::Int64(numbers));
            }
            batch.columns[0].name = "timestamp".into();
            batch.columns[0].array = Array::new(Values::Int64(times));
            let len = encode_batch(&batch).unwrap().len();
            assert_eq!(
                len < 10 * 200 * 8,
                is_compressed,
                "{rows_per_s} rows a second: {len} bytes"
            );
        }
    }

    #[test]
    fn damage_to_compressed_columns_is_an_error() {
        let numbers: Vec<i64> = (0..600).collect();
        let (schema, batch) = alike(2, &numbers);
        damage(&encode_batch(&batch).unwrap(), |metadata, body| {
            let mut decoder = Decoder::default();
            decoder.decode(parts(&encode_schema(&schema)).0, &[]).unwrap();
            black_box(decoder.decode(metadata, body).ok());
        });
    }

    #[test]
    fn columns_of_the_same_bytes_take_their_room_once() {
        let numbers: Vec<i64> = (0..1000).collect();
        let (schema, batch) = alike(20, &numbers);
        let message = encode_batch(&batch).unwrap();
        assert!(message.len() < 10_000, "{} bytes", message.len());
        let found = decoded(&schema, &message).unwrap();
        assert!(found.columns.iter().zip(&batch.columns).all(|(a, b)| a.array == b.array));
    }

    /// Issue 19: a small file of thousands of columns, all of the same bytes, filled memory.
    #[test]
    fn issue_19_no_message_becomes_many_times_its_size() {
        let (schema, batch) = alike(2 * SHARES_MAX, &[7; 5000]);
        let message = encode_batch(&batch).unwrap();
        assert_eq!(decoded(&schema, &message).unwrap_err(), "too many buffers of the same bytes");
    }

    #[test]
    fn messages_out_of_turn_are_refused() {
        let (schema, batch, texts) = example();
        let messages = [encode_batch(&batch).unwrap(), encode_dictionary(1, &texts).unwrap()];
        for message in &messages {
            let (metadata, body) = parts(message);
            let refused = Decoder::default().decode(metadata, body).unwrap_err();
            assert_eq!(refused, "no schema in front");
        }
        let message = encode_schema(&schema);
        let refused = decoder(&schema, &texts).decode(parts(&message).0, &[]).unwrap_err();
        assert_eq!(refused, "a second schema");
    }

    #[test]
    fn damage_is_an_error_or_other_rows_but_no_panic() {
        let (schema, batch, texts) = example();
        damage(&encode_batch(&batch).unwrap(), |metadata, body| {
            if let Ok(Some(batch)) = decoder(&schema, &texts).decode(metadata, body) {
                for column in &batch.columns {
                    (0..3).for_each(|row| {
                        black_box(column.array.text(row));
                    });
                }
            }
        });
    }

    /// Calls `check` with the metadata and body of a message, each of whose bytes in turn has each of some other values.
    fn damage(message: &[u8], check: impl Fn(&[u8], &[u8])) {
        let (metadata, body) = parts(message);
        for at in 0..metadata.len() + body.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let (mut metadata, mut body) = (metadata.to_vec(), body.to_vec());
                match at.checked_sub(metadata.len()) {
                    Some(at) => body[at] = value,
                    None => metadata[at] = value,
                }
                // What a checksum would find, others may write.
                checksum::seal(&mut metadata, &body);
                check(&metadata, &body);
            }
        }
    }
}
