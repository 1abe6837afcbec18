//! Any other log, by a regular expression with named groups. The `regex` crate's time is linear in the line; the size of
//! what it compiles to is limited.

use metrics::server::{Row, ServedRequest};
use regex::bytes::{Captures, Regex, RegexBuilder};
use stdx::Nanos;

use super::moment::{self, Zone};
use super::parser::{LogSource, Once, Parser, cut};
use super::{KindError, scan};

/// The names that groups may have.
const GROUPS: [&str; 11] = [
    "time",
    "method",
    "path",
    "status",
    "total_s",
    "total_ms",
    "total_us",
    "views_ms",
    "database_ms",
    "queue_ms",
    "id",
];
/// Bytes of a compiled pattern.
const SIZE_MAX: usize = 1 << 20;

const UNTIMED: &str = "lines have no request time: requests are counted, their times are not known";

/// The parser of logs that a pattern describes. A line that does not match is not a request.
#[derive(Debug)]
pub(super) struct Pattern {
    log: LogSource,
    regex: Regex,
    zone: Zone,
    untimed: Once,
    long: Once,
}

impl Pattern {
    pub(super) fn new(log: LogSource, pattern: &str) -> Result<Self, KindError> {
        let regex = RegexBuilder::new(pattern)
            .unicode(false)
            .size_limit(SIZE_MAX)
            .dfa_size_limit(SIZE_MAX)
            .build()
            .map_err(KindError::Pattern)?;
        let mut names = regex.capture_names().flatten().peekable();
        names.peek().ok_or(KindError::NoGroup)?;
        if let Some(strange) = names.find(|name| !GROUPS.contains(name)) {
            return Err(KindError::Group(strange.to_owned()));
        }
        let (untimed, long) = (Once::default(), Once::default());
        Ok(Self { log, regex, zone: Zone::default(), untimed, long })
    }
}

impl Parser for Pattern {
    fn line(&mut self, line: &[u8], now: i64, rows: &mut Vec<Row>) {
        let line = cut(line, &mut self.long, &self.log, now, rows);
        let Some(found) = self.regex.captures(line) else { return };
        let total = total(&found);
        if total.is_none() {
            self.untimed.note(&self.log, now, rows, UNTIMED);
        }
        let moment = group(&found, "time").and_then(moment::any);
        let text = |name| scan::text(group(&found, name).unwrap_or_default());
        let millis = |name| scan::nanos(group(&found, name)?, 6);
        rows.push(Row::Served(ServedRequest {
            at: moment.map_or(now, |moment| self.zone.unix(moment, now)),
            host: self.log.host.clone(),
            source: self.log.source.clone(),
            method: text("method"),
            path: text("path"),
            status: group(&found, "status").and_then(scan::status).unwrap_or(0),
            total,
            views: millis("views_ms"),
            database: millis("database_ms"),
            queue: millis("queue_ms"),
            id: text("id"),
        }));
    }

    fn finish(&mut self, now: i64, rows: &mut Vec<Row>) {
        self.untimed.note_total(&self.log, now, rows, "lines had no request time");
        self.long.note_total(&self.log, now, rows, "lines of more than 64 KiB were cut");
    }
}

fn group<'a>(found: &Captures<'a>, name: &str) -> Option<&'a [u8]> {
    found.name(name).map(|group| group.as_bytes())
}

fn total(found: &Captures<'_>) -> Option<Nanos> {
    [("total_s", 9), ("total_ms", 6), ("total_us", 3)]
        .into_iter()
        .find_map(|(name, digits)| scan::nanos(group(found, name)?, digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> LogSource {
        LogSource { host: "h".to_owned(), source: "own".to_owned() }
    }

    #[test]
    fn groups_become_a_row() {
        let pattern = r"^(?<time>\S+) (?<method>[A-Z]+) (?<path>\S+) (?<status>\d+) (?<total_us>\d+)us q=(?<queue_ms>[\d.]+)(?: id=(?<id>\S+))?";
        let mut parser = Pattern::new(log(), pattern).unwrap();
        let mut rows = Vec::new();
        parser.line(b"2026-11-21T09:24:57Z GET /x 200 1500us q=0.5 id=abc", 7, &mut rows);
        parser.line(b"something else", 7, &mut rows);
        parser.line(b"- POST /y\xff\x1b 500 99999999999999999999us q=1", 9, &mut rows);
        let [Row::Served(first), Row::Incident(_), Row::Served(second)] = &rows[..] else {
            panic!("{rows:?}")
        };
        assert_eq!(
            (first.at, first.total, first.queue),
            (1_795_253_097_000_000_000, Some(Nanos(1_500_000)), Some(Nanos(500_000)))
        );
        assert_eq!((first.path.as_str(), first.status, first.id.as_str()), ("/x", 200, "abc"));
        assert_eq!((second.at, second.total, second.path.as_str()), (9, None, "/y\u{fffd}\u{1b}"));
    }

    #[test]
    fn patterns_are_checked() {
        let error = |pattern: &str| Pattern::new(log(), pattern).map(|_| ()).unwrap_err();
        assert!(matches!(error("(?<time>"), KindError::Pattern(_)));
        assert!(matches!(error(r"(?<time>[a-z]{1000}{1000})"), KindError::Pattern(_)));
        assert_eq!(error("(?<when>.)"), KindError::Group("when".to_owned()));
        assert_eq!(error("GET (.*)"), KindError::NoGroup);
    }
}
