//! Access logs in the common and combined formats, with a request time: nginx, Apache, lighttpd and Puma.
//!
//! Which column is the request time: one with a key (`rt=0.005`, `request_time=0.005`, in seconds) wins. Else nginx and Puma
//! write seconds, and it is the first column after the bytes with their number of digits after the point: three
//! (`$request_time`), or four. Apache and lighttpd write whole numbers, and it is the last column: microseconds (`%D`) unless a
//! pattern names another unit; `%T/%D` works as well. A value above a day is a time of the clock (nginx' `$msec`), not of a
//! request. Without such a column a request is counted without a time.

use metrics::server::{Row, ServedRequest};
use stdx::Nanos;

use super::moment::{self, Zone};
use super::parser::{LogSource, Once, Parser, cut};
use super::{KindError, scan};

/// How a request time is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// Seconds with this many digits after the point.
    Fraction(usize),
    /// A whole number at the line's end, with this many digits of nanoseconds below it.
    Last(u32),
}

impl Column {
    pub(super) fn parse(pattern: Option<&str>) -> Result<Self, KindError> {
        match pattern {
            None | Some("%D" | "%{us}T") => Ok(Self::Last(3)),
            Some("%{ms}T") => Ok(Self::Last(6)),
            Some("%T" | "%{s}T") => Ok(Self::Last(9)),
            Some(other) => Err(KindError::Column(other.to_owned())),
        }
    }
}

/// What keys of a request time are called.
const KEYS: [&[u8]; 3] = [b"rt=", b"request_time=", b"duration="];
/// What keys of a request's id are called.
const IDS: [&[u8]; 3] = [b"id=", b"request_id=", b"rid="];

/// No request takes longer: a number above it is something else.
const TOTAL_MAX: Nanos = Nanos::from_secs(24 * 60 * 60);

const UNTIMED: &str = "lines have no request time: requests are counted, their times are not known";
const STRANGE: &str = "lines are not in the common or combined format: they are left out";

/// The parser of an access log.
#[derive(Debug)]
pub(super) struct Access {
    log: LogSource,
    column: Column,
    /// The log's time is that of the request's begin.
    at_start: bool,
    zone: Zone,
    untimed: Once,
    strange: Once,
    long: Once,
}

impl Access {
    pub(super) fn new(log: LogSource, column: Column) -> Self {
        let once = Once::default();
        let zone = Zone::default();
        Self { log, column, at_start: false, zone, untimed: once, strange: once, long: once }
    }

    /// The same for a log that has the time at which requests started, as Apache's does.
    pub(super) fn timed_at_start(self) -> Self {
        Self { at_start: true, ..self }
    }

    fn total(&self, columns: &[&[u8]]) -> Option<Nanos> {
        let possible = |total: &Nanos| *total <= TOTAL_MAX;
        let keyed = |column: &&[u8]| {
            let value = KEYS.iter().find_map(|key| column.strip_prefix(*key))?;
            scan::nanos(unquoted(value), 9).filter(possible)
        };
        columns.iter().find_map(keyed).or_else(|| match self.column {
            Column::Fraction(digits) => {
                columns.iter().find_map(|column| fraction(column, digits).filter(possible))
            }
            Column::Last(below) => last(columns.last()?, below).filter(possible),
        })
    }
}

impl Parser for Access {
    fn line(&mut self, line: &[u8], now: i64, rows: &mut Vec<Row>) {
        let line = cut(line, &mut self.long, &self.log, now, rows);
        let Some(entry) = Entry::parse(line) else {
            if !line.trim_ascii().is_empty() && self.log.source != "puma" {
                self.strange.note(&self.log, now, rows, STRANGE);
            }
            return;
        };
        let total = self.total(&entry.columns);
        if total.is_none() {
            self.untimed.note(&self.log, now, rows, UNTIMED);
        }
        let at = self.zone.unix(entry.at, now);
        let id = entry
            .columns
            .iter()
            .find_map(|column| IDS.iter().find_map(|key| column.strip_prefix(*key)));
        rows.push(Row::Served(ServedRequest {
            at: match total.filter(|_| self.at_start) {
                Some(total) => at.saturating_add_unsigned(total.0),
                None => at,
            },
            host: self.log.host.clone(),
            source: self.log.source.clone(),
            method: scan::text(entry.method),
            path: scan::text(entry.path),
            status: entry.status,
            total,
            id: scan::text(id.map(unquoted).unwrap_or_default()),
            ..ServedRequest::default()
        }));
    }

