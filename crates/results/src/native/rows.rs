//! `Rows`: a cursor over a `RecordBatch`, handing out batches of samples. Columns that are missing, or null as a whole, are
//! zero; columns it does not know are skipped; rows of a kind it does not know are skipped.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int32Type, Int64Type, TimestampNanosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryArray, LargeStringArray, RecordBatch, StringArray,
};
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use metrics::{Batch, FailureKind, Sample, Span};
use stdx::Nanos;

use super::schema::{KIND_GENERATOR, KIND_HIT};
use crate::assertion::{self, KIND_CHECK, KIND_THRESHOLD};
use crate::fill::{ROWS_MAX, TEXT_MAX};
use crate::labels::{Asked, Labels};
use crate::note;
use crate::observed::{self, KIND_INCIDENT, KIND_READING, KIND_SERVED, Observed};
use crate::source::Step;

/// Rows one message may claim to have.
const MESSAGE_ROWS_MAX: usize = 1 << 28;
/// Remembered combinations of dictionary keys; a power of two.
const MEMO: usize = 1 << 10;

/// A cursor over a record batch.
pub(super) struct Rows {
    at: usize,
    len: usize,
    kind: Numbers<u8>,
    seq: Numbers<u64>,
    timestamp: Numbers<i64>,
    latency: Numbers<i64>,
    sent: Numbers<i64>,
    first_byte: Numbers<i64>,
    dns: Numbers<i64>,
    dial: Numbers<i64>,
    tls: Numbers<i64>,
    code: Numbers<u16>,
    failure: Numbers<u8>,
    reused: Option<BooleanBuffer>,
    bytes_out: Numbers<u64>,
    bytes_in: Numbers<u64>,
    wire_in: Numbers<u64>,
    conn: Numbers<u32>,
    /// `attack`, `method`, `url`, `name`.
    asked: [Texts; 4],
    error: Texts,
    body: Option<BinaryArray>,
    headers: Option<BinaryArray>,
    note: Texts,
    memo: Vec<([i32; 4], u32)>,
}

/// A column of numbers; `None` where it is missing or has nulls.
type Numbers<T> = Option<ScalarBuffer<T>>;

/// A column of texts.
enum Texts {
    None,
    Plain(StringArray),
    Large(LargeStringArray),
    Keyed { keys: ScalarBuffer<i32>, nulls: Option<NullBuffer>, values: StringArray },
}

impl Texts {
    fn of(batch: &RecordBatch, name: &str) -> Result<Self, ArrowError> {
        let Some(column) = batch.column_by_name(name) else { return Ok(Self::None) };
        let keyed = column.as_dictionary_opt::<Int32Type>();
        if let Some(keyed) = keyed
            && let Some(values) = keyed.values().as_string_opt::<i32>()
        {
            let (keys, values) = (keyed.keys().values().clone(), values.clone());
            return Ok(Self::Keyed { keys, nulls: keyed.nulls().cloned(), values });
        }
        if let Some(plain) = column.as_string_opt::<i32>() {
            return Ok(Self::Plain(plain.clone()));
        }
        match column.as_string_opt::<i64>() {
            Some(large) => Ok(Self::Large(large.clone())),
            None => {
                Err(wrong(name, column, "a dictionary of strings with 32-bit keys, or strings"))
            }
        }
    }

    fn get(&self, row: usize) -> &str {
        match self {
            Self::None => "",
            Self::Plain(texts) if texts.is_valid(row) => texts.value(row),
            Self::Large(texts) if texts.is_valid(row) => texts.value(row),
            Self::Plain(_) | Self::Large(_) => "",
            Self::Keyed { values, .. } => match usize::try_from(self.key(row)) {
                Ok(key) if key < values.len() && values.is_valid(key) => values.value(key),
                _ => "",
            },
        }
    }

    /// The row's key; -1 for null, -2 where there are no keys.
    fn key(&self, row: usize) -> i32 {
        match self {
            Self::Keyed { nulls: Some(nulls), .. } if nulls.is_null(row) => -1,
            Self::Keyed { keys, .. } => keys[row],
            _ => -2,
        }
    }
}

fn wrong(name: &str, column: &ArrayRef, expected: &str) -> ArrowError {
    let found = column.data_type();
    ArrowError::SchemaError(format!("column \"{name}\" is {found} (expected {expected})"))
}

fn numbers<T: ArrowPrimitiveType>(
    batch: &RecordBatch,
    name: &str,
) -> Result<Numbers<T::Native>, ArrowError> {
    let Some(column) = batch.column_by_name(name) else { return Ok(None) };
    match column.as_primitive_opt::<T>() {
        Some(column) if column.null_count() > 0 => Ok(None),
        Some(column) => Ok(Some(column.values().clone())),
        None => Err(wrong(name, column, &T::DATA_TYPE.to_string())),
    }
}

