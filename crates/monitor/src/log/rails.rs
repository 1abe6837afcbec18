//! Rails 5 to 8: a request's lines are `Started`, `Processing` and `Completed`. They are joined by process and tags; where
//! several requests of one process are under way, by the moment they began; and else by their order, as long as that is
//! clear.

use std::mem;

use metrics::server::{Row, ServedRequest};
use stdx::Nanos;

use super::head::{self, Head};
use super::moment::{self, Zone};
use super::open_requests::{Match, OpenRequest, OpenRequests};
use super::parser::{LogSource, Once, Parser, cut};
use super::{lograge, scan};

/// What `Completed` calls the time in a database.
const DATABASES: [&[u8]; 4] = [b"ActiveRecord", b"MongoDB", b"Sequel", b"DB"];

const NEAREST: &str = "several requests of one process are under way at once and its log has no request ids: which path \
                       a request had is told by the moment it began (config.log_tags = [:request_id] makes it sure)";
const UNCLEAR: &str = "requests interleave and the log has neither process nor request id: their times count, but which \
                       path they had is not known (config.log_tags = [:request_id] tells)";
const HEADLESS: &str =
    "a request ended whose begin the log does not have: its time counts, its path is not known";
const LOST: &str = "more requests have begun without an end than can be held: they are given up";

/// The parser of Rails logs.
#[derive(Debug)]
pub(super) struct Rails {
    log: LogSource,
    zone: Zone,
    open: OpenRequests,
    /// The key of the request with a fatal error, which the following lines describe, and the time of the error.
    fatal: Option<(Vec<u8>, Option<i64>)>,
    nearest: Once,
    unclear: Once,
    headless: Once,
    lost: Once,
    long: Once,
}

impl Rails {
    pub(super) fn new(log: LogSource) -> Self {
        Self {
            log,
            zone: Zone::default(),
            open: OpenRequests::default(),
            fatal: None,
            nearest: Once::default(),
            unclear: Once::default(),
            headless: Once::default(),
            lost: Once::default(),
            long: Once::default(),
        }
    }

    fn at(&mut self, head: &Head<'_>, now: i64) -> Option<i64> {
        head.at.map(|moment| self.zone.unix(moment, now))
    }

    /// `Started GET "/users/1" for 127.0.0.1 at 2026-11-22 07:26:24 +0000`
    fn started(&mut self, head: &Head<'_>, rest: &[u8], now: i64, rows: &mut Vec<Row>) {
        let Some((method, rest)) = scan::split(rest, b" \"") else { return };
        if !scan::is_method(method) {
            return;
        }
        // The path is the client's: the quote that ends it is the last one before ` for `.
        let ends = (0..rest.len()).rev().find(|at| rest[*at..].starts_with(b"\" for "));
        let Some(end) = ends else { return };
        let time = scan::split(&rest[end..], b" at ").map(|(_, time)| time);
        if let Some(time) = time {
            self.zone.learn(time);
        }
        let at = self.at(head, now);
        let spoken = time.and_then(moment::iso).map(|(moment, _)| self.zone.unix(moment, now));
        let request = OpenRequest {
            method: scan::text(method),
            path: scan::text(&rest[..end]),
            id: scan::text(head.id),
            at,
            spoken,
            processing: None,
            since: at.unwrap_or(now),
        };
        if self.open.add(&key(head), request) > 0 {
            self.lost.note(&self.log, now, rows, LOST);
        }
    }

    /// `Completed 200 OK in 13ms (Views: 4.4ms | ActiveRecord: 1.7ms (3 queries, 1 cached) | GC: 0.1ms)`
    fn completed(&mut self, head: &Head<'_>, rest: &[u8], now: i64, rows: &mut Vec<Row>) {
        let Some(times) = Times::parse(rest) else { return };
        let at = self.at(head, now);
        let key = key(head);
        let known = self.open.has(&key);
        let began = at.map(|at| at.saturating_sub_unsigned(times.total.0));
        let request = match self.open.take(&key, began) {
            Match::One(request) => request,
            Match::Nearest(request) => {
                self.nearest.note(&self.log, now, rows, NEAREST);
                request
            }
            Match::Unclear => {
                let (once, what) = match known {
                    true => (&mut self.unclear, UNCLEAR),
                    false => (&mut self.headless, HEADLESS),
                };
                once.note(&self.log, now, rows, what);
                OpenRequest { id: scan::text(head.id), ..OpenRequest::default() }
            }
        };
        let at = at.unwrap_or_else(|| end_without_clock(&request, times.total, now));
        let (views, database) = (times.views, times.database);
        let served = ServedRequest {
            status: times.status,
            total: Some(times.total),
            views,
            database,
            ..ServedRequest::default()
        };
        rows.push(self.row(served, request, at));
    }

