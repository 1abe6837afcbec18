//! `Filler`: rows that know start and end only (Vegeta's encodings) into a batch; the batch's epoch is its earliest row.

use std::borrow::Cow;

use metrics::{Batch, FailureKind, Outcome, Sample, Span};
use stdx::Nanos;

use crate::labels::{Labels, PlacedTarget, TargetRef};

/// Rows handed out at once, of 152 bytes each.
pub(crate) const ROWS_MAX: usize = 4 << 10;
/// Bytes of text handed out at once, but for the last row's.
pub(crate) const TEXT_MAX: usize = 8 << 20;

/// One row of Vegeta's. Texts are bytes, since gob does not say that they are UTF-8.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row<'a> {
    pub(crate) seq: u64,
    pub(crate) code: u16,
    /// Unix time, ns; before 1970 counts as 1970.
    pub(crate) timestamp: i64,
    pub(crate) latency: i64,
    pub(crate) bytes_out: u64,
    pub(crate) bytes_in: u64,
    pub(crate) error: &'a [u8],
    pub(crate) body: &'a [u8],
    pub(crate) attack: &'a [u8],
    pub(crate) method: &'a [u8],
    pub(crate) url: &'a [u8],
    /// Header lines, `Name: value\r\n` each.
    pub(crate) headers: &'a [u8],
}

/// More that another program's row says. Times are ns from its start on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowDetails<'a> {
    /// A name to group by.
    pub(crate) name: &'a [u8],
    pub(crate) first_byte: i64,
    pub(crate) dial: i64,
    pub(crate) wire_in: u64,
    pub(crate) outcome: Outcome,
    pub(crate) failure: FailureKind,
}

/// Fills one batch.
pub(crate) struct Filler<'a> {
    batch: &'a mut Batch,
    labels: &'a mut Labels,
    first: i64,
    earliest: i64,
}

impl<'a> Filler<'a> {
    pub(crate) fn new(batch: &'a mut Batch, labels: &'a mut Labels) -> Self {
        batch.clear();
        Self { batch, labels, first: 0, earliest: 0 }
    }

    /// Whether another row may be added.
    pub(crate) fn has_room(&self) -> bool {
        self.batch.samples.len() < ROWS_MAX && self.batch.texts.len() < TEXT_MAX
    }

    /// Adds a row that has a start, an end and a code.
    pub(crate) fn push(&mut self, row: &Row<'_>) {
        let texts = [row.attack, row.method, row.url];
        let PlacedTarget { target, line, .. } = self.labels.place_bytes(texts, self.batch);
        let sample = self.sample(row);
        self.batch.samples.push(Sample { target, line, ..sample });
    }

    /// Adds a row of which more is known.
    pub(crate) fn push_known(&mut self, row: &Row<'_>, known: &RowDetails<'_>) {
        let PlacedTarget { target, line, name, tags } = self.place_named(row, known.name);
        let sample = self.sample(row);
        let after = |ns: i64| Nanos(sample.intended.0.wrapping_add(ns.max(0) as u64));
        self.batch.samples.push(Sample {
            // Beyond the end it is none of this sample.
            first_byte: after(known.first_byte.min(row.latency)),
            dial: Nanos(known.dial.max(0) as u64),
            wire_in: known.wire_in,
            outcome: known.outcome,
            failure: known.failure,
            target,
            line,
            name,
            tags,
            ..sample
        });
    }

    fn place_named(&mut self, row: &Row<'_>, name: &[u8]) -> PlacedTarget {
        let [method, url, name] = [row.method, row.url, name].map(text);
        let target = TargetRef { method: &method, url: &url, name: &name, ..TargetRef::default() };
        self.labels.place(target, self.batch)
    }

    fn sample(&mut self, row: &Row<'_>) -> Sample {
        let timestamp = row.timestamp.max(0);
        if self.batch.samples.is_empty() {
            (self.first, self.earliest) = (timestamp, timestamp);
        }
        self.earliest = self.earliest.min(timestamp);
        // May wrap below zero until `finish` moves every row by the same amount.
        let intended = timestamp.wrapping_sub(self.first) as u64;
        let done = intended.wrapping_add(row.latency.max(0) as u64);
        Sample {
            seq: row.seq,
            intended: Nanos(intended),
            sent: Nanos(intended),
            first_byte: Nanos(done),
            done: Nanos(done),
            bytes_out: row.bytes_out,
            bytes_in: row.bytes_in,
            outcome: Outcome::http(row.code),
            failure: failure_of(row.code, row.error),
            error: self.error(row.error),
            body: self.add(row.body),
            headers: match stdx::redacted_lines(row.headers) {
                Some(lines) => self.add(&lines),
                None => self.add(row.headers),
            },
            ..Sample::default()
        }
    }

