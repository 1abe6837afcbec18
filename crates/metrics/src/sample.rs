//! `Sample`: one hit as it was seen; `Batch`: many of them with their texts. The same types carry a run's rows to the
//! writer and a file's rows to the reports.

use stdx::Nanos;

use crate::{FailureKind, Outcome};

/// `Sample::target` of a hit without a row in the [`crate::TargetTable`]; its `line` has the method and URL.
pub const NO_TARGET: u32 = u32::MAX;

/// A piece of [`Batch::texts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Number of bytes.
    pub len: u32,
}

/// One measured hit: a request with all the redirects that followed it.
///
/// The times are offsets from [`Batch::epoch`]; `intended <= sent <= first_byte <= done` is true for all times that are
/// present. Response time is `done - intended`, service time is `done - sent`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The hit's number in its attack, from 0, in the order of `intended`.
    pub seq: u64,
    /// When the hit was due.
    pub intended: Nanos,
    /// When the first byte of the (first) request was written; equals `done` where nothing could be sent.
    pub sent: Nanos,
    /// When the first byte of the (last) response came; equals `done` where none came.
    pub first_byte: Nanos,
    /// When the hit ended: body drained, or failed.
    pub done: Nanos,
    /// How long name lookup took; 0 where none was needed.
    pub dns: Nanos,
    /// How long connecting took; 0 on a reused connection.
    pub dial: Nanos,
    /// How long the TLS handshake took; 0 where there was none.
    pub tls: Nanos,
    /// Bytes of the request body.
    pub bytes_out: u64,
    /// Bytes of the response body, decoded (gzip, br, …).
    pub bytes_in: u64,
    /// Bytes of the response on the wire: head, framing and encoded body.
    pub wire_in: u64,
    /// The connection's number in its run, from 1, in the order they were begun on each worker; 0 where the hit had none, or
    /// where it is not known.
    pub conn: u32,
    /// Row of the [`crate::TargetTable`], or [`NO_TARGET`].
    pub target: u32,
    /// The number of the agent that sent it, from 1, in a fleet; 0 on one machine.
    pub agent: u16,
    /// The answer; none where the hit failed, even after headers had come.
    pub outcome: Outcome,
    /// Why it failed, if it did.
    pub failure: FailureKind,
    /// The request went out on a reused connection.
    pub reused: bool,
    /// The error text: a transport error, or the status line of an answer that is no success; empty on success.
    pub error: Span,
    /// `METHOD URL`, where the target table does not say it (lazy targets); else empty.
    pub line: Span,
    /// A name to group by, where the target table does not say it; else empty.
    pub name: Span,
    /// The tags that a script gave it, as a JSON object of texts, where the target table does not have them; else empty.
    pub tags: Span,
    /// The captured start of the response body, decoded; empty unless the run captures bodies.
    pub body: Span,
    /// The response's header lines, `Name: value\r\n` each; empty unless the run captures headers.
    pub headers: Span,
}

impl Sample {
    /// Response time: from the moment the hit was due.
    #[must_use]
    pub fn response(&self) -> Nanos {
        self.done.saturating_sub(self.intended)
    }

    /// Service time: from the moment the request was written.
    #[must_use]
    pub fn service(&self) -> Nanos {
        self.done.saturating_sub(self.sent)
    }

    /// Whether it was answered, and with success ([`Outcome::is_success`]).
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.failure == FailureKind::None && self.outcome.is_success()
    }
}

/// Many samples and the texts they point into.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Unix time, in nanoseconds, of the offset 0 of every time in `samples`.
    pub epoch: i64,
    /// The samples, in order of completion.
    pub samples: Vec<Sample>,
    /// What the samples' spans point into.
    pub texts: Vec<u8>,
}

impl Batch {
    /// Empties the batch; it retains its memory.
    pub fn clear(&mut self) {
        self.samples.clear();
        self.texts.clear();
    }

    /// Adds a text; returns its span. Past 4 GiB of texts the span is empty.
    pub fn add_text(&mut self, text: &[u8]) -> Span {
        let (Ok(start), Ok(len)) = (u32::try_from(self.texts.len()), u32::try_from(text.len()))
        else {
            return Span::default();
        };
        self.texts.extend_from_slice(text);
        Span { start, len }
    }

    /// The bytes of a span of this batch.
    ///
    /// # Panics
    /// The span is not of this batch.
    #[must_use]
    pub fn text(&self, span: Span) -> &[u8] {
        &self.texts[span.start as usize..span.start as usize + span.len as usize]
    }
}
