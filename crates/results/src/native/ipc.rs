//! The Arrow IPC stream. Messages are cut out of the bytes here and only whole ones, of a bounded size, are decoded; what is
//! cut off at the end is a loss, not an error. Source: "Arrow Columnar Format", IPC streaming format.

use std::io::Write;
use std::sync::Arc;

use metrics::server::Row;
use metrics::tally::Assertion;
use metrics::{Batch, Generator, TargetTable};

use super::array::{Array, Values};
use super::columns::Columns;
use super::message::{
    CONTINUATION, Decoder, body_len, decode_schema, encode_batch, encode_dictionary, encode_schema,
};
use super::pipe_end::PipeEnd;
use super::record_batch::RecordBatch;
use super::rows::{RowStep, Rows};
use crate::feed::Feed;
use crate::labels::Labels;
use crate::note::{NoteReader, NoteWriter};
use crate::source::{Fault, Source, Step};
use crate::write::Output;
use crate::{Detail, Encoding, StreamInfo, WriteError, Writer};

/// Bytes the description of a message may have; a schema with its metadata is the largest.
const HEAD_MAX: u64 = 4 << 20;
/// Bytes the body of a message may have. Ours have a few MB; other programs write a whole file as one.
const BODY_MAX: u64 = 1 << 30;
/// What a stream ends with: a message without metadata.
const END_MARK: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
/// What an Arrow file (not stream) begins with; a stream follows it, and a footer that is of no use to us.
const FILE_MAGIC: &[u8; 8] = b"ARROW1\0\0";

/// Writes the Arrow IPC stream.
pub(crate) struct ArrowWriter {
    output: Output,
    columns: Columns,
    /// The dictionaries a reader has, by their numbers.
    dictionaries: Vec<Option<Arc<Array>>>,
    notes: NoteWriter,
    epoch: i64,
}

impl ArrowWriter {
    /// Writes the schema at once, so that a reader on a pipe can detect the format.
    pub(crate) fn new(mut output: Output, info: &StreamInfo) -> Result<Self, WriteError> {
        let columns = Columns::new(info);
        output.write_all(&encode_schema(&columns.schema()))?;
        output.flush()?;
        let (dictionaries, notes) = (Vec::new(), NoteWriter::default());
        Ok(Self { output, columns, dictionaries, notes, epoch: info.epoch })
    }

    fn write_columns(&mut self) -> Result<(), WriteError> {
        if self.columns.is_empty() {
            return Ok(());
        }
        let batch = self.columns.take();
        let mut id = 0;
        for column in &batch.columns {
            if let Values::Dictionary { texts, .. } = &column.array.values {
                self.write_dictionary(id, texts)?;
                id += 1;
            }
        }
        Ok(self.output.write_all(&encode_batch(&batch).map_err(refused)?)?)
    }

    /// Writes a dictionary that the reader does not have.
    fn write_dictionary(&mut self, id: usize, texts: &Arc<Array>) -> Result<(), WriteError> {
        if self.dictionaries.len() <= id {
            self.dictionaries.resize(id + 1, None);
        }
        if self.dictionaries[id].as_ref().is_some_and(|known| Arc::ptr_eq(known, texts)) {
            return Ok(());
        }
        self.output.write_all(&encode_dictionary(id as i64, texts).map_err(refused)?)?;
        self.dictionaries[id] = Some(Arc::clone(texts));
        Ok(())
    }
}

/// Rows that a message cannot hold.
fn refused(reason: String) -> WriteError {
    WriteError::Encode { encoding: Encoding::Arrow, reason }
}

impl Writer for ArrowWriter {
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
        if self.columns.is_full() { self.write_columns() } else { Ok(()) }
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
        self.write_columns()?;
        Ok(self.output.flush()?)
    }

    fn finish(mut self: Box<Self>) -> Result<u64, WriteError> {
        self.write_columns()?;
        self.output.write_all(&END_MARK)?;
        Ok(self.output.finish()?)
    }
}