    /// Most rows have no error, and nothing to look at.
    fn error(&mut self, error: &[u8]) -> Span {
        if error.is_empty() {
            return Span::default();
        }
        match stdx::redacted_message(&text(error)) {
            Some(shown) => self.add(shown.as_bytes()),
            None => self.add(error),
        }
    }

    fn add(&mut self, text: &[u8]) -> Span {
        if text.is_empty() { Span::default() } else { self.batch.add_text(text) }
    }

    /// Sets the epoch; returns the number of rows.
    pub(crate) fn finish(self) -> usize {
        let shift = self.first.wrapping_sub(self.earliest) as u64;
        self.batch.epoch = self.earliest;
        if shift > 0 {
            for sample in &mut self.batch.samples {
                for time in [
                    &mut sample.intended,
                    &mut sample.sent,
                    &mut sample.first_byte,
                    &mut sample.done,
                ] {
                    time.0 = time.0.wrapping_add(shift);
                }
            }
        }
        self.batch.samples.len()
    }
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// Why a row of Vegeta's failed: it has only a text, in Go's words.
fn failure_of(code: u16, error: &[u8]) -> FailureKind {
    const WORDS: [(&str, FailureKind); 14] = [
        ("deadline exceeded", FailureKind::Timeout),
        ("Client.Timeout", FailureKind::Timeout),
        ("i/o timeout", FailureKind::Timeout),
        ("connection refused", FailureKind::Refused),
        ("connection reset", FailureKind::Reset),
        ("no such host", FailureKind::Dns),
        ("too many open files", FailureKind::DescriptorsExhausted),
        ("cannot assign requested address", FailureKind::PortsExhausted),
        ("tls: ", FailureKind::Tls),
        ("x509: ", FailureKind::Tls),
        ("redirects", FailureKind::Redirects),
        ("unexpected EOF", FailureKind::Truncated),
        ("EOF", FailureKind::Eof),
        ("malformed", FailureKind::Malformed),
    ];
    if code != 0 {
        return FailureKind::None;
    }
    let error = text(error);
    let found = WORDS.iter().find(|(words, _)| error.contains(words));
    let unknown = if error.contains("unsupported protocol") || error.contains("no targets") {
        FailureKind::Target
    } else {
        FailureKind::Dial
    };
    found.map_or(unknown, |(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_row_is_the_epoch() {
        let (mut batch, mut labels) = (Batch::default(), Labels::default());
        let mut filler = Filler::new(&mut batch, &mut labels);
        for (timestamp, latency) in [(1_000, 10), (400, 900), (i64::MAX, i64::MAX), (-5, -5)] {
            filler.push(&Row { timestamp, latency, ..Row::default() });
        }
        assert_eq!(filler.finish(), 4);
        assert_eq!(batch.epoch, 0);
        let times: Vec<_> = batch.samples.iter().map(|s| (s.intended.0, s.response().0)).collect();
        let end = i64::MAX as u64;
        assert_eq!(times, [(1_000, 10), (400, 900), (end, end), (0, 0)]);
    }

    #[test]
    fn failures_are_recognised_by_their_texts() {
        let cases = [
            ("Get \"http://h/\": EOF", FailureKind::Eof),
            ("unexpected EOF", FailureKind::Truncated),
            ("dial tcp 0.0.0.0:0->127.0.0.1:1: connect: connection refused", FailureKind::Refused),
            ("lookup host on dns:53: no such host", FailureKind::Dns),
            ("Get \"/foo\": unsupported protocol scheme \"\"", FailureKind::Target),
        ];
        for (error, kind) in cases {
            assert_eq!(failure_of(0, error.as_bytes()), kind, "{error}");
        }
        assert_eq!(failure_of(404, b"404 Not Found"), FailureKind::None);
    }
}