fn blobs(batch: &RecordBatch, name: &str) -> Result<Option<BinaryArray>, ArrowError> {
    let Some(column) = batch.column_by_name(name) else { return Ok(None) };
    match column.as_binary_opt::<i32>() {
        Some(column) if column.null_count() == column.len() => Ok(None),
        Some(column) => Ok(Some(column.clone())),
        None => Err(wrong(name, column, "Binary")),
    }
}

impl Rows {
    /// # Errors
    /// A column that must be there is missing, or one has another type than ours.
    pub(super) fn new(batch: &RecordBatch) -> Result<Self, ArrowError> {
        if batch.num_rows() > MESSAGE_ROWS_MAX {
            let rows = batch.num_rows();
            return Err(ArrowError::SchemaError(format!("a message of {rows} rows")));
        }
        let reused = match batch.column_by_name("reused") {
            None => None,
            Some(column) => {
                let flags =
                    column.as_boolean_opt().ok_or_else(|| wrong("reused", column, "Boolean"))?;
                (flags.null_count() == 0).then(|| flags.values().clone())
            }
        };
        let text = |name| Texts::of(batch, name);
        Ok(Self {
            at: 0,
            len: batch.num_rows(),
            kind: numbers::<UInt8Type>(batch, "kind")?,
            seq: numbers::<UInt64Type>(batch, "seq")?,
            timestamp: Some(timestamps(batch)?),
            latency: Some(numbers::<Int64Type>(batch, "latency")?.ok_or_else(no_results)?),
            sent: numbers::<Int64Type>(batch, "sent")?,
            first_byte: numbers::<Int64Type>(batch, "first_byte")?,
            dns: numbers::<Int64Type>(batch, "dns")?,
            dial: numbers::<Int64Type>(batch, "dial")?,
            tls: numbers::<Int64Type>(batch, "tls")?,
            code: numbers::<UInt16Type>(batch, "code")?,
            failure: numbers::<UInt8Type>(batch, "failure")?,
            reused,
            bytes_out: numbers::<UInt64Type>(batch, "bytes_out")?,
            bytes_in: numbers::<UInt64Type>(batch, "bytes_in")?,
            wire_in: numbers::<UInt64Type>(batch, "wire_in")?,
            conn: numbers::<UInt32Type>(batch, "connection")?,
            asked: [text("attack")?, text("method")?, text("url")?, text("name")?],
            error: text("error")?,
            body: blobs(batch, "body")?,
            headers: blobs(batch, "headers")?,
            note: text("note")?,
            memo: vec![([i32::MIN; 4], 0); MEMO],
        })
    }

    /// The next rows into an empty batch; `None` when there are no more.
    ///
    /// # Errors
    /// A generator's record, a row of the server's side, or a threshold or check is corrupt.
    pub(super) fn next(
        &mut self,
        batch: &mut Batch,
        labels: &mut Labels,
    ) -> Result<Option<Step>, String> {
        while self.at < self.len {
            if let Some(step) = self.next_of_a_stretch(batch, labels)? {
                return Ok(Some(step));
            }
            if !batch.samples.is_empty() {
                return Ok(Some(Step::Hits));
            }
        }
        Ok(None)
    }

    /// Hits up to a row of another kind, or that row, of the next `ROWS_MAX` rows; nothing where all are of unknown kinds.
    fn next_of_a_stretch(
        &mut self,
        batch: &mut Batch,
        labels: &mut Labels,
    ) -> Result<Option<Step>, String> {
        let to = self.len.min(self.at + ROWS_MAX);
        let mut error = (-1, Span::default());
        while self.at < to && batch.texts.len() < TEXT_MAX {
            match get(&self.kind, self.at) {
                KIND_HIT => {
                    // Looked for once, however many other rows stand between.
                    if batch.samples.is_empty() {
                        batch.epoch = self.earliest(self.at, to);
                    }
                    self.hit(batch, labels, &mut error);
                }
                KIND_GENERATOR if batch.samples.is_empty() => {
                    let generator = note::decode(self.note.get(self.at))?;
                    self.at += 1;
                    return Ok(Some(Step::Generator(Box::new(generator))));
                }
                KIND_READING | KIND_SERVED | KIND_INCIDENT if batch.samples.is_empty() => {
                    let row = observed::decode(&self.observed(self.at), self.note.get(self.at))?;
                    self.at += 1;
                    return Ok(Some(Step::Server(Box::new(row))));
                }
                kind @ (KIND_THRESHOLD | KIND_CHECK) if batch.samples.is_empty() => {
                    let [_, _, _, name] = &self.asked;
                    let (name, note) = (name.get(self.at), self.note.get(self.at));
                    let assertion = assertion::decode(kind, name, note)?;
                    let at = get(&self.timestamp, self.at);
                    self.at += 1;
                    return Ok(Some(Step::Assertion(Box::new(assertion), at)));
                }
                KIND_GENERATOR | KIND_READING | KIND_SERVED | KIND_INCIDENT | KIND_THRESHOLD
                | KIND_CHECK => break,
                // A kind of a newer version.
                _ => {}
            }
            self.at += 1;
        }
        Ok(None)
    }

