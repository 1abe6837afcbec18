//! `Figures`: the counts of rows by ab's notions.

use metrics::{Batch, FailureKind, Sample};
use stdx::Nanos;

use super::times::{Row, Times};

/// How rows are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// A body of another length than the first one is a failure, unless this is set (`-l`).
    pub variable_length: bool,
    /// A reset counts as `Receive`, as `Exceptions` and as a wrong length, as ab counts it with `-r`; else once.
    pub resets_repeat: bool,
}

/// The outcome of a hit, by ab's definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The connection ended by itself, with a response, a part of one, something else or nothing: ab calls it complete.
    Response,
    /// No connection was made.
    Connect,
    /// The connection was reset.
    Receive,
    /// The request could not be written.
    Write,
    /// It failed in a way that ab has no word for.
    Exception,
    /// It was under way when the run was ended; ab forgets it.
    Unfinished,
}

impl Outcome {
    /// The outcome of this hit; `error` is its text.
    #[must_use]
    pub fn of(sample: &Sample, error: &[u8]) -> Self {
        match sample.failure {
            FailureKind::None
            | FailureKind::Eof
            | FailureKind::Truncated
            | FailureKind::Malformed => Self::Response,
            FailureKind::Dns
            | FailureKind::Refused
            | FailureKind::Dial
            | FailureKind::DescriptorsExhausted
            | FailureKind::PortsExhausted
            | FailureKind::Tls
            | FailureKind::Proxy => Self::Connect,
            FailureKind::Reset if error.windows(WRITE.len()).any(|part| part == WRITE) => {
                Self::Write
            }
            FailureKind::Reset | FailureKind::StreamReset | FailureKind::GoAway => Self::Receive,
            FailureKind::Stopped => Self::Unfinished,
            FailureKind::Timeout
            | FailureKind::TooLarge
            | FailureKind::Decode
            | FailureKind::Redirects
            | FailureKind::Abandoned
            | FailureKind::Rejected
            | FailureKind::Assertion
            | FailureKind::Target => Self::Exception,
        }
    }
}

/// A part of every error text of a failed write.
const WRITE: &[u8] = b"\": write: ";

/// What was seen, by ab's notions. Memory is bounded: see [`ROWS_MAX`](super::ROWS_MAX).
#[derive(Clone, Debug, Default)]
pub struct Figures {
    rules: Rules,
    /// Requests that ended, failed ones included.
    pub complete: u64,
    /// No connection was made.
    pub connect: u64,
    /// Connections reset.
    pub receive: u64,
    /// Bodies of another length than the first one's.
    pub length: u64,
    /// Other failures.
    pub exceptions: u64,
    /// Requests that could not be written.
    pub write_errors: u64,
    /// Responses with a status outside 200..300.
    pub non_2xx: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Those of bodies.
    pub body_bytes: u64,
    /// Bytes of request bodies.
    pub request_body_bytes: u64,
    /// Requests written, at least in part; those that did not end included.
    pub sent: u64,
    /// When the last request ended.
    pub last: Nanos,
    document_length: Option<u64>,
    software: Option<String>,
    kept_alive: u64,
    reused: u64,
    headers_seen: bool,
    pub(super) times: Times,
}

impl Figures {
    /// Figures of nothing.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self { rules, ..Self::default() }
    }

    /// Counts a batch's rows in their order. The header lines `Server` and `Connection` are read where they were captured.
    pub fn add(&mut self, batch: &Batch) {
        for sample in &batch.samples {
            self.add_one(sample, batch);
        }
    }

    /// Counts one row.
    pub fn add_one(&mut self, sample: &Sample, batch: &Batch) {
        let outcome = Outcome::of(sample, batch.text(sample.error));
        self.sent += u64::from(sample.sent < sample.done);
        self.request_body_bytes += sample.bytes_out;
        match outcome {
            Outcome::Unfinished => return,
            Outcome::Response => self.add_response(sample, batch),
            Outcome::Connect => self.connect += 1,
            Outcome::Write => self.write_errors += 1,
            Outcome::Exception => self.exceptions += 1,
            Outcome::Receive => self.add_reset(sample),
        }
        self.complete += 1;
        // A format without bytes on the wire has the body only, and unencrypted HTTP adds no framing to it.
        self.bytes += sample.wire_in.max(sample.bytes_in);
        self.body_bytes += sample.bytes_in;
        self.last = self.last.max(sample.done);
        self.times.add(Row::of(sample, batch.epoch));
    }

    fn add_response(&mut self, sample: &Sample, batch: &Batch) {
        let expected = *self.document_length.get_or_insert(sample.bytes_in);
        self.length += u64::from(sample.bytes_in != expected && !self.rules.variable_length);
        self.non_2xx += u64::from(!matches!(sample.outcome.code(), 0 | 200..300));
        self.reused += u64::from(sample.reused);
        let headers = batch.text(sample.headers);
        if headers.is_empty() {
            return;
        }
        self.headers_seen = true;
        self.kept_alive += u64::from(is_kept_alive(headers));
        if self.software.is_none() {
            self.software = Some(software(headers));
        }
    }

    fn add_reset(&mut self, sample: &Sample) {
        self.receive += 1;
        if self.rules.resets_repeat {
            self.exceptions += 1;
            let expected = self.document_length.unwrap_or(0);
            self.length += u64::from(sample.bytes_in != expected && !self.rules.variable_length);
        }
    }

    /// What ab calls failed: the sum of its four reasons, which may count a request more than once.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.connect + self.receive + self.length + self.exceptions
    }

    /// Body bytes of the first response; 0 where there was none.
    #[must_use]
    pub fn document_length(&self) -> u64 {
        self.document_length.unwrap_or(0)
    }

    /// The first response's `Server` field up to its first blank; empty where it is not known.
    #[must_use]
    pub fn software(&self) -> &str {
        self.software.as_deref().unwrap_or_default()
    }

    /// Responses after which the server left the connection open; without captured header lines, requests on a reused
    /// connection.
    #[must_use]
    pub fn kept_alive(&self) -> u64 {
        if self.headers_seen { self.kept_alive } else { self.reused }
    }

    /// Every complete request, the quickest first; `None` where there were more than [`ROWS_MAX`](super::ROWS_MAX).
    #[must_use]
    pub fn rows_by_total(&self) -> Option<Vec<Row>> {
        self.times.rows_by_total()
    }

    /// Times are to three significant digits, since there were more than [`ROWS_MAX`](super::ROWS_MAX) requests.
    #[must_use]
    pub fn is_coarse(&self) -> bool {
        self.times.is_coarse()
    }
}

