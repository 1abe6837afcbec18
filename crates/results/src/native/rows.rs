//! `Rows`: a cursor over a `RecordBatch`, handing out batches of samples. Columns that are missing, or null as a whole, are
//! zero; columns it does not know are skipped; rows of a kind it does not know are skipped.

use metrics::{Batch, FailureKind, Outcome, Sample, Span};
use stdx::Nanos;

use super::array::{Array, Bitmap, Values};
use super::record_batch::{Column, RecordBatch};
use super::schema::{DataType, KIND_GENERATOR, KIND_HIT};
use crate::assertion::{
    self, KIND_AGENT, KIND_CHECK, KIND_EVENT, KIND_GATE, KIND_METRIC, KIND_PROVENANCE,
    KIND_THRESHOLD,
};
use crate::fill::{ROWS_MAX, TEXT_MAX};
use crate::labels::{Labels, PlacedTarget, TargetRef};
use crate::observed::{self, KIND_INCIDENT, KIND_READING, KIND_SERVED, Observed};
use crate::source::Step;

/// Rows one message may claim to have.
const MESSAGE_ROWS_MAX: usize = 1 << 28;
/// Remembered combinations of dictionary keys; a power of two.
const MEMO: usize = 1 << 10;
/// Hits that are filled column by column: so few that their 10 KB stay in the first cache from column to column.
const BLOCK: usize = 64;

/// What rows hold.
pub(super) enum RowStep {
    Step(Step),
    /// A generator's record as it is written: a later one replaces it, so that few are decoded.
    Note(String),
}

/// A cursor over a record batch.
pub(super) struct Rows {
    at: usize,
    len: usize,
    /// When the run began (Unix ns), where the stream says so.
    epoch: Option<i64>,
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
    /// Null where every outcome is a status of HTTP; files of older versions lack it.
    outcome: Numbers<u8>,
    failure: Numbers<u8>,
    reused: Option<Bitmap>,
    bytes_out: Numbers<u64>,
    bytes_in: Numbers<u64>,
    wire_in: Numbers<u64>,
    conn: Numbers<u32>,
    agent: Numbers<u16>,
    /// `attack`, `method`, `url`, `name`, `tags`.
    target: [Texts; 5],
    error: Texts,
    body: Option<Array>,
    headers: Option<Array>,
    note: Texts,
    memo: Vec<([i32; 5], u32)>,
    /// The place in `memo` of the target that was last found or put there.
    last_slot: usize,
}

/// A column of numbers; `None` where it is missing or has nulls.
type Numbers<T> = Option<Vec<T>>;

/// A column of texts; `None` where it is missing.
struct Texts(Option<Array>);

impl Texts {
    fn of(batch: &mut RecordBatch, name: &str) -> Result<Self, String> {
        let Some(column) = batch.take(name) else { return Ok(Self(None)) };
        let is_text =
            |data_type: &DataType| matches!(data_type, DataType::Utf8 | DataType::LargeUtf8);
        let fits = match &column.data_type {
            DataType::Dictionary(keys, values) => {
                **keys == DataType::Int(32, true) && is_text(values)
            }
            other => is_text(other),
        };
        if fits {
            return Ok(Self(Some(column.array)));
        }
        Err(wrong(&column, "a dictionary of strings with 32-bit keys, or strings"))
    }

    fn get(&self, row: usize) -> &str {
        self.0.as_ref().map_or("", |array| array.text(row))
    }

    /// Writes the keys of the rows from `from` on: -1 for null, -2 where there are no keys.
    fn keys(&self, from: usize, into: &mut [i32]) {
        let Some(array @ Array { values: Values::Dictionary { keys, .. }, valid }) = &self.0 else {
            return into.fill(-2);
        };
        if let Some(keys) = keys.get(from..from + into.len()) {
            into.copy_from_slice(keys);
        }
        if valid.is_some() {
            let nulls = (from..).zip(into).filter(|(row, _)| !array.is_valid(*row));
            nulls.for_each(|(_, key)| *key = -1);
        }
    }
}

