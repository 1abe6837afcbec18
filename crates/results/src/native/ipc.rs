//! The Arrow IPC stream. Messages are cut out of the bytes here and only whole ones, of a bounded size, are given to the
//! Arrow library; what is cut off at the end is told, not an error. Source: "Arrow Columnar Format", IPC streaming format.

use std::cell::Cell;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;
use metrics::server::Row;
use metrics::tally::Assertion;
use metrics::{Batch, Generator, TargetTable};

use super::columns::Columns;
use super::rows::Rows;
use super::schema;
use crate::feed::Feed;
use crate::labels::Labels;
use crate::note;
use crate::source::{Fault, Source, Step};
use crate::write::Output;
use crate::{Detail, Encoding, StreamInfo, WriteError, Writer};

/// Bytes the description of a message may have; a schema with its metadata is the largest.
const HEAD_MAX: u64 = 4 << 20;
/// Bytes the body of a message may have. Ours have a few MB; other programs write a whole file as one.
const BODY_MAX: u64 = 1 << 30;
/// What every message begins with.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// What an Arrow file (not stream) begins with; a stream follows it, and a footer that is of no use to us.
const FILE_MAGIC: &[u8; 8] = b"ARROW1\0\0";

/// Writes the Arrow IPC stream.
pub(crate) struct ArrowWriter {
    stream: StreamWriter<Output>,
    columns: Columns,
    epoch: i64,
}

impl ArrowWriter {
    /// Writes the schema at once, so that a reader on a pipe knows what it has.
    pub(crate) fn new(output: Output, info: &StreamInfo) -> Result<Self, WriteError> {
        let columns = Columns::new(info);
        let mut stream = StreamWriter::try_new(output, &columns.schema()).map_err(refused)?;
        stream.flush().map_err(refused)?;
        Ok(Self { stream, columns, epoch: info.epoch })
    }

    fn write_columns(&mut self) -> Result<(), WriteError> {
        if self.columns.is_empty() {
            return Ok(());
        }
        let batch = self.columns.take().map_err(refused)?;
        self.stream.write(&batch).map_err(refused)
    }
}

/// What the Arrow library could not write.
pub(super) fn refused(error: ArrowError) -> WriteError {
    match error {
        ArrowError::IoError(_, error) => WriteError::from(error),
        error => WriteError::Encode { encoding: Encoding::Arrow, reason: error.to_string() },
    }
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
        self.columns.push_note(&note::encode(generator), now);
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
        self.stream.flush().map_err(refused)
    }

    fn finish(mut self: Box<Self>) -> Result<u64, WriteError> {
        self.write_columns()?;
        self.stream.finish().map_err(refused)?;
        let output = self.stream.get_mut();
        output.flush()?;
        Ok(output.bytes())
    }
}

/// Reads the Arrow IPC stream; several, one after the other, are one.
pub(crate) struct ArrowSource {
    feed: Feed,
    decoder: StreamDecoder,
    rows: Option<Rows>,
    detail: Detail,
    /// It is an Arrow file, whose stream a footer follows.
    in_file: bool,
    /// What the generators of the streams before this one said last, added up.
    before: Option<Generator>,
    /// What the generator of this stream said last.
    last: Option<Generator>,
    ended: bool,
}

