//! `Parser`, and what all parsers share: the source of their rows, incidents that are reported once, and the bound on a line.

use metrics::server::{Incident, Row};

/// Bytes of a line; the rest is cut off, which is reported.
pub const LINE_MAX: usize = 64 << 10;

/// What makes rows of a log's lines.
pub trait Parser {
    /// Parses a line without its end and adds the rows that it completes. `now` (Unix time in nanoseconds) is when it was read:
    /// it replaces the time of a log without a clock, and helps to find an unknown zone.
    fn line(&mut self, line: &[u8], now: i64, rows: &mut Vec<Row>);

    /// Says what the log left open: how many requests could not be joined, or had no end. Called once, after the last line.
    fn finish(&mut self, _now: i64, _rows: &mut Vec<Row>) {}
}

/// The machine and the log that rows come from.
#[derive(Clone, Debug)]
pub(super) struct LogSource {
    pub(super) host: String,
    pub(super) source: String,
}

impl LogSource {
    pub(super) fn incident(&self, at: i64, what: String) -> Row {
        let (host, source) = (self.host.clone(), self.source.clone());
        Row::Incident(Incident { at, host, source, what })
    }
}

/// Something that may occur many times in a log: counted, and reported the first time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Once(u64);

impl Once {
    /// Counts it; the first time, `what` becomes an incident.
    pub(super) fn note(&mut self, log: &LogSource, now: i64, rows: &mut Vec<Row>, what: &str) {
        if self.0 == 0 {
            rows.push(log.incident(now, what.to_owned()));
        }
        self.0 += 1;
    }

    /// Says how often it was, where more than once.
    pub(super) fn note_total(self, log: &LogSource, now: i64, rows: &mut Vec<Row>, what: &str) {
        if self.0 > 1 {
            rows.push(log.incident(now, format!("{} {what}", self.0)));
        }
    }
}

/// The part of a line that is read.
pub(super) fn cut<'a>(
    line: &'a [u8],
    long: &mut Once,
    log: &LogSource,
    now: i64,
    rows: &mut Vec<Row>,
) -> &'a [u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= LINE_MAX {
        return line;
    }
    long.note(log, now, rows, "lines of more than 64 KiB are cut");
    &line[..LINE_MAX]
}