/// Reads the Arrow IPC stream; several, one after the other, are one.
pub(crate) struct ArrowSource {
    feed: Feed,
    decoder: Decoder,
    rows: Option<Rows>,
    detail: Detail,
    has_tags: bool,
    epoch: Option<i64>,
    /// What was seen of a stream that was written into a pipe.
    pipe: Option<PipeEnd>,
    /// It is an Arrow file: a footer follows the stream.
    in_file: bool,
    /// The sum of the last records of the generators of earlier streams.
    before: Option<Generator>,
    /// The records of this stream's generator.
    notes: NoteReader,
    ended: bool,
}

/// What lies at the front of the bytes.
enum Front {
    /// A message: bytes before its metadata, of its metadata, of its body.
    Message(usize, usize, usize),
    /// The end of the stream, of so many bytes.
    EndMark(usize),
    /// The input ended before the message did.
    CutOff,
}

impl ArrowSource {
    /// Reads the schema, which is the first message.
    pub(crate) fn open(mut feed: Feed) -> Result<Self, Fault> {
        let in_file = feed.need(FILE_MAGIC.len())? && feed.pending().starts_with(FILE_MAGIC);
        if in_file {
            feed.consume(FILE_MAGIC.len());
        }
        let mut source = Self {
            feed,
            decoder: Decoder::default(),
            rows: None,
            detail: Detail::Full,
            has_tags: false,
            epoch: None,
            pipe: None,
            in_file,
            before: None,
            notes: NoteReader::default(),
            ended: false,
        };
        if let Front::Message(start, metadata, _) = source.front()? {
            let metadata = &source.feed.pending()[start..start + metadata];
            let schema = decode_schema(metadata).map_err(|reason| source.corrupt(&reason))?;
            (source.detail, source.has_tags) = (schema.detail(), schema.has_tags());
            source.epoch = schema.epoch();
            source.pipe = schema.is_piped().then(PipeEnd::default);
        }
        Ok(source)
    }

