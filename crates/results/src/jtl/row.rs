//! `JtlRow`: one sample of JMeter's, however it was written, and how it becomes a row of a batch.

use super::judge::{Ending, Judgement, judge};
use crate::fill::{Filler, Row, RowDetails};

/// One sample.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JtlRow<'a> {
    /// Its start: Unix time, ns.
    pub(super) start: i64,
    pub(super) elapsed_ms: u64,
    pub(super) latency_ms: u64,
    pub(super) connect_ms: u64,
    pub(super) bytes: u64,
    pub(super) sent_bytes: u64,
    pub(super) label: &'a [u8],
    pub(super) method: &'a [u8],
    pub(super) url: &'a [u8],
    pub(super) said: Ending<'a>,
}

impl JtlRow<'_> {
    /// When it ended: Unix time, ns.
    pub(super) fn end(&self) -> i64 {
        self.start.saturating_add(nanoseconds(self.elapsed_ms))
    }

    /// Adds it to a batch; `seq` is its number among the samples.
    pub(super) fn push(&self, seq: u64, filler: &mut Filler<'_>) {
        let Judgement { outcome, failure, error } = judge(&self.said);
        let row = Row {
            seq,
            timestamp: self.start,
            latency: nanoseconds(self.elapsed_ms),
            bytes_out: self.sent_bytes,
            bytes_in: self.bytes,
            error: &error,
            method: self.method,
            url: if self.url == b"null" { b"" } else { self.url },
            ..Row::default()
        };
        let known = RowDetails {
            name: self.label,
            first_byte: nanoseconds(self.latency_ms),
            dial: nanoseconds(self.connect_ms),
            wire_in: self.bytes,
            outcome,
            failure,
        };
        filler.push_known(&row, &known);
    }
}

/// Milliseconds as nanoseconds, held to what 64 bits can say.
fn nanoseconds(milliseconds: u64) -> i64 {
    i64::try_from(milliseconds).map_or(i64::MAX, |ms| ms.saturating_mul(1_000_000))
}