    fn finish(&mut self, now: i64, rows: &mut Vec<Row>) {
        let counts = [
            (self.untimed, "lines had no request time"),
            (self.strange, "lines were not in the common or combined format"),
            (self.long, "lines of more than 64 KiB were cut"),
        ];
        for (once, what) in counts {
            once.note_total(&self.log, now, rows, what);
        }
    }
}

/// `… [time] "GET /path HTTP/1.1" 200 1234 …`
struct Entry<'a> {
    at: moment::Moment,
    method: &'a [u8],
    path: &'a [u8],
    status: u16,
    /// What follows the bytes.
    columns: Vec<&'a [u8]>,
}

impl<'a> Entry<'a> {
    fn parse(line: &'a [u8]) -> Option<Self> {
        let (at, rest) = time(line)?;
        let rest = rest.strip_prefix(b"] \"")?;
        let end = quote(rest)?;
        let (method, path) = request(&rest[..end]);
        let rest = rest[end + 1..].strip_prefix(b" ")?;
        let status = scan::status(rest.get(..3)?)?;
        let rest = rest[3..].strip_prefix(b" ").unwrap_or_default();
        let bytes = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
        Some(Self { at, method, path, status, columns: columns(&rest[bytes..]) })
    }
}

/// The first time in brackets. Names before it are the client's only where it logs in, and have no such time.
fn time(line: &[u8]) -> Option<(moment::Moment, &[u8])> {
    let mut rest = line;
    while let Some((_, inside)) = scan::split(rest, b"[") {
        if let Some(found) = moment::common(inside).or_else(|| moment::iso(inside)) {
            return Some(found);
        }
        rest = inside;
    }
    None
}

/// The quote that ends a text: one without a backslash before it.
fn quote(text: &[u8]) -> Option<usize> {
    let mut escaped = false;
    text.iter().position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    })
}

/// `GET /path HTTP/1.1`; both are empty for any other text.
fn request(text: &[u8]) -> (&[u8], &[u8]) {
    let Some((method, rest)) = scan::split(text, b" ") else { return (b"", b"") };
    if !scan::is_method(method) {
        return (b"", b"");
    }
    let end = rest.iter().rposition(|byte| *byte == b' ');
    (method, end.filter(|at| rest[at + 1..].starts_with(b"HTTP/")).map_or(rest, |at| &rest[..at]))
}

/// Columns between spaces; those in quotes are the client's (referrer, agent) and are left out, unless they are a number.
fn columns(text: &[u8]) -> Vec<&[u8]> {
    let mut columns = Vec::new();
    let mut rest = text;
    while columns.len() < 64 {
        rest = rest.trim_ascii_start();
        if let Some(inside) = rest.strip_prefix(b"\"") {
            let Some(end) = quote(inside) else { break };
            if inside[..end].iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') && end > 0 {
                columns.push(&inside[..end]);
            }
            rest = &inside[end + 1..];
            continue;
        }
        let end = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
        if end == 0 {
            break;
        }
        columns.push(&rest[..end]);
        rest = &rest[end..];
    }
    columns
}

fn unquoted(text: &[u8]) -> &[u8] {
    let inside = text.strip_prefix(b"\"").unwrap_or(text);
    inside.strip_suffix(b"\"").unwrap_or(inside)
}

/// Seconds with exactly this many digits after the point.
fn fraction(column: &[u8], digits: usize) -> Option<Nanos> {
    let point = column.iter().position(|byte| *byte == b'.')?;
    (column.len() - point - 1 == digits).then(|| scan::nanos(column, 9)).flatten()
}

