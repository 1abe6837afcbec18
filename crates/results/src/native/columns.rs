//! `Columns`: rows collected by column until they become a `RecordBatch`. Bounded: the caller checks `is_full` after every row.

use std::collections::HashMap;
use std::sync::Arc;

use metrics::server::Row;
use metrics::tally::Assertion;
use metrics::{Batch, Outcome, Sample, TargetTable};
use stdx::Nanos;

use super::array::{Array, Bytes, Values};
use super::record_batch::{Column, RecordBatch};
use super::schema::{KIND_GENERATOR, KIND_HIT, Schema};
use crate::assertion;
use crate::labels::{TargetRef, as_text};
use crate::observed::{self, Observed};
use crate::write::unix_ns;
use crate::{Detail, StreamInfo};

/// Rows of one message or less.
const ROWS_MAX: usize = 4 << 10;
/// Bytes of bodies, headers and notes of one message, but for the last row's: 16 MiB, and no more than the limit of the process by
/// 64.
const BYTES_MAX: usize = 16 << 20;
const BYTES_PARTS: usize = 64;
/// Different texts of one column in one message.
const TEXTS_MAX: usize = 16 << 10;

/// Rows, column by column.
pub(super) struct Columns {
    schema: Arc<Schema>,
    bytes_max: usize,
    detail: Detail,
    attack: String,
    kind: Vec<u8>,
    seq: Vec<u64>,
    timestamp: Vec<i64>,
    /// `latency`, `service`, `sent`, `first_byte`, `dns`, `dial`, `tls`.
    times: [Vec<i64>; 7],
    code: Vec<u16>,
    outcome: Vec<u8>,
    failure: Vec<u8>,
    reused: Vec<bool>,
    conn: Vec<u32>,
    agent: Vec<u16>,
    /// `bytes_out`, `bytes_in`, `wire_in`.
    sizes: [Vec<u64>; 3],
    /// `attack`, `method`, `url`, `name`, `error`.
    texts: [Texts; 5],
    /// `tags`, where hits have some.
    tags: Option<Texts>,
    /// The keys of `attack`, `method`, `url`, `name`, `tags` for each target met in this message.
    target_keys: Vec<Option<[i32; 5]>>,
    /// `body`, `headers`, `note`.
    blobs: [Blobs; 3],
}

/// A dictionary-encoded column. The dictionary outlives a message, so that it need not be sent again.
#[derive(Default)]
struct Texts {
    keys: Vec<i32>,
    numbers: HashMap<String, i32>,
    values: Vec<String>,
    /// The key of the empty text.
    empty: Option<i32>,
    array: Option<Arc<Array>>,
}

impl Texts {
    fn key(&mut self, text: &str) -> i32 {
        if !text.is_empty() {
            return self.key_of(text);
        }
        // The error of most rows.
        if let Some(key) = self.empty {
            return key;
        }
        let key = self.key_of("");
        self.empty = Some(key);
        key
    }

    fn key_of(&mut self, text: &str) -> i32 {
        if let Some(key) = self.numbers.get(text) {
            return *key;
        }
        let key = self.values.len() as i32;
        self.numbers.insert(text.to_owned(), key);
        self.values.push(text.to_owned());
        self.array = None;
        key
    }

    fn take(&mut self) -> Array {
        let values = &self.values;
        let texts = self.array.get_or_insert_with(|| {
            let mut texts = Bytes::new();
            values.iter().for_each(|text| texts.push(text.as_bytes()));
            Arc::new(Array::new(Values::Bytes(texts)))
        });
        let texts = Arc::clone(texts);
        let keys = take(&mut self.keys);
        if self.is_full() {
            *self = Self::default();
        }
        Array::new(Values::Dictionary { keys, texts })
    }

    fn is_full(&self) -> bool {
        self.values.len() >= TEXTS_MAX
    }
}

/// A nullable column of bytes.
struct Blobs {
    values: Bytes,
    given: Vec<bool>,
}

impl Blobs {
    fn new() -> Self {
        Self { values: Bytes::new(), given: Vec::new() }
    }

    fn push(&mut self, blob: &[u8]) {
        self.values.push(blob);
        self.given.push(!blob.is_empty());
    }