    fn observed(&self, row: usize) -> Observed<'_> {
        let [_, method, url, name] = &self.asked;
        Observed {
            kind: get(&self.kind, row),
            timestamp: get(&self.timestamp, row),
            latency: get(&self.latency, row),
            code: get(&self.code, row),
            method: method.get(row),
            url: url.get(row),
            name: name.get(row),
        }
    }

    /// The earliest time of the hits among these rows; 1970 where it lies before.
    fn earliest(&self, from: usize, to: usize) -> i64 {
        let hits = (from..to).filter(|row| get(&self.kind, *row) == KIND_HIT);
        hits.map(|row| get(&self.timestamp, row)).min().unwrap_or(0).max(0)
    }

    fn hit(&mut self, batch: &mut Batch, labels: &mut Labels, error: &mut (i32, Span)) {
        let row = self.at;
        let intended = (get(&self.timestamp, row).max(0) - batch.epoch) as u64;
        let latency = get(&self.latency, row).max(0) as u64;
        let since = |column: &Numbers<i64>, missing: u64| match column {
            Some(times) => Nanos(intended + (times[row].max(0) as u64).min(latency)),
            None => Nanos(intended + missing),
        };
        let (target, line) = self.place(row, batch, labels);
        let status = get(&self.code, row);
        let sample = Sample {
            seq: get(&self.seq, row),
            intended: Nanos(intended),
            sent: since(&self.sent, 0),
            first_byte: since(&self.first_byte, latency),
            done: Nanos(intended + latency),
            dns: Nanos(get(&self.dns, row).max(0) as u64),
            dial: Nanos(get(&self.dial, row).max(0) as u64),
            tls: Nanos(get(&self.tls, row).max(0) as u64),
            bytes_out: get(&self.bytes_out, row),
            bytes_in: get(&self.bytes_in, row),
            wire_in: get(&self.wire_in, row),
            conn: get(&self.conn, row),
            target,
            status,
            failure: self.failure(row),
            reused: self.reused.as_ref().is_some_and(|reused| reused.value(row)),
            error: self.error_text(row, batch, error),
            line,
            // The table of targets has it.
            name: Span::default(),
            body: blob(self.body.as_ref(), row, batch),
            headers: blob(self.headers.as_ref(), row, batch),
        };
        batch.samples.push(sample);
    }

    /// A kind of a newer version is a failure all the same.
    fn failure(&self, row: usize) -> FailureKind {
        FailureKind::from_number(get(&self.failure, row)).unwrap_or(FailureKind::Malformed)
    }

    /// Rows with the same error share its text.
    fn error_text(&self, row: usize, batch: &mut Batch, last: &mut (i32, Span)) -> Span {
        let key = self.error.key(row);
        if key >= 0 && key == last.0 {
            return last.1;
        }
        let text = self.error.get(row);
        let span = if text.is_empty() { Span::default() } else { batch.add_text(text.as_bytes()) };
        *last = (key, span);
        span
    }

    fn place(&mut self, row: usize, batch: &mut Batch, labels: &mut Labels) -> (u32, Span) {
        let keys: [i32; 4] = std::array::from_fn(|i| self.asked[i].key(row));
        let keyed = keys.iter().all(|key| *key >= 0);
        let slot =
            keys.iter().fold(0usize, |hash, key| hash.wrapping_mul(31) + *key as usize % MEMO);
        let slot = slot % MEMO;
        if keyed && self.memo[slot].0 == keys {
            return (self.memo[slot].1, Span::default());
        }
        let [attack, method, url, name] = std::array::from_fn(|i| self.asked[i].get(row));
        let (target, line) = labels.place(Asked { attack, method, url, name }, batch);
        if keyed && line.len == 0 {
            self.memo[slot] = (keys, target);
        }
        (target, line)
    }
}

#[inline]
fn get<T: Copy + Default + arrow_buffer::ArrowNativeType>(column: &Numbers<T>, row: usize) -> T {
    match column {
        Some(values) => values[row],
        None => T::default(),
    }
}

fn blob(column: Option<&BinaryArray>, row: usize, batch: &mut Batch) -> Span {
    match column {
        Some(blobs) if blobs.is_valid(row) && !blobs.value(row).is_empty() => {
            batch.add_text(blobs.value(row))
        }
        _ => Span::default(),
    }
}

fn no_results() -> ArrowError {
    ArrowError::SchemaError("no column \"timestamp\" or \"latency\": not a result stream".into())
}

fn timestamps(batch: &RecordBatch) -> Result<ScalarBuffer<i64>, ArrowError> {
    let column: &Arc<dyn Array> = batch.column_by_name("timestamp").ok_or_else(no_results)?;
    match column.data_type() {
        DataType::Timestamp(TimeUnit::Nanosecond, _) if column.null_count() == 0 => {
            Ok(column.as_primitive::<TimestampNanosecondType>().values().clone())
        }
        _ => Err(wrong("timestamp", column, "Timestamp(Nanosecond) without nulls")),
    }
}