    /// Waits for a whole message, and no longer.
    fn front(&mut self) -> Result<Front, Fault> {
        if !self.feed.need(4)? {
            return Ok(Front::CutOff);
        }
        let at = self.feed.at();
        // Streams from before Arrow 0.15 lack the continuation mark.
        let skip = if self.feed.pending().starts_with(&CONTINUATION) { 4 } else { 0 };
        if !self.feed.need(skip + 4)? {
            return Ok(Front::CutOff);
        }
        let word = &self.feed.pending()[skip..];
        let head = u64::from(u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        if head == 0 {
            return Ok(Front::EndMark(skip + 4));
        }
        if head > HEAD_MAX {
            let what = "the description of a message";
            return Err(Fault::TooLarge { at, what, len: head, max: HEAD_MAX });
        }
        let start = skip + 4 + head as usize;
        if !self.feed.need(start)? {
            return Ok(Front::CutOff);
        }
        let body = body_len(&self.feed.pending()[skip + 4..start]);
        let body = body.map_err(|reason| self.corrupt(&reason))?;
        if body > BODY_MAX {
            return Err(Fault::TooLarge { at, what: "a message", len: body, max: BODY_MAX });
        }
        let whole = self.feed.need(start + body as usize)?;
        let message = Front::Message(skip + 4, head as usize, body as usize);
        Ok(if whole { message } else { Front::CutOff })
    }

    fn corrupt(&self, reason: &str) -> Fault {
        Fault::Corrupt { at: self.feed.at(), reason: reason.to_owned() }
    }

    /// Decodes the message at the front.
    fn decode(
        &mut self,
        start: usize,
        metadata: usize,
        body: usize,
    ) -> Result<Option<RecordBatch>, Fault> {
        let pending = &self.feed.pending()[start..start + metadata + body];
        let (metadata, body) = pending.split_at(metadata);
        let decoded = self.decoder.decode(metadata, body);
        let len = start + pending.len();
        let batch = decoded.map_err(|reason| self.corrupt(&reason))?;
        self.feed.consume(len);
        Ok(batch.filter(|batch| batch.rows > 0))
    }

    /// The stream's end mark was read. Another stream may follow; a file's footer is not one, and anything else is lost.
    fn end_stream(&mut self) -> Result<Option<Step>, Fault> {
        self.decoder = Decoder::default();
        if self.feed.need(4)? && self.feed.pending().starts_with(&CONTINUATION) {
            self.before = added(self.before.take(), self.notes.take());
            return Ok(None);
        }
        self.ended = true;
        let follows = !self.in_file && !self.feed.pending().is_empty();
        Ok(follows.then(|| Step::Lost("followed by bytes that are no Arrow stream".to_owned())))
    }

    /// The last view of this stream's generator, together with those of the streams before it.
    fn take_note(&mut self) -> Result<Step, Fault> {
        let last = self.notes.last().map(|last| last.cloned());
        let last = last.map_err(|reason| self.corrupt(&reason))?;
        let all = added(self.before.clone(), last).unwrap_or_default();
        Ok(Step::Generator(Box::new(all)))
    }

    fn cut_off(&mut self) -> Step {
        self.ended = true;
        if let Some(pipe) = &self.pipe {
            self.feed.consume_all();
            let last = pipe.last_word(self.notes.take());
            let all = added(self.before.clone(), Some(last)).unwrap_or_default();
            return Step::Generator(Box::new(all));
        }
        match self.feed.consume_all() {
            0 => Step::Lost(
                "without an end mark: its writer was cut off, and what it had not flushed is missing"
                    .into(),
            ),
            lost => Step::Lost(format!(
                "cut off in its last message ({} lost, up to a second of rows)",
                stdx::counted(lost as u64, "byte")
            )),
        }
    }
}

impl Source for ArrowSource {
    fn next(&mut self, batch: &mut Batch, labels: &mut Labels) -> Result<Step, Fault> {
        batch.clear();
        loop {
            if let Some(rows) = &mut self.rows {
                let found = rows.next(batch, labels);
                match found.map_err(|reason| self.corrupt(&reason))? {
                    Some(RowStep::Step(step)) => {
                        self.pipe.iter_mut().for_each(|pipe| pipe.add(batch));
                        return Ok(step);
                    }
                    Some(RowStep::Note(note)) => {
                        let added = self.notes.add(note);
                        added.map_err(|reason| self.corrupt(&reason))?;
                    }
                    None => self.rows = None,
                }
                continue;
            }
            if self.ended {
                return Ok(Step::End);
            }
            // Of a live pipe there is nothing more for now; a file's next message mostly replaces the record.
            if self.feed.pending().is_empty() && self.notes.has_new() {
                return self.take_note();
            }
            let front = self.front();
            // What is not whole comes again with the next call, after the record before it.
            if self.notes.has_new() && !matches!(front, Ok(Front::Message(..))) {
                return self.take_note();
            }
            match front? {
                Front::Message(start, metadata, body) => {
                    let found = self.decode(start, metadata, body);
                    if self.notes.has_new() && found.is_err() {
                        return self.take_note();
                    }
                    if let Some(found) = found? {
                        let rows = Rows::new(found, self.epoch);
                        self.rows = Some(rows.map_err(|reason| self.corrupt(&reason))?);
                    }
                }
                Front::EndMark(len) => {
                    self.feed.consume(len);
                    if let Some(lost) = self.end_stream()? {
                        return Ok(lost);
                    }
                }
                Front::CutOff => return Ok(self.cut_off()),
            }
        }
    }

    fn detail(&self) -> Detail {
        self.detail
    }

    fn has_tags(&self) -> bool {
        self.has_tags
    }
}

/// Two records as one; none is no record.
fn added(one: Option<Generator>, other: Option<Generator>) -> Option<Generator> {
    match (one, other) {
        (Some(mut all), Some(other)) => {
            all.merge(&other);
            Some(all)
        }
        (one, other) => one.or(other),
    }
}