/// The values of a header field among lines.
fn values<'a>(headers: &'a [u8], name: &'static [u8]) -> impl Iterator<Item = &'a [u8]> {
    headers.split(|&byte| byte == b'\n').filter_map(move |line| {
        let (field, rest) = line.split_at_checked(name.len())?;
        let value = rest.strip_prefix(b":")?;
        field.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
    })
}

fn is_kept_alive(headers: &[u8]) -> bool {
    values(headers, b"connection").any(|value| {
        value
            .split(|&byte| byte == b',')
            .any(|token| token.trim_ascii().eq_ignore_ascii_case(b"keep-alive"))
    })
}

/// What the server calls itself, up to the first blank; at most [`SOFTWARE_MAX`] bytes of it.
fn software(headers: &[u8]) -> String {
    let value = values(headers, b"server").next().unwrap_or_default();
    let word = value.split(|byte| *byte <= b' ').next().unwrap_or_default();
    String::from_utf8_lossy(&word[..word.len().min(SOFTWARE_MAX)]).into_owned()
}

/// The longest name of a server that is shown: 1 KiB.
const SOFTWARE_MAX: usize = 1 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of one response.
    fn row(length: u64, status: u16) -> Sample {
        Sample {
            done: Nanos(1),
            bytes_in: length,
            wire_in: length + 40,
            outcome: metrics::Outcome::http(status),
            ..Sample::default()
        }
    }

    fn failed(failure: FailureKind) -> Sample {
        Sample { done: Nanos(1), failure, ..Sample::default() }
    }

    fn figures(rules: Rules, samples: Vec<Sample>) -> Figures {
        let mut figures = Figures::new(rules);
        figures.add(&Batch { samples, ..Batch::default() });
        figures
    }

    #[test]
    fn the_first_length_is_the_right_one() {
        let rows = vec![row(5, 200), row(6, 404), row(5, 302), row(7, 500)];
        let seen = figures(Rules::default(), rows.clone());
        assert_eq!((seen.length, seen.failed(), seen.non_2xx, seen.complete), (2, 2, 3, 4));
        assert_eq!((seen.bytes, seen.body_bytes, seen.document_length()), (183, 23, 5));
        let seen = figures(Rules { variable_length: true, ..Rules::default() }, rows);
        assert_eq!((seen.failed(), seen.non_2xx), (0, 3));
    }

    #[test]
    fn what_ab_calls_complete_is_and_what_it_repeats_may_be() {
        let rows = || vec![failed(FailureKind::Eof), failed(FailureKind::Malformed)];
        let seen = figures(Rules::default(), rows());
        assert_eq!((seen.complete, seen.failed()), (2, 0), "nothing is a response to ab");
        let resets = || vec![row(2, 200), failed(FailureKind::Reset), failed(FailureKind::Reset)];
        assert_eq!(figures(Rules::default(), resets()).failed(), 2);
        let repeat = Rules { resets_repeat: true, ..Rules::default() };
        let seen = figures(repeat, resets());
        assert_eq!((seen.receive, seen.exceptions, seen.length, seen.failed()), (2, 2, 2, 6));
        let seen = figures(repeat, vec![failed(FailureKind::Reset); 5]);
        assert_eq!(seen.failed(), 10, "ab's own figure for five resets");
        let seen =
            figures(repeat, vec![failed(FailureKind::Refused), failed(FailureKind::Stopped)]);
        assert_eq!((seen.connect, seen.failed(), seen.complete), (1, 1, 1));
    }

    #[test]
    fn header_lines_have_software_and_keep_alive() {
        let mut batch = Batch::default();
        for head in [
            "SERVER:  Foo Bar/1.2\r\nConnection: a, Keep-Alive\r\n",
            "Server: Other\r\nConnection: close\r\n",
        ] {
            let headers = batch.add_text(head.as_bytes());
            batch.samples.push(Sample { headers, ..row(1, 200) });
        }
        let mut seen = Figures::new(Rules::default());
        seen.add(&batch);
        assert_eq!((seen.software(), seen.kept_alive()), ("Foo", 1));
        let reused = Sample { reused: true, ..row(1, 200) };
        assert_eq!(figures(Rules::default(), vec![row(1, 200), reused]).kept_alive(), 1);
    }
}
