//! `Reader`: result streams in, batches out; several inputs are merged by time. It opens no file.

use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use metrics::server::Row;
use metrics::tally::Assertion;
use metrics::{Batch, Generator, Sample, Span, TargetTable};
use stdx::Nanos;

use crate::detect::{detect, source};
use crate::feed::Feed;
use crate::fill::{ROWS_MAX, TEXT_MAX};
use crate::labels::Labels;
use crate::source::{Source, Step};
use crate::{Detail, Encoding, InputForm, ReadError};

/// One input: its name, for messages, and its bytes.
pub type Input = (String, Box<dyn Read + Send>);

/// Result streams in, batches out.
pub struct Reader {
    streams: Vec<Stream>,
    labels: Labels,
    losses: Vec<String>,
}

/// One input under way.
struct Stream {
    name: String,
    form: InputForm,
    source: Box<dyn Source>,
    /// Rows read and not yet merged; unused with a single input.
    batch: Batch,
    at: usize,
    ended: bool,
    /// Something of it was reported missing.
    has_loss: bool,
    /// It is compressed, and was cut.
    is_cut: Arc<AtomicBool>,
    /// Unix times (ns) of the first hit due, the last one due, and the last end; only of several inputs.
    span: Option<(i64, i64, i64)>,
}

/// What [`Reader::next`] found.
#[derive(Debug, PartialEq)]
pub enum Item {
    /// The batch was filled with at least one row.
    Hits,
    /// A generator's view of itself; a later one of the same input replaces it. The batch is empty.
    Generator {
        /// Which input it came from: its place in the list given to [`Reader::open`].
        input: usize,
        /// What it says.
        generator: Box<Generator>,
    },
    /// What was seen of the server. The batch is empty.
    Server(Box<Row>),
    /// The result of a gate, or a threshold, a check or a metric of a script. The batch is empty.
    Assertion {
        /// Which input it came from, as above.
        input: usize,
        /// The threshold or check, with its result.
        assertion: Box<Assertion>,
        /// When it was judged: Unix time, ns.
        at: i64,
    },
}

impl Reader {
    /// Reads the start of each input. Blocks until there is enough to detect its encoding.
    ///
    /// # Errors
    /// An input is empty, foreign, corrupt or cannot be read; the error names it.
    pub fn open(inputs: Vec<Input>) -> Result<Self, ReadError> {
        let streams = inputs.into_iter().map(Stream::open).collect::<Result<_, _>>()?;
        Ok(Self { streams, labels: Labels::default(), losses: Vec::new() })
    }

    /// Empties `batch` and fills it with the next rows, or returns a generator's record, a row of the server's side, or a
    /// threshold or check; `None` at the end of every input. Rows of a live pipe are returned as soon as they are complete.
    /// `batch.epoch` may differ from call to call. Rows of several inputs come in order of their `done`, as far as each input
    /// is in that order.
    ///
    /// # Errors
    /// An input is corrupt or cannot be read. Earlier rows have been returned; reading on may return the same error.
    pub fn next(&mut self, batch: &mut Batch) -> Result<Option<Item>, ReadError> {
        batch.clear();
        if self.streams.len() == 1 {
            return self.next_of(0, batch);
        }
        for input in 0..self.streams.len() {
            if self.streams[input].needs_rows() {
                let mut rows = std::mem::take(&mut self.streams[input].batch);
                let found = self.next_of(input, &mut rows);
                let stream = &mut self.streams[input];
                (stream.batch, stream.at) = (rows, 0);
                stream.note_span();
                if let Some(item) = found?.filter(|item| *item != Item::Hits) {
                    return Ok(Some(item));
                }
            }
        }
        Ok(self.merge(batch).then_some(Item::Hits))
    }

    /// Whether hits of an input may have tags.
    #[must_use]
    pub fn has_tags(&self) -> bool {
        self.streams.iter().any(|stream| stream.source.has_tags())
    }

