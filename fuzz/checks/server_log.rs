//! The name of a kind of log on the first line, then the log: whatever its lines hold, they become rows within their bounds.

use metrics::server::{Row, ServedRequest};
use monitor::log::{KINDS, LINE_MAX, PATH_MAX, parser};

/// When the log is read, as Unix time in nanoseconds: 22 November 2026.
const NOW: i64 = 1_795_300_000_000_000_000;
/// A log of another form.
const PATTERN: (&str, &str) = (
    "own",
    r"(?P<time>\S+) (?P<method>[A-Z]+) (?P<path>\S+) (?P<status>\d+) (?P<total_ms>[0-9.]+)",
);
/// Rows that a line may become: a request, and two incidents that are reported once.
const ROWS_PER_LINE: usize = 3;
/// Incidents that the end of a log may become.
const ROWS_AT_END: usize = 8;

/// What a log came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogTotals {
    /// Requests.
    pub(crate) requests: usize,
    /// Those of them that have a time.
    pub(crate) timed: usize,
    /// Problems.
    pub(crate) incidents: usize,
}

/// Reads the log; `None` where the first line names no kind.
///
/// # Panics
/// A bound is passed.
pub(crate) fn check(bytes: &[u8]) -> Option<LogTotals> {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let kind = std::str::from_utf8(lines.next()?).ok()?;
    let (kind, column) = kind.split_once(' ').map_or((kind, None), |(a, b)| (a, Some(b)));
    let pattern = if kind == PATTERN.0 { Some(PATTERN.1) } else { column };
    if kind != PATTERN.0 && !KINDS.contains(&kind) {
        return None;
    }
    let mut parser = parser(kind, pattern, "host").ok()?;
    let (mut rows, mut totals) = (Vec::new(), LogTotals::default());
    for line in lines {
        parser.line(line, NOW, &mut rows);
        assert!(rows.len() <= ROWS_PER_LINE, "{rows:?}");
        rows.drain(..).for_each(|row| count(row, &mut totals));
    }
    parser.finish(NOW, &mut rows);
    assert!(rows.len() <= ROWS_AT_END, "{rows:?}");
    rows.drain(..).for_each(|row| count(row, &mut totals));
    Some(totals)
}

fn count(row: Row, totals: &mut LogTotals) {
    match row {
        Row::Served(request) => {
            check_request(&request);
            totals.requests += 1;
            totals.timed += usize::from(request.total.is_some());
        }
        Row::Incident(incident) => {
            assert!(!incident.what.is_empty() && incident.what.len() <= LINE_MAX);
            totals.incidents += 1;
        }
        Row::Reading(_) => unreachable!("a log has no readings"),
    }
}

fn check_request(request: &ServedRequest) {
    let texts = [&request.method, &request.path, &request.id];
    // A byte that is no UTF-8 is replaced by a character of three.
    assert!(texts.iter().all(|text| text.len() <= 3 * PATH_MAX), "{request:?}");
}