    /// `ActionController::RoutingError (No route matches [GET] "/nowhere"):` ends a request without `Completed`. Its time is
    /// that between its lines; where they have none, there is no row.
    fn unrouted(&mut self, head: &Head<'_>, rest: &[u8], now: i64, rows: &mut Vec<Row>) {
        let parts = scan::split(rest, b"[").and_then(|(_, rest)| scan::split(rest, b"] \""));
        let Some((method, path)) = parts else { return };
        let path = path.iter().rposition(|byte| *byte == b'"').map_or(path, |end| &path[..end]);
        let (key, fatal_at) = self.fatal.take().unwrap_or_else(|| (key(head), None));
        let found = self.open.take_path(&key, &scan::text(method), &scan::text(path));
        let Some((request, began)) = found.and_then(|request| request.at.map(|at| (request, at)))
        else {
            return;
        };
        let ended = self.at(head, now).or(fatal_at).unwrap_or(now).max(began);
        let total = Some(Nanos(ended.abs_diff(began)));
        rows.push(self.row(
            ServedRequest { status: 404, total, ..ServedRequest::default() },
            request,
            ended,
        ));
    }

    /// A request in one line.
    fn whole(&mut self, head: &Head<'_>, now: i64, rows: &mut Vec<Row>) {
        let Some((mut served, moment)) = lograge::served(head.message) else { return };
        let at = moment.or(head.at).map(|moment| self.zone.unix(moment, now));
        if served.id.is_empty() {
            served.id = scan::text(head.id);
        }
        let request = OpenRequest {
            method: mem::take(&mut served.method),
            path: mem::take(&mut served.path),
            id: mem::take(&mut served.id),
            ..OpenRequest::default()
        };
        rows.push(self.row(served, request, at.unwrap_or(now)));
    }

    fn row(&self, mut served: ServedRequest, request: OpenRequest, at: i64) -> Row {
        served.at = at;
        (served.host, served.source) = (self.log.host.clone(), self.log.source.clone());
        (served.method, served.path, served.id) = (request.method, request.path, request.id);
        Row::Served(served)
    }
}

impl Parser for Rails {
    fn line(&mut self, line: &[u8], now: i64, rows: &mut Vec<Row>) {
        let line = cut(line, &mut self.long, &self.log, now, rows);
        let head = head::head(line);
        let message = head.message;
        if head.fatal {
            let at = self.at(&head, now);
            self.fatal = Some((key(&head), at));
        } else if head.at.is_some() {
            self.fatal = None;
        }
        if let Some(rest) = message.strip_prefix(b"Started ") {
            self.started(&head, rest, now, rows);
        } else if message.starts_with(b"Processing by ") {
            let at = self.at(&head, now);
            self.open.processing(&key(&head), at);
        } else if let Some(rest) = message.strip_prefix(b"Completed ") {
            self.completed(&head, rest, now, rows);
        } else if let Some(rest) = message.strip_prefix(b"ActionController::RoutingError (") {
            self.unrouted(&head, rest, now, rows);
        } else {
            self.whole(&head, now, rows);
        }
    }