    /// The next item of one input. Losses are noted on the way.
    fn next_of(&mut self, input: usize, batch: &mut Batch) -> Result<Option<Item>, ReadError> {
        let stream = &mut self.streams[input];
        loop {
            if stream.ended {
                return Ok(None);
            }
            let step = stream.source.next(batch, &mut self.labels);
            match step.map_err(|fault| fault.name(&stream.name, stream.form))? {
                Step::Hits => return Ok(Some(Item::Hits)),
                Step::Generator(generator) => {
                    return Ok(Some(Item::Generator { input, generator }));
                }
                Step::Server(row) => return Ok(Some(Item::Server(row))),
                Step::Assertion(assertion, at) => {
                    return Ok(Some(Item::Assertion { input, assertion, at }));
                }
                Step::Lost(what) => {
                    stream.has_loss = true;
                    self.losses.push(format!("\"{}\" is {what}", stream.name));
                }
                Step::End => {
                    stream.ended = true;
                    if stream.is_cut.load(Ordering::Relaxed) && !stream.has_loss {
                        let name = &stream.name;
                        self.losses.push(format!("\"{name}\" is compressed and cut off"));
                    }
                }
            }
        }
    }

    /// Moves rows into `batch` in order of time, until it is full or an input has none left; returns whether there are any.
    fn merge(&mut self, batch: &mut Batch) -> bool {
        let epochs = self.streams.iter().filter(|stream| stream.has_rows());
        let Some(epoch) = epochs.map(|stream| stream.batch.epoch).min() else { return false };
        batch.epoch = epoch;
        while batch.samples.len() < ROWS_MAX && batch.texts.len() < TEXT_MAX {
            let with_rows = self.streams.iter_mut().filter(|stream| stream.has_rows());
            let Some(stream) = with_rows.min_by_key(|stream| stream.time()) else { break };
            stream.move_row(batch);
            if stream.needs_rows() {
                break;
            }
        }
        true
    }

    /// The targets that the samples handed out so far number.
    #[must_use]
    pub fn targets(&self) -> &TargetTable {
        self.labels.table()
    }

    /// When the first and the last of each input's hits so far were due, and when the last ended, as Unix times (ns), in the
    /// order of the inputs; inputs without hits are left out, and so is a single input.
    #[must_use]
    pub fn spans(&self) -> Vec<(i64, i64, i64)> {
        self.streams.iter().filter_map(|stream| stream.span).collect()
    }

    /// The form of each input, in the order given to [`Reader::open`].
    #[must_use]
    pub fn forms(&self) -> Vec<InputForm> {
        self.streams.iter().map(|stream| stream.form).collect()
    }

    /// How much is known of each hit: the least of all inputs.
    #[must_use]
    pub fn detail(&self) -> Detail {
        let full = self.streams.iter().all(|stream| stream.source.detail() == Detail::Full);
        if full { Detail::Full } else { Detail::StartAndEnd }
    }

    /// Sentences about what is missing: cut-off inputs. Complete once [`Reader::next`] gave `None`.
    #[must_use]
    pub fn losses(&self) -> &[String] {
        &self.losses
    }
}

impl Stream {
    fn open((name, input): Input) -> Result<Self, ReadError> {
        let is_cut = Arc::<AtomicBool>::default();
        let input = CutNoting { input: stdx::decompressed(input), is_cut: Arc::clone(&is_cut) };
        let mut feed = Feed::new(Box::new(input));
        let detected = detect(&mut feed);
        let none = InputForm::Stream(Encoding::Arrow);
        let Some(form) = detected.map_err(|fault| fault.name(&name, none))? else {
            let is_empty = feed.pending().is_empty();
            return Err(match is_empty {
                true => ReadError::Empty { input: name },
                false => ReadError::Detect { input: name },
            });
        };
        let source = source(form, feed).map_err(|fault| fault.name(&name, form))?;
        Ok(Self {
            name,
            form,
            source,
            batch: Batch::default(),
            at: 0,
            ended: false,
            has_loss: false,
            is_cut,
            span: None,
        })
    }

    fn has_rows(&self) -> bool {
        self.at < self.batch.samples.len()
    }

    fn needs_rows(&self) -> bool {
        !self.ended && !self.has_rows()
    }

    /// Takes in when the rows at hand were due and ended.
    fn note_span(&mut self) {
        for sample in &self.batch.samples {
            let of = |time: Nanos| self.batch.epoch.saturating_add_unsigned(time.0);
            let (due, done) = (of(sample.intended), of(sample.done));
            let (first, last, end) = self.span.unwrap_or((due, due, done));
            self.span = Some((first.min(due), last.max(due), end.max(done)));
        }
    }

