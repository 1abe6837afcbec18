//! Rails 1 and 2: `Completed` has the URL, `Processing` the method.

use metrics::server::{Row, ServedRequest};
use stdx::Nanos;

use super::open_requests::{Match, OpenRequest, OpenRequests};
use super::parser::{LogSource, Once, Parser, cut};
use super::scan;

/// The parser of logs of Rails 1.2 to 2.3. They have no clock of their own that fits: a row's time is that of its reading.
#[derive(Debug)]
pub(super) struct Rails2 {
    log: LogSource,
    open: OpenRequests,
    unclear: Once,
    long: Once,
}

const UNCLEAR: &str =
    "requests of several processes interleave: which method a request had is not known";

impl Rails2 {
    pub(super) fn new(log: LogSource) -> Self {
        let (unclear, long) = (Once::default(), Once::default());
        Self { log, open: OpenRequests::default(), unclear, long }
    }

    /// `X#y (for 127.0.0.1 at 2008-10-20 12:00:00) [GET]`
    fn processing(&mut self, rest: &[u8], now: i64) {
        let Some((_, method)) = scan::split(rest, b") [") else { return };
        let method = method.split(|byte| *byte == b']').next().unwrap_or_default();
        if scan::is_method(method) {
            let method = scan::text(method);
            self.open.add(b"", OpenRequest { method, since: now, ..OpenRequest::default() });
        }
    }
}

impl Parser for Rails2 {
    fn line(&mut self, line: &[u8], now: i64, rows: &mut Vec<Row>) {
        let line = cut(line, &mut self.long, &self.log, now, rows);
        if let Some(rest) = line.strip_prefix(b"Processing ") {
            return self.processing(rest, now);
        }
        let Some(served) = line.strip_prefix(b"Completed in ").and_then(completed) else { return };
        let known = self.open.has(b"");
        let method = match self.open.take(b"", None) {
            Match::One(request) | Match::Nearest(request) => request.method,
            Match::Unclear => {
                if known {
                    self.unclear.note(&self.log, now, rows, UNCLEAR);
                }
                String::new()
            }
        };
        let (host, source) = (self.log.host.clone(), self.log.source.clone());
        rows.push(Row::Served(ServedRequest { at: now, host, source, method, ..served }));
    }

    fn finish(&mut self, now: i64, rows: &mut Vec<Row>) {
        self.unclear.note_total(
            &self.log,
            now,
            rows,
            "times the methods of requests were not known",
        );
        self.long.note_total(&self.log, now, rows, "lines of more than 64 KiB were cut");
    }
}

/// `0.07034 (14 reqs/sec) | Rendering: 0.02500 (35%) | DB: 0.01400 (19%) | 200 OK [http://h/p]`, or as of Rails 2.2
/// `70ms (View: 25, DB: 14) | 200 OK [http://h/p]`.
fn completed(text: &[u8]) -> Option<ServedRequest> {
    let (whole, rest) = scan::leading(text, 9)?;
    let millis = rest.strip_prefix(b"ms");
    let (total, digits) = match millis {
        Some(_) => (scan::leading(text, 6)?.0, 6),
        None => (whole, 9),
    };
    let part = |names: [&[u8]; 2]| -> Option<Nanos> {
        let (_, value) = names.into_iter().find_map(|name| scan::split(before_url(rest), name))?;
        scan::leading(value, digits).map(|(value, _)| value)
    };
    let (status, path) = outcome(rest);
    let views = part([b"Rendering: ", b"View: "]);
    Some(ServedRequest {
        status,
        path,
        total: Some(total),
        views,
        database: part([b"DB: ", b"DB: "]),
        ..ServedRequest::default()
    })
}

fn before_url(text: &[u8]) -> &[u8] {
    scan::split(text, b" [").map_or(text, |(before, _)| before)
}

/// ` | 200 OK [http://h/p]`: the status, and the path and query of the URL.
fn outcome(text: &[u8]) -> (u16, String) {
    let Some((before, url)) = scan::split(text, b" [") else { return (0, String::new()) };
    let last = before.rsplit(|byte| *byte == b'|').next().unwrap_or_default().trim_ascii();
    let status = last.get(..3).and_then(scan::status).unwrap_or(0);
    let url = url.strip_suffix(b"]").unwrap_or(url);
    let path = match scan::split(url, b"://") {
        Some((_, rest)) => {
            rest.iter().position(|byte| *byte == b'/').map_or(&b"/"[..], |at| &rest[at..])
        }
        None => url,
    };
    (status, scan::text(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_completed() {
        let cases = [
            (
                "0.07034 (14 reqs/sec) | Rendering: 0.02500 (35%) | DB: 0.01400 (19%) | 200 OK [http://www.example.com/auctions/1?x=1]",
                (200, "/auctions/1?x=1", 70_340_000, Some(25_000_000), Some(14_000_000)),
            ),
            (
                "70ms (View: 25, DB: 14) | 302 Found [http://h]",
                (302, "/", 70_000_000, Some(25_000_000), Some(14_000_000)),
            ),
            (
                "0.00210 (476 reqs/sec) | 404 Page not found [http://h//x]",
                (404, "//x", 2_100_000, None, None),
            ),
            ("0.5", (0, "", 500_000_000, None, None)),
        ];
        for (text, (status, path, total, views, database)) in cases {
            let served = completed(text.as_bytes()).unwrap();
            let parts = (served.status, served.path.as_str(), served.total);
            assert_eq!(parts, (status, path, Some(Nanos(total))), "{text}");
            let times = (served.views.map(|n| n.0), served.database.map(|n| n.0));
            assert_eq!(times, (views, database), "{text}");
        }
        assert_eq!(completed(b"a moment"), None);
    }
}