fn wrong(column: &Column, expected: &str) -> String {
    format!("column \"{}\" is {} (expected {expected})", column.name, column.data_type)
}

/// A column of the numbers that `pick` takes out of it.
fn numbers<T>(
    batch: &mut RecordBatch,
    name: &str,
    data_type: &DataType,
    pick: fn(Values) -> Option<Vec<T>>,
) -> Result<Numbers<T>, String> {
    let Some(column) = batch.take(name) else { return Ok(None) };
    if column.data_type != *data_type {
        return Err(wrong(&column, &data_type.to_string()));
    }
    if column.array.null_count() > 0 { Ok(None) } else { Ok(pick(column.array.values)) }
}

/// Durations in nanoseconds.
fn times(batch: &mut RecordBatch, name: &str) -> Result<Numbers<i64>, String> {
    numbers(batch, name, &DataType::Int(64, true), signed)
}

fn signed(values: Values) -> Option<Vec<i64>> {
    if let Values::Int64(values) = values { Some(values) } else { None }
}

fn bytes(batch: &mut RecordBatch, name: &str) -> Result<Numbers<u8>, String> {
    numbers(batch, name, &DataType::Int(8, false), |values| {
        if let Values::UInt8(values) = values { Some(values) } else { None }
    })
}

fn codes(batch: &mut RecordBatch, name: &str) -> Result<Numbers<u16>, String> {
    numbers(batch, name, &DataType::Int(16, false), |values| {
        if let Values::UInt16(values) = values { Some(values) } else { None }
    })
}

fn connections(batch: &mut RecordBatch, name: &str) -> Result<Numbers<u32>, String> {
    numbers(batch, name, &DataType::Int(32, false), |values| {
        if let Values::UInt32(values) = values { Some(values) } else { None }
    })
}

fn counts(batch: &mut RecordBatch, name: &str) -> Result<Numbers<u64>, String> {
    numbers(batch, name, &DataType::Int(64, false), |values| {
        if let Values::UInt64(values) = values { Some(values) } else { None }
    })
}

fn flags(batch: &mut RecordBatch, name: &str) -> Result<Option<Bitmap>, String> {
    let Some(column) = batch.take(name) else { return Ok(None) };
    if column.array.null_count() > 0 {
        return Ok(None);
    }
    match column.array.values {
        Values::Boolean(values) => Ok(Some(values)),
        _ => Err(wrong(&Column { array: Array::new(Values::Unknown), ..column }, "Boolean")),
    }
}

fn blobs(batch: &mut RecordBatch, name: &str) -> Result<Option<Array>, String> {
    let Some(column) = batch.take(name) else { return Ok(None) };
    if column.data_type != DataType::Binary {
        return Err(wrong(&column, "Binary"));
    }
    let is_null = column.array.null_count() == batch.rows;
    Ok((!is_null).then_some(column.array))
}

impl Rows {
    /// # Errors
    /// A column that must be there is missing, or one has another type than ours.
    pub(super) fn new(mut batch: RecordBatch, epoch: Option<i64>) -> Result<Self, String> {
        if batch.rows > MESSAGE_ROWS_MAX {
            return Err(format!("a message of {} rows", batch.rows));
        }
        let batch = &mut batch;
        Ok(Self {
            at: 0,
            len: batch.rows,
            epoch,
            kind: bytes(batch, "kind")?,
            seq: counts(batch, "seq")?,
            timestamp: Some(timestamps(batch)?),
            latency: Some(times(batch, "latency")?.ok_or_else(no_results)?),
            sent: times(batch, "sent")?,
            first_byte: times(batch, "first_byte")?,
            dns: times(batch, "dns")?,
            dial: times(batch, "dial")?,
            tls: times(batch, "tls")?,
            code: codes(batch, "code")?,
            outcome: bytes(batch, "outcome")?,
            failure: bytes(batch, "failure")?,
            reused: flags(batch, "reused")?,
            bytes_out: counts(batch, "bytes_out")?,
            bytes_in: counts(batch, "bytes_in")?,
            wire_in: counts(batch, "wire_in")?,
            conn: connections(batch, "connection")?,
            agent: codes(batch, "agent")?,
            target: [
                Texts::of(batch, "attack")?,
                Texts::of(batch, "method")?,
                Texts::of(batch, "url")?,
                Texts::of(batch, "name")?,
                Texts::of(batch, "tags")?,
            ],
            error: Texts::of(batch, "error")?,
            body: blobs(batch, "body")?,
            headers: blobs(batch, "headers")?,
            note: Texts::of(batch, "note")?,
            memo: vec![([i32::MIN; 5], 0); MEMO],
            last_slot: 0,
        })
    }