    fn take(&mut self) -> Array {
        let taken = std::mem::replace(self, Self::new());
        let valid = taken.given.into_iter().collect();
        Array { values: Values::Bytes(taken.values), valid: Some(valid) }
    }
}

/// Takes a column's values and leaves as much room behind.
fn take<T>(values: &mut Vec<T>) -> Vec<T> {
    let room = values.capacity();
    std::mem::replace(values, Vec::with_capacity(room))
}

/// A column, or nulls where it was not measured.
fn given(values: Values, is_measured: bool, rows: usize) -> Array {
    if is_measured { Array::new(values) } else { Array::null(values, rows) }
}

fn signed(time: Nanos) -> i64 {
    i64::try_from(time.0).unwrap_or(i64::MAX)
}

impl Columns {
    pub(super) fn new(info: &StreamInfo) -> Self {
        Self {
            schema: Arc::new(Schema::new(info)),
            bytes_max: stdx::within_memory(BYTES_MAX, BYTES_PARTS),
            detail: info.detail,
            attack: info.attack.clone(),
            kind: Vec::new(),
            seq: Vec::new(),
            timestamp: Vec::new(),
            times: Default::default(),
            code: Vec::new(),
            outcome: Vec::new(),
            failure: Vec::new(),
            reused: Vec::new(),
            conn: Vec::new(),
            agent: Vec::new(),
            sizes: Default::default(),
            texts: Default::default(),
            tags: info.has_tags.then(Texts::default),
            target_keys: Vec::new(),
            blobs: [Blobs::new(), Blobs::new(), Blobs::new()],
        }
    }

    pub(super) fn schema(&self) -> Arc<Schema> {
        Arc::clone(&self.schema)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kind.is_empty()
    }

    /// Whether the rows must become a batch before the next is added.
    pub(super) fn is_full(&self) -> bool {
        self.kind.len() >= ROWS_MAX
            || self.blobs.iter().any(|blobs| blobs.values.bytes.len() >= self.bytes_max)
            || self.texts.iter().chain(&self.tags).any(Texts::is_full)
    }

    pub(super) fn push_hit(&mut self, sample: &Sample, batch: &Batch, targets: &TargetTable) {
        self.kind.push(KIND_HIT);
        self.push_numbers(sample, unix_ns(batch, sample));
        let keys = self.keys(sample, batch, targets);
        for (texts, key) in self.texts.iter_mut().chain(&mut self.tags).zip(keys) {
            texts.keys.push(key);
        }
        self.blobs[0].push(batch.text(sample.body));
        self.blobs[1].push(batch.text(sample.headers));
        self.blobs[2].push(b"");
    }

    /// Adds a generator's record, as JSON.
    pub(super) fn push_note(&mut self, note: &str, unix_ns: i64) {
        let kind = KIND_GENERATOR;
        self.push_noted(&Observed { kind, timestamp: unix_ns, ..Observed::default() }, note);
    }

    /// Adds a row of the server's side.
    pub(super) fn push_server(&mut self, row: &Row) {
        let (columns, note) = observed::encode(row);
        self.push_noted(&columns, &note);
    }

    /// Adds a threshold or a check.
    pub(super) fn push_assertion(&mut self, assertion: &Assertion, unix_ns: i64) {
        let (columns, note) = assertion::encode(assertion, unix_ns);
        self.push_noted(&columns, &note);
    }

    fn push_noted(&mut self, row: &Observed<'_>, note: &str) {
        self.kind.push(row.kind);
        let done = Nanos(row.latency.max(0) as u64);
        let sample = Sample { done, outcome: Outcome::http(row.code), ..Sample::default() };
        self.push_numbers(&sample, row.timestamp);
        let texts = ["", row.method, row.url, row.name, "", ""];
        for (column, text) in self.texts.iter_mut().chain(&mut self.tags).zip(texts) {
            let key = column.key(text);
            column.keys.push(key);
        }
        self.blobs[0].push(b"");
        self.blobs[1].push(b"");
        self.blobs[2].push(note.as_bytes());
    }