    /// When the hit of the next row ended, as Unix time.
    fn time(&self) -> i128 {
        i128::from(self.batch.epoch) + i128::from(self.batch.samples[self.at].done.0)
    }

    fn move_row(&mut self, to: &mut Batch) {
        let sample = self.batch.samples[self.at];
        self.at += 1;
        // `to` has the earliest epoch of all.
        let shift = Nanos(self.batch.epoch.abs_diff(to.epoch));
        let text = |span: Span, to: &mut Batch| match span.len {
            0 => Span::default(),
            _ => to.add_text(self.batch.text(span)),
        };
        let moved = Sample {
            intended: sample.intended.saturating_add(shift),
            sent: sample.sent.saturating_add(shift),
            first_byte: sample.first_byte.saturating_add(shift),
            done: sample.done.saturating_add(shift),
            error: text(sample.error, to),
            line: text(sample.line, to),
            name: text(sample.name, to),
            tags: text(sample.tags, to),
            body: text(sample.body, to),
            headers: text(sample.headers, to),
            ..sample
        };
        to.samples.push(moved);
    }
}

/// An input that ends where its compressed bytes break off: what came before is whole.
struct CutNoting<R> {
    input: R,
    is_cut: Arc<AtomicBool>,
}

impl<R: Read> Read for CutNoting<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.input.read(buf) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                self.is_cut.store(true, Ordering::Relaxed);
                Ok(0)
            }
            read => read,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::Mutex;

    use stdx::Compression;

    use super::*;
    use crate::{Format, StreamInfo};

    #[derive(Clone, Default)]
    struct Memory(Arc<Mutex<Vec<u8>>>);

    impl Write for Memory {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    const ROWS: usize = 300;

    fn written(format: Format) -> Vec<u8> {
        let memory = Memory::default();
        let mut writer =
            crate::writer(format, Box::new(memory.clone()), &StreamInfo::default()).unwrap();
        let mut batch = Batch::default();
        for i in 0..ROWS as u64 {
            let done = Nanos(i + 10);
            batch.samples.push(Sample {
                done,
                first_byte: done,
                outcome: metrics::Outcome::Http(200),
                ..Sample::default()
            });
        }
        writer.batch(&batch, &TargetTable::default()).unwrap();
        writer.flush().unwrap();
        writer.batch(&batch, &TargetTable::default()).unwrap();
        writer.finish().unwrap();
        memory.0.lock().unwrap().clone()
    }

    fn read(bytes: Vec<u8>) -> (usize, Reader) {
        let input: Input = ("r".to_owned(), Box::new(io::Cursor::new(bytes)));
        let mut reader = Reader::open(vec![input]).unwrap();
        let (mut rows, mut batch) = (0, Batch::default());
        while reader.next(&mut batch).unwrap().is_some() {
            rows += batch.samples.len();
        }
        (rows, reader)
    }

    #[test]
    fn regression_issue_41_results_may_be_compressed() {
        for encoding in Encoding::ALL {
            for compression in [Compression::Gzip, Compression::Zstd] {
                let bytes = written(Format { encoding, compression });
                assert_eq!(Compression::of_bytes(&bytes), compression);
                assert!(bytes.len() < written(encoding.into()).len(), "{encoding:?}");
                let (rows, reader) = read(bytes);
                assert_eq!(rows, 2 * ROWS, "{encoding:?} {compression:?}");
                assert_eq!(reader.forms(), [encoding]);
                assert_eq!(reader.losses(), [""; 0]);
            }
        }
    }

    #[test]
    fn compressed_results_that_are_cut_are_reported() {
        for encoding in [Encoding::Arrow, Encoding::Csv, Encoding::Json, Encoding::Gob] {
            for compression in [Compression::Gzip, Compression::Zstd] {
                let bytes = written(Format { encoding, compression });
                // After what the flush handed over: of gzip only its end is missing, of Zstandard the last frame's.
                let (rows, reader) = read(bytes[..bytes.len() - 6].to_vec());
                assert!(rows >= ROWS, "{encoding:?} {compression:?}: {rows}");
                let losses = reader.losses();
                assert!(losses[0].contains("cut off"), "{encoding:?} {compression:?}: {losses:?}");
            }
        }
    }
}