/// A whole number; of `seconds/microseconds` the second.
fn last(column: &[u8], below: u32) -> Option<Nanos> {
    if let Some((seconds, micros)) = scan::split(column, b"/") {
        scan::unsigned(seconds)?;
        return Some(Nanos(scan::unsigned(micros)?.checked_mul(1000)?));
    }
    Some(Nanos(scan::unsigned(column)?.checked_mul(10u64.pow(below))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "127.0.0.1 - - [22/Nov/2026:07:26:25 +0000] \"GET /a?b=1 HTTP/1.1\" 200 612";

    fn total(column: Column, tail: &str) -> Option<u64> {
        let log = LogSource { host: String::new(), source: "nginx".to_owned() };
        let line = format!("{HEAD}{tail}");
        let entry = Entry::parse(line.as_bytes()).unwrap();
        assert_eq!((entry.method, entry.path, entry.status), (&b"GET"[..], &b"/a?b=1"[..], 200));
        Access::new(log, column).total(&entry.columns).map(|total| total.0 / 1000)
    }

    #[test]
    fn which_column_is_the_request_time() {
        let agent = " \"-\" \"curl/7.88.1 0.123 rt=9.999\"";
        let (nginx, puma) = (Column::Fraction(3), Column::Fraction(4));
        let (micros, seconds) = (Column::Last(3), Column::Last(9));
        let cases = [
            (nginx, format!("{agent} 0.013 0.012"), Some(13_000)),
            (nginx, " 0.013".to_owned(), Some(13_000)),
            (nginx, format!("{agent} \"0.013\""), Some(13_000)),
            (
                nginx,
                format!("{agent} rt=0.013 uct=\"0.001\" uht=\"0.012\" urt=\"0.012\""),
                Some(13_000),
            ),
            (nginx, format!("{agent} urt=0.012 rt=\"0.013\""), Some(13_000)),
            // A proportion of compression, the agent's own words, a number of bytes: no request times.
            (nginx, format!("{agent} 3.25"), None),
            (nginx, agent.to_owned(), None),
            // `$msec`, the clock's time: before `$request_time`, as the only column, and under a key of its own.
            (nginx, format!("{agent} 1795253097.250 0.013"), Some(13_000)),
            (nginx, format!("{agent} 1795253097.250"), None),
            (nginx, format!("{agent} rt=1795253097.250 0.013"), Some(13_000)),
            (nginx, format!("{agent} 86400.000"), Some(86_400_000_000)),
            (nginx, format!("{agent} 86400.001"), None),
            (micros, format!("{agent} 1795253097250000"), None),
            (nginx, format!("{agent} 1234 -"), None),
            (puma, " 0.0012".to_owned(), Some(1200)),
            (puma, " 0.001".to_owned(), None),
            (micros, format!("{agent} 1234"), Some(1234)),
            (micros, format!("{agent} 77 1234"), Some(1234)),
            (micros, format!("{agent} 0/1234"), Some(1234)),
            (micros, format!("{agent} 0.013"), None),
            (micros, agent.to_owned(), None),
            (seconds, " 2".to_owned(), Some(2_000_000)),
            (seconds, format!(" {}", u64::MAX), None),
        ];
        for (column, tail, expected) in cases {
            assert_eq!(total(column, &tail), expected, "{column:?} {tail}");
        }
    }

    #[test]
    fn requests_of_all_sorts() {
        let cases: [(&str, (&str, &str)); 6] = [
            ("GET / HTTP/1.1", ("GET", "/")),
            ("GET /a b HTTP/1.0", ("GET", "/a b")),
            ("GET /", ("GET", "/")),
            ("-", ("", "")),
            ("\\x16\\x03\\x01 x", ("", "")),
            ("", ("", "")),
        ];
        for (text, (method, path)) in cases {
            assert_eq!(request(text.as_bytes()), (method.as_bytes(), path.as_bytes()), "{text}");
        }
        let line =
            b"vhost:80 10.0.0.1 - bob [22/Nov/2026:07:26:25 +0000] \"GET /\\\"x HTTP/1.1\" 404 - 5";
        let entry = Entry::parse(line).unwrap();
        assert_eq!(
            (entry.path, entry.status, entry.columns),
            (&b"/\\\"x"[..], 404, vec![&b"5"[..]])
        );
    }

    #[test]
    fn the_last_column_may_be_set() {
        assert_eq!(Column::parse(Some("%T")), Ok(Column::Last(9)));
        assert_eq!(Column::parse(None), Ok(Column::Last(3)));
        assert_eq!(Column::parse(Some("%b")), Err(KindError::Column("%b".to_owned())));
    }
}
