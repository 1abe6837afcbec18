//! Logs of servers, line by line: each request a log tells of becomes a row. Lines come from outside and times may too:
//! nothing here reads a file or a clock.
//!
//! ```text
//! line, now ──▶ Parser ──▶ Served (a request) · Incident (what the log cannot tell, said once)
//! ```
//!
//! What a log tells is believed, what it does not tell is not made up: a column that is no request time gives none.
//! Any bytes may come: they are data, kept as they are; what is held between lines is bounded.

mod access;
mod head;
mod lograge;
mod moment;
mod open;
mod pattern;
mod rails;
mod rails2;
mod scan;
#[cfg(test)]
mod tests;

use metrics::server::{Incident, Row};
use thiserror::Error;

/// Bytes of a line that are read; what is beyond is cut off, and said.
pub const LINE_MAX: usize = 64 << 10;

/// Requests begun whose end is awaited; beyond it all are given up, and said.
pub const OPEN_MAX: usize = 1 << 16;

/// Bytes of a path, or another text, that are kept.
pub const PATH_MAX: usize = 2 << 10;

/// The kinds of logs that are known by name.
pub const KINDS: [&str; 6] = ["rails", "rails2", "nginx", "apache", "lighttpd", "puma"];

/// What makes rows of a log's lines.
pub trait Parser {
    /// Takes a line without its end and adds the rows that it completes. `now` (Unix time in nanoseconds) is when it was
    /// read: it stands in where the log has no clock, and helps to find the zone of one that does not say it.
    fn line(&mut self, line: &[u8], now: i64, rows: &mut Vec<Row>);

    /// Says what the log left open: how many requests could not be joined, or had no end. Called once, after the last line.
    fn finish(&mut self, _now: i64, _rows: &mut Vec<Row>) {}
}

/// Why there is no parser.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum KindError {
    /// No kind has this name, and no pattern came with it.
    #[error(
        "unknown kind of log \"{0}\" (expected rails, rails2, nginx, apache, lighttpd or puma; any other needs a pattern)"
    )]
    Unknown(String),
    /// This kind takes no pattern.
    #[error("logs of kind \"{0}\" take no pattern")]
    NoPattern(String),
    /// An access log's pattern says what its last column is, and nothing else.
    #[error("\"{0}\" is no column of request times (expected %D, %T or %{{ms}}T)")]
    Column(String),
    /// The pattern is no regular expression, or too large a one.
    #[error("the log's pattern: {0}")]
    Pattern(#[source] regex::Error),
    /// A group has a name that means nothing.
    #[error(
        "the log's pattern names a group \"{0}\" (expected time, method, path, status, total_s, total_ms, total_us, \
         views_ms, database_ms, queue_ms or id)"
    )]
    Group(String),
    /// The pattern has no named group at all.
    #[error("the log's pattern names no group (such as (?<total_ms>[0-9.]+))")]
    NoGroup,
}

/// The parser of a kind of log: one of [`KINDS`], or any other name with a `pattern`, a regular expression with named
/// groups. For `apache` and `lighttpd` the pattern may say what the last column is: `%D` (microseconds, as without a
/// pattern), `%T` (seconds) or `%{ms}T`. `host` is the name of the machine that served the requests.
///
/// # Errors
/// The kind is unknown, or its pattern is not one.
pub fn parser(
    kind: &str,
    pattern: Option<&str>,
    host: &str,
) -> Result<Box<dyn Parser + Send>, KindError> {
    let named = Named { host: host.to_owned(), source: kind.to_owned() };
    let access = |column| access::Access::new(named.clone(), column);
    Ok(match (kind, pattern) {
        ("rails" | "rails2" | "nginx" | "puma", Some(_)) => {
            return Err(KindError::NoPattern(kind.to_owned()));
        }
        ("rails", None) => Box::new(rails::Rails::new(named)),
        ("rails2", None) => Box::new(rails2::Rails2::new(named)),
        ("nginx", None) => Box::new(access(access::Column::Fraction(3))),
        ("puma", None) => Box::new(access(access::Column::Fraction(4))),
        ("apache", column) => Box::new(access(access::Column::parse(column)?).begun()),
        ("lighttpd", column) => Box::new(access(access::Column::parse(column)?)),
        (_, Some(pattern)) => Box::new(pattern::Pattern::new(named, pattern)?),
        (_, None) => return Err(KindError::Unknown(kind.to_owned())),
    })
}

/// Whose rows they are.
#[derive(Clone, Debug)]
struct Named {
    host: String,
    source: String,
}

impl Named {
    fn incident(&self, at: i64, what: String) -> Row {
        let (host, source) = (self.host.clone(), self.source.clone());
        Row::Incident(Incident { at, host, source, what })
    }
}

/// Something that a log may do again and again: counted, and said the first time.
#[derive(Clone, Copy, Debug, Default)]
struct Once(u64);

impl Once {
    /// Counts it; the first time `what` is said.
    fn say(&mut self, named: &Named, now: i64, rows: &mut Vec<Row>, what: &str) {
        if self.0 == 0 {
            rows.push(named.incident(now, what.to_owned()));
        }
        self.0 += 1;
    }

    /// Says how often it was, where more than once.
    fn count(self, named: &Named, now: i64, rows: &mut Vec<Row>, what: &str) {
        if self.0 > 1 {
            rows.push(named.incident(now, format!("{} {what}", self.0)));
        }
    }
}

/// The part of a line that is read.
fn cut<'a>(
    line: &'a [u8],
    long: &mut Once,
    named: &Named,
    now: i64,
    rows: &mut Vec<Row>,
) -> &'a [u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= LINE_MAX {
        return line;
    }
    long.say(named, now, rows, "lines of more than 64 KiB are cut");
    &line[..LINE_MAX]
}