    /// The next rows into an empty batch; `None` when there are no more.
    ///
    /// # Errors
    /// A row of the server's side, or a threshold or check is corrupt.
    pub(super) fn next(
        &mut self,
        batch: &mut Batch,
        labels: &mut Labels,
    ) -> Result<Option<RowStep>, String> {
        while self.at < self.len {
            if let Some(found) = self.next_of_a_stretch(batch, labels)? {
                return Ok(Some(found));
            }
            if !batch.samples.is_empty() {
                return Ok(Some(RowStep::Step(Step::Hits)));
            }
        }
        Ok(None)
    }

    /// Hits up to a row of another kind, or that row, of the next `ROWS_MAX` rows; nothing where all are of unknown kinds.
    fn next_of_a_stretch(
        &mut self,
        batch: &mut Batch,
        labels: &mut Labels,
    ) -> Result<Option<RowStep>, String> {
        let to = self.len.min(self.at + ROWS_MAX);
        let mut error = (-1, Span::default());
        while self.at < to && batch.texts.len() < TEXT_MAX {
            match get(&self.kind, self.at) {
                KIND_HIT => {
                    // Searched once, for any number of rows in between.
                    if batch.samples.is_empty() {
                        batch.epoch = self.epoch_of(self.at, to);
                    }
                    self.hits(to, batch, labels, &mut error);
                    continue;
                }
                KIND_GENERATOR if batch.samples.is_empty() => {
                    let note = self.note.get(self.at).to_owned();
                    self.at += 1;
                    return Ok(Some(RowStep::Note(note)));
                }
                KIND_READING | KIND_SERVED | KIND_INCIDENT if batch.samples.is_empty() => {
                    let row = observed::decode(&self.observed(self.at), self.note.get(self.at))?;
                    self.at += 1;
                    return Ok(Some(RowStep::Step(Step::Server(Box::new(row)))));
                }
                kind @ (KIND_THRESHOLD | KIND_CHECK | KIND_GATE | KIND_METRIC | KIND_AGENT
                | KIND_EVENT | KIND_PROVENANCE)
                    if batch.samples.is_empty() =>
                {
                    let [_, _, _, name, _] = &self.target;
                    let (name, note) = (name.get(self.at), self.note.get(self.at));
                    let at = get(&self.timestamp, self.at);
                    let assertion = assertion::decode(kind, name, note, at)?;
                    self.at += 1;
                    return Ok(Some(RowStep::Step(Step::Assertion(Box::new(assertion), at))));
                }
                KIND_GENERATOR | KIND_READING | KIND_SERVED | KIND_INCIDENT | KIND_THRESHOLD
                | KIND_CHECK | KIND_GATE | KIND_METRIC | KIND_AGENT | KIND_EVENT
                | KIND_PROVENANCE => break,
                // A kind of a newer version.
                _ => {}
            }
            self.at += 1;
        }
        Ok(None)
    }

    fn observed(&self, row: usize) -> Observed<'_> {
        let [_, method, url, name, _] = &self.target;
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

    /// The stream's epoch, so that its figures over time are those that the run itself had; at most the earliest time of the
    /// hits among these rows, and 1970 where it lies before.
    fn epoch_of(&self, from: usize, to: usize) -> i64 {
        let hits = (from..to).filter(|row| get(&self.kind, *row) == KIND_HIT);
        let earliest = hits.map(|row| get(&self.timestamp, row)).min().unwrap_or(0).max(0);
        self.epoch.map_or(earliest, |epoch| epoch.clamp(0, earliest))
    }