/// What lies at the front of the bytes.
enum Front {
    /// A message of so many bytes.
    Message(usize),
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
            decoder: StreamDecoder::new(),
            rows: None,
            detail: Detail::Full,
            in_file,
            before: None,
            last: None,
            ended: false,
        };
        if let Front::Message(_) = source.front()? {
            source.detail = source.read_detail()?;
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
        let message = arrow_ipc::root_as_message(&self.feed.pending()[skip + 4..start]);
        let body = message.map_err(|error| self.corrupt(&error.to_string()))?.bodyLength();
        let body = u64::try_from(body).map_err(|_| self.corrupt("a body of negative length"))?;
        if body > BODY_MAX {
            return Err(Fault::TooLarge { at, what: "a message", len: body, max: BODY_MAX });
        }
        let len = start + body as usize;
        let whole = self.feed.need(len)?;
        Ok(if whole { Front::Message(len) } else { Front::CutOff })
    }

    fn corrupt(&self, reason: &str) -> Fault {
        Fault::Corrupt { at: self.feed.at(), reason: reason.to_owned() }
    }

    /// What the schema at the front says of itself.
    fn read_detail(&self) -> Result<Detail, Fault> {
        let skip = if self.feed.pending().starts_with(&CONTINUATION) { 8 } else { 4 };
        let decoded = guarded(|| {
            let message = arrow_ipc::root_as_message(&self.feed.pending()[skip..]);
            let message = message.map_err(|error| ArrowError::IpcError(error.to_string()))?;
            let schema = message
                .header_as_schema()
                .ok_or_else(|| ArrowError::IpcError("no schema in front".to_owned()))?;
            arrow_ipc::convert::try_fb_to_schema(schema)
        });
        decoded.map(|schema| schema::detail(&schema)).map_err(|reason| self.corrupt(&reason))
    }

    /// Decodes the message at the front.
    fn decode(&mut self, len: usize) -> Result<Option<RecordBatch>, Fault> {
        let mut buffer = Buffer::from(&self.feed.pending()[..len]);
        let decoder = &mut self.decoder;
        // The decoder takes in a message without a body only when the next one comes, so it may stop in between.
        let decoded = guarded(|| {
            let mut found = None;
            while !buffer.is_empty() {
                found = decoder.decode(&mut buffer)?.filter(|batch| batch.num_rows() > 0);
            }
            Ok(found)
        });
        let batch = decoded.map_err(|reason| self.corrupt(&reason))?;
        self.feed.consume(len);
        Ok(batch)
    }

    /// The stream's end mark was read. Another stream may follow; a file's footer is not one, and anything else is lost.
    fn end_stream(&mut self) -> Result<Option<Step>, Fault> {
        self.decoder = StreamDecoder::new();
        if self.feed.need(4)? && self.feed.pending().starts_with(&CONTINUATION) {
            self.before = added(self.before.take(), self.last.take());
            return Ok(None);
        }
        self.ended = true;
        let follows = !self.in_file && !self.feed.pending().is_empty();
        Ok(follows.then(|| Step::Lost("followed by bytes that are no Arrow stream".to_owned())))
    }

    /// The view of this stream's generator together with those of the streams before it.
    fn all_generators(&mut self, generator: Generator) -> Generator {
        self.last = Some(generator.clone());
        added(self.before.clone(), Some(generator)).unwrap_or_default()
    }

    fn cut_off(&mut self) -> Step {
        self.ended = true;
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
                let step = rows.next(batch, labels);
                match step.map_err(|reason| self.corrupt(&reason))? {
                    Some(Step::Generator(generator)) => {
                        return Ok(Step::Generator(Box::new(self.all_generators(*generator))));
                    }
                    Some(step) => return Ok(step),
                    None => self.rows = None,
                }
            }
            if self.ended {
                return Ok(Step::End);
            }
            match self.front()? {
                Front::Message(len) => {
                    if let Some(found) = self.decode(len)? {
                        let rows = guarded(|| Rows::new(&found));
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

/// Runs the Arrow library over bytes of a stranger's: an error or a panic of its is a reason, not our end.
pub(super) fn guarded<T>(decode: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, String> {
    HUSH.call_once(hush);
    GUARDED.set(true);
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    GUARDED.set(false);
    match decoded {
        Ok(decoded) => decoded.map_err(|error| error.to_string()),
        Err(_) => Err("the decoder gave up on it".to_owned()),
    }
}

thread_local! {
    /// A panic on this thread is caught and told as an error.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

static HUSH: Once = Once::new();

/// A panic that is caught is not printed; every other one goes where it went before.
fn hush() {
    let before = take_hook();
    set_hook(Box::new(move |info| {
        if !GUARDED.get() {
            before(info);
        }
    }));
}