    fn push_numbers(&mut self, sample: &Sample, unix_ns: i64) {
        let since = |time: Nanos| signed(time.saturating_sub(sample.intended));
        let times = [
            signed(sample.response()),
            signed(sample.service()),
            since(sample.sent),
            since(sample.first_byte),
            signed(sample.dns),
            signed(sample.dial),
            signed(sample.tls),
        ];
        self.seq.push(sample.seq);
        self.timestamp.push(unix_ns);
        for (column, time) in self.times.iter_mut().zip(times) {
            column.push(time);
        }
        self.code.push(sample.outcome.code());
        self.outcome.push(sample.outcome.number());
        self.failure.push(sample.failure as u8);
        self.reused.push(sample.reused);
        self.conn.push(sample.conn);
        self.agent.push(sample.agent);
        let sizes = [sample.bytes_out, sample.bytes_in, sample.wire_in];
        for (column, size) in self.sizes.iter_mut().zip(sizes) {
            column.push(size);
        }
    }

    /// The dictionary keys of a row's texts.
    fn keys(&mut self, sample: &Sample, batch: &Batch, targets: &TargetTable) -> [i32; 6] {
        let error = self.texts[4].key(as_text(batch.text(sample.error)));
        let row = sample.target as usize;
        let known = self.target_keys.get(row).copied().flatten();
        let is_whole = [sample.line, sample.name, sample.tags].iter().all(|span| span.len == 0);
        let [attack, method, url, name, tags] = match known {
            Some(keys) if is_whole => keys,
            _ => {
                let target = TargetRef::of(sample, batch, targets, &self.attack);
                let texts = [target.attack, target.method, target.url, target.name];
                let [attack, method, url, name] =
                    std::array::from_fn(|i| self.texts[i].key(texts[i]));
                let tags = self.tags.as_mut().map_or(0, |tags| tags.key(target.tags));
                let keys = [attack, method, url, name, tags];
                if is_whole && row < targets.len() {
                    let rows = self.target_keys.len().max(row + 1);
                    self.target_keys.resize(rows, None);
                    self.target_keys[row] = Some(keys);
                }
                keys
            }
        };
        [attack, method, url, name, error, tags]
    }

    /// The rows as a batch; the columns are empty then.
    pub(super) fn take(&mut self) -> RecordBatch {
        let rows = self.kind.len();
        if self.texts[..4].iter().chain(&self.tags).any(Texts::is_full) {
            self.target_keys.clear();
        }
        let is_full = self.detail == Detail::Full;
        let mut arrays = vec![
            Array::new(Values::UInt8(take(&mut self.kind))),
            Array::new(Values::UInt64(take(&mut self.seq))),
            Array::new(Values::Int64(take(&mut self.timestamp))),
        ];
        for (i, column) in self.times.iter_mut().enumerate() {
            arrays.push(given(Values::Int64(take(column)), i == 0 || is_full, rows));
        }
        arrays.push(Array::new(Values::UInt16(take(&mut self.code))));
        arrays.push(Array::new(Values::UInt8(take(&mut self.failure))));
        let reused = take(&mut self.reused).into_iter().collect();
        arrays.push(given(Values::Boolean(reused), is_full, rows));
        for (i, column) in self.sizes.iter_mut().enumerate() {
            arrays.push(given(Values::UInt64(take(column)), i < 2 || is_full, rows));
        }
        arrays.extend(self.texts.iter_mut().map(Texts::take));
        arrays.extend(self.blobs.iter_mut().map(Blobs::take));
        arrays.push(given(Values::UInt32(take(&mut self.conn)), is_full, rows));
        let agents = take(&mut self.agent);
        let is_fleet = agents.iter().any(|agent| *agent > 0);
        arrays.push(given(Values::UInt16(agents), is_fleet, rows));
        let outcomes = take(&mut self.outcome);
        let has_others = outcomes.iter().any(|outcome| *outcome > 0);
        arrays.push(given(Values::UInt8(outcomes), has_others, rows));
        arrays.extend(self.tags.iter_mut().map(Texts::take));
        let columns = self.schema.fields.iter().zip(arrays).map(|(field, array)| Column {
            name: field.name.clone(),
            data_type: field.data_type.clone(),
            array,
        });
        RecordBatch { rows, columns: columns.collect() }
    }
}
