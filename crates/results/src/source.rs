//! `Source`: one input's rows in the order they were written; `Records`: the same for encodings made of small records one after
//! the other. A source returns complete rows before it reads more.

use std::io;

use metrics::server::Row;
use metrics::tally::Assertion;
use metrics::{Batch, Generator};

use crate::feed::Feed;
use crate::fill::Filler;
use crate::labels::Labels;
use crate::{Detail, InputForm, ReadError};

/// Bytes one record may have: the largest captured body (16 MiB) as base64, and its headers.
pub(crate) const RECORD_MAX: usize = 64 << 20;

/// A record is tried anew with every read, but from so many bytes on only once it has grown by half: each try begins at its start.
const RESCAN_BYTES: usize = 1 << 20;

/// What a source found.
#[derive(Debug)]
pub(crate) enum Step {
    /// The batch has at least one row.
    Hits,
    /// A generator's record; the batch is empty.
    Generator(Box<Generator>),
    /// A row of the server's side; the batch is empty.
    Server(Box<Row>),
    /// A threshold or a check of a script, and when it was judged (Unix time, ns); the batch is empty.
    Assertion(Box<Assertion>, i64),
    /// Something is missing from the input, in words; the batch is empty.
    Lost(String),
    /// Nothing follows.
    End,
}

/// Why a source cannot go on; the reader adds the input's name.
#[derive(Debug)]
pub(crate) enum Fault {
    Io(io::Error),
    Corrupt { at: u64, reason: String },
    TooLarge { at: u64, what: &'static str, len: u64, max: u64 },
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Fault {
    pub(crate) fn name(self, input: &str, form: InputForm) -> ReadError {
        let input = input.to_owned();
        match self {
            Self::Io(error) => ReadError::Io { input, error },
            Self::Corrupt { at, reason } => {
                // Libraries give reasons of several lines.
                let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
                ReadError::Corrupt { input, form, at, reason }
            }
            Self::TooLarge { at, what, len, max } => {
                ReadError::TooLarge { input, form, at, what, len, max }
            }
        }
    }
}

/// One input's rows.
pub(crate) trait Source: Send {
    /// The next rows, into an emptied `batch`. It waits for the input only while it has nothing to hand out.
    fn next(&mut self, batch: &mut Batch, labels: &mut Labels) -> Result<Step, Fault>;

    /// Whether hits may have tags of a script.
    fn has_tags(&self) -> bool {
        false
    }

    /// How much is known of each hit.
    fn detail(&self) -> Detail {
        Detail::StartAndEnd
    }
}

/// How records are cut out of bytes and become rows.
pub(crate) trait Records: Send {
    /// Parses one record from the front and returns its length; `None` where it is incomplete. With `ended`, nothing follows
    /// `bytes`. After an error the state is unchanged.
    fn take(
        &mut self,
        bytes: &[u8],
        ended: bool,
        filler: &mut Filler<'_>,
    ) -> Result<Option<usize>, String>;

    /// What is missing at the input's end, in words, where so many bytes are left that are no record.
    fn lost(&mut self, bytes: usize) -> Option<String> {
        let lost = stdx::counted(bytes as u64, "byte");
        (bytes > 0).then(|| format!("cut off in its last record ({lost} lost)"))
    }
}

/// A source made of records.
pub(crate) struct RecordSource<R> {
    pub(crate) feed: Feed,
    pub(crate) records: R,
}

impl<R: Records> Source for RecordSource<R> {
    fn next(&mut self, batch: &mut Batch, labels: &mut Labels) -> Result<Step, Fault> {
        loop {
            let mut filler = Filler::new(batch, labels);
            let taken = self.take_all(&mut filler);
            // An error waits until the rows before it are handed out; the record is read again then.
            if filler.finish() > 0 {
                return Ok(Step::Hits);
            }
            taken?;
            let len = self.feed.pending().len();
            if len > RECORD_MAX {
                let (at, len, max) = (self.feed.at(), len as u64, RECORD_MAX as u64);
                return Err(Fault::TooLarge { at, what: "a record", len, max });
            }
            if self.feed.ended() {
                let lost = self.feed.consume_all();
                return Ok(self.records.lost(lost).map_or(Step::End, Step::Lost));
            }
            let more = if len < RESCAN_BYTES { 1 } else { len / 2 };
            self.feed.need(len + more)?;
        }
    }
}

impl<R: Records> RecordSource<R> {
    fn take_all(&mut self, filler: &mut Filler<'_>) -> Result<(), Fault> {
        while filler.has_room() && !self.feed.pending().is_empty() {
            // No record is longer, whatever a read brought at once.
            let pending = self.feed.pending();
            let front = &pending[..pending.len().min(RECORD_MAX + 1)];
            let ended = self.feed.ended() && front.len() == pending.len();
            let taken = self.records.take(front, ended, filler);
            let at = self.feed.at();
            match taken.map_err(|reason| Fault::Corrupt { at, reason })? {
                Some(n) => self.feed.consume(n),
                None => break,
            }
        }
        Ok(())
    }
}