    /// Adds the next hits: up to a row of another kind, row `to` or the end of a block, or until there is too much text.
    fn hits(&mut self, to: usize, batch: &mut Batch, labels: &mut Labels, error: &mut (i32, Span)) {
        let (from, first) = (self.at, batch.samples.len());
        let rows = BLOCK.min(to - from);
        let mut keys = [[-1; BLOCK]; 6];
        for (texts, keys) in self.target.iter().chain([&self.error]).zip(&mut keys) {
            texts.keys(from, &mut keys[..rows]);
        }
        batch.samples.resize(first + rows, Sample::default());
        let mut i = 0;
        while i < rows && get(&self.kind, self.at) == KIND_HIT && batch.texts.len() < TEXT_MAX {
            let [attack, method, url, name, tags, key] = keys.each_ref().map(|keys| keys[i]);
            let placed = self.place([attack, method, url, name, tags], batch, labels);
            let error = self.error_text(key, batch, error);
            let body = blob(self.body.as_ref(), self.at, batch);
            let headers = header_lines(self.headers.as_ref(), self.at, batch);
            let PlacedTarget { target, line, name, tags } = placed;
            let hit = &mut batch.samples[first + i];
            (hit.target, hit.line, hit.name, hit.tags) = (target, line, name, tags);
            (hit.error, hit.body, hit.headers) = (error, body, headers);
            i += 1;
            self.at += 1;
        }
        batch.samples.truncate(first + i);
        self.fill(from, batch.epoch, &mut batch.samples[first..]);
    }

    /// Adds the numbers of the rows from `from` on to their hits. Each column is a short loop: row by row, each row asked every
    /// column whether it is there and long enough, and reading took an eighth longer (4.9 million rows; bench `records`).
    fn fill(&self, from: usize, epoch: i64, hits: &mut [Sample]) {
        each(&self.timestamp, from, hits, |hit, unix_ns| {
            hit.intended = Nanos((unix_ns.max(0) - epoch) as u64);
            hit.sent = hit.intended;
        });
        each(&self.latency, from, hits, |hit, latency| {
            hit.done = hit.intended + Nanos(latency.max(0) as u64);
            hit.first_byte = hit.done;
        });
        each(&self.sent, from, hits, |hit, after| hit.sent = within(hit, after));
        each(&self.first_byte, from, hits, |hit, after| hit.first_byte = within(hit, after));
        each(&self.dns, from, hits, |hit, time| hit.dns = Nanos(time.max(0) as u64));
        each(&self.dial, from, hits, |hit, time| hit.dial = Nanos(time.max(0) as u64));
        each(&self.tls, from, hits, |hit, time| hit.tls = Nanos(time.max(0) as u64));
        each(&self.seq, from, hits, |hit, seq| hit.seq = seq);
        each(&self.bytes_out, from, hits, |hit, bytes| hit.bytes_out = bytes);
        each(&self.bytes_in, from, hits, |hit, bytes| hit.bytes_in = bytes);
        each(&self.wire_in, from, hits, |hit, bytes| hit.wire_in = bytes);
        each(&self.conn, from, hits, |hit, conn| hit.conn = conn);
        each(&self.agent, from, hits, |hit, agent| hit.agent = agent);
        each(&self.code, from, hits, |hit, code| hit.outcome = Outcome::http(code));
        each(&self.outcome, from, hits, |hit, number| {
            hit.outcome = Outcome::from_numbers(number, hit.outcome.code());
        });
        each(&self.failure, from, hits, |hit, number| hit.failure = failure(number));
        if let Some(reused) = &self.reused {
            (from..).zip(hits).for_each(|(row, hit)| hit.reused = reused.get(row));
        }
    }