    fn finish(&mut self, now: i64, rows: &mut Vec<Row>) {
        let counts = [
            (self.nearest, "requests were told apart by the moment they began"),
            (self.unclear, "requests could not be told apart: their paths are not known"),
            (self.headless, "requests ended whose begin the log does not have"),
            (self.lost, "times more requests had begun than can be held"),
            (self.long, "lines of more than 64 KiB were cut"),
        ];
        for (once, what) in counts {
            once.note_total(&self.log, now, rows, what);
        }
        let endless = self.open.len() as u64 + self.open.given_up();
        if endless > 0 {
            let what = {
                let have = if endless == 1 { "has" } else { "have" };
                format!("{} {have} begun and no end is told", stdx::counted(endless, "request"))
            };
            rows.push(self.log.incident(now, what));
        }
    }
}

/// What the lines of one request have in common.
fn key(head: &Head<'_>) -> Vec<u8> {
    [head.pid, b" ", head.tags].concat()
}

/// When a request ended of a log without a clock: the reader's time, unless the request's own words are of long before, as
/// those of a log are that is read afterwards.
fn end_without_clock(request: &OpenRequest, total: Nanos, now: i64) -> i64 {
    let spoken = request.spoken.map(|spoken| spoken.saturating_add_unsigned(total.0));
    spoken.filter(|spoken| now.saturating_sub(*spoken) > FRESH_MAX).unwrap_or(now)
}

/// A line that is followed is read this soon after it was written, in nanoseconds.
const FRESH_MAX: i64 = 60 * 1_000_000_000;

/// The figures of `Completed`.
#[derive(Debug, Default, PartialEq)]
struct Times {
    /// 0 where Rails did not know it.
    status: u16,
    total: Nanos,
    views: Option<Nanos>,
    database: Option<Nanos>,
}

impl Times {
    fn parse(text: &[u8]) -> Option<Self> {
        let status = text.get(..3).and_then(scan::status).unwrap_or(0);
        let (_, rest) =
            scan::split(text, b" in ").or_else(|| Some((text, text.strip_prefix(b"in ")?)))?;
        let (total, rest) = scan::leading(rest, 6)?;
        let rest = rest.strip_prefix(b"ms")?;
        let mut times = Self { status, total, ..Self::default() };
        let parts = rest.strip_prefix(b" (").unwrap_or_default();
        for part in parts.split(|byte| *byte == b'|') {
            let Some((name, value)) = scan::split(part.trim_ascii(), b": ") else { continue };
            let value = scan::leading(value, 6).filter(|(_, rest)| rest.starts_with(b"ms"));
            let value = value.map(|(value, _)| value);
            match name {
                b"Views" => times.views = value,
                _ if DATABASES.contains(&name) => times.database = value.or(times.database),
                _ => {}
            }
        }
        Some(times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_completed() {
        let times = |status, total: f64, views: Option<f64>, database: Option<f64>| {
            let millis = |ms: f64| Nanos((ms * 1e6).round() as u64);
            Some(Times {
                status,
                total: millis(total),
                views: views.map(millis),
                database: database.map(millis),
            })
        };
        let cases = [
            (
                "200 OK in 13ms (Views: 4.4ms | ActiveRecord: 1.7ms | Allocations: 6067)",
                times(200, 13.0, Some(4.4), Some(1.7)),
            ),
            (
                "302 Found in 2ms (ActiveRecord: 0.2ms | Allocations: 662)",
                times(302, 2.0, None, Some(0.2)),
            ),
            ("200 OK in 0ms (Views: 0.1ms | Allocations: 298)", times(200, 0.0, Some(0.1), None)),
            (
                "500 Internal Server Error in 0ms (ActiveRecord: 0.0ms | Allocations: 122)",
                times(500, 0.0, None, Some(0.0)),
            ),
            (
                "200 OK in 5ms (Views: 1.0ms | ActiveRecord: 0.5ms (3 queries, 1 cached) | GC: 0.1ms)",
                times(200, 5.0, Some(1.0), Some(0.5)),
            ),
            ("204 No Content in 7ms", times(204, 7.0, None, None)),
            ("200 OK in 1234.5ms (Views: 4ms)", times(200, 1234.5, Some(4.0), None)),
            ("  in 3ms (ActiveRecord: 1.0ms)", times(0, 3.0, None, Some(1.0))),
            ("200 OK in a while", None),
            ("200 OK in 5s", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(Times::parse(text.as_bytes()), expected, "{text}");
        }
    }
}