    /// Rows with the same error share its text.
    fn error_text(&self, key: i32, batch: &mut Batch, last: &mut (i32, Span)) -> Span {
        if key >= 0 && key == last.0 {
            return last.1;
        }
        let text = self.error.get(self.at);
        let shown = stdx::redacted_message(text);
        let text = shown.as_deref().unwrap_or(text);
        let span = if text.is_empty() { Span::default() } else { batch.add_text(text.as_bytes()) };
        *last = (key, span);
        span
    }

    fn place(&mut self, keys: [i32; 5], batch: &mut Batch, labels: &mut Labels) -> PlacedTarget {
        let (last, target) = self.memo[self.last_slot];
        if last[0] >= 0 && are_same(&keys, &last) {
            return PlacedTarget { target, ..PlacedTarget::default() };
        }
        // Most streams have no tags.
        let is_keyed = |(i, key): (usize, &i32)| *key >= 0 || i == 4 && self.target[i].0.is_none();
        let keyed = keys.iter().enumerate().all(is_keyed);
        let slot =
            keys.iter().fold(0usize, |hash, key| hash.wrapping_mul(31) + *key as usize % MEMO);
        let slot = slot % MEMO;
        if keyed && are_same(&self.memo[slot].0, &keys) {
            self.last_slot = slot;
            return PlacedTarget { target: self.memo[slot].1, ..PlacedTarget::default() };
        }
        let [attack, method, url, name, tags] =
            std::array::from_fn(|i| self.target[i].get(self.at));
        let placed = labels.place(TargetRef { attack, method, url, name, tags }, batch);
        let is_whole = placed == PlacedTarget { target: placed.target, ..PlacedTarget::default() };
        if keyed && is_whole {
            self.memo[slot] = (keys, placed.target);
            self.last_slot = slot;
        }
        placed
    }
}

#[inline]
fn get<T: Copy + Default>(column: &Numbers<T>, row: usize) -> T {
    match column {
        Some(values) => values[row],
        None => T::default(),
    }
}

/// One by one: arrays are compared as memory, which waits for the stores that have only just written the keys.
fn are_same(a: &[i32; 5], b: &[i32; 5]) -> bool {
    (0..5).all(|at| a[at] == b[at])
}

/// Hands each hit its number of a column, of the rows from `from` on; a column that is missing leaves them as they are.
fn each<T: Copy>(
    column: &Numbers<T>,
    from: usize,
    hits: &mut [Sample],
    set: impl Fn(&mut Sample, T),
) {
    if let Some(values) = column {
        hits.iter_mut().zip(&values[from..]).for_each(|(hit, value)| set(hit, *value));
    }
}

/// The moment so long after a hit was due, at most its end.
fn within(hit: &Sample, after: i64) -> Nanos {
    hit.done.min(hit.intended + Nanos(after.max(0) as u64))
}

/// A kind of a newer version is a failure all the same.
fn failure(number: u8) -> FailureKind {
    FailureKind::from_number(number).unwrap_or(FailureKind::Malformed)
}

fn blob(column: Option<&Array>, row: usize, batch: &mut Batch) -> Span {
    match column.map(|column| column.bytes(row)) {
        Some(bytes) if !bytes.is_empty() => batch.add_text(bytes),
        _ => Span::default(),
    }
}

/// The header lines of a row, without what is redacted.
fn header_lines(column: Option<&Array>, row: usize, batch: &mut Batch) -> Span {
    match column.and_then(|column| stdx::redacted_lines(column.bytes(row))) {
        Some(lines) => batch.add_text(&lines),
        None => blob(column, row, batch),
    }
}

fn no_results() -> String {
    "no column \"timestamp\" or \"latency\": not a result stream".to_owned()
}

fn timestamps(batch: &mut RecordBatch) -> Result<Vec<i64>, String> {
    let column = batch.take("timestamp").ok_or_else(no_results)?;
    let expected = "Timestamp(Nanosecond) without nulls";
    if !matches!(column.data_type, DataType::Timestamp(_)) || column.array.null_count() > 0 {
        return Err(wrong(&column, expected));
    }
    signed(column.array.values).ok_or_else(no_results)
}
