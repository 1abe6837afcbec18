//! Access logs whose lines are JSON, whatever program wrote them: nginx with `escape=json`, lograge, Traefik, Envoy. The fields are
//! known by their names; a line without a path or a status is no request. Request times are not read.

use metrics::server::{Row, ServedRequest};
use serde_json::{Map, Value};

use super::moment::{self, Moment, Zone};
use super::parser::{LogSource, Once, Parser, cut};
use super::scan;

/// How deep a field may lie in objects.
const DEPTH_MAX: usize = 4;
/// A number of seconds from here on is one of milliseconds: seconds have this many in the year 5138.
const SECONDS_MAX: f64 = 1e11;

const METHODS: [&str; 6] =
    ["method", "request_method", "RequestMethod", "requestMethod", "http_method", "verb"];
const PATHS: [&str; 11] = [
    "request_uri",
    "requestURI",
    "RequestPath",
    "requestUrl",
    "request_url",
    "uri",
    "path",
    "url",
    "target",
    "original",
    "fullpath",
];
const STATUSES: [&str; 7] = [
    "status",
    "status_code",
    "statusCode",
    "response_code",
    "DownstreamStatus",
    "http_status",
    "response_status",
];
const TIMES: [&str; 11] = [
    "time_iso8601",
    "time_local",
    "msec",
    "@timestamp",
    "timestamp",
    "time",
    "ts",
    "start_time",
    "StartUTC",
    "datetime",
    "date",
];

/// The parser of lines of JSON.
#[derive(Debug)]
pub(super) struct Json {
    log: LogSource,
    zone: Zone,
    long: Once,
}

impl Json {
    pub(super) fn new(log: LogSource) -> Self {
        Self { log, zone: Zone::default(), long: Once::default() }
    }
}

impl Parser for Json {
    fn line(&mut self, line: &[u8], now: i64, rows: &mut Vec<Row>) {
        let line = cut(line, &mut self.long, &self.log, now, rows);
        // What a container or syslog puts before it is not read.
        let begin = line.iter().position(|byte| *byte == b'{').unwrap_or(line.len());
        let Ok(Value::Object(map)) = serde_json::from_slice(&line[begin..]) else { return };
        let mut entry = Entry::default();
        entry.add(&map, 0);
        if entry.path.is_empty() || entry.status == 0 {
            return;
        }
        let at = entry.at().map_or(now, |moment| self.zone.unix(moment, now));
        rows.push(Row::Served(ServedRequest {
            at,
            host: self.log.host.clone(),
            source: self.log.source.clone(),
            method: scan::text(entry.method.as_bytes()),
            path: scan::text(entry.path.as_bytes()),
            status: entry.status,
            ..ServedRequest::default()
        }));
    }
}

/// What is known of a line.
#[derive(Default)]
struct Entry {
    method: String,
    path: String,
    status: u16,
    /// The time, and the place of its name in `TIMES`: the first wins.
    time: Option<(usize, String)>,
}

impl Entry {
    fn add(&mut self, map: &Map<String, Value>, depth: usize) {
        for (key, value) in map {
            match value {
                Value::Object(inner) if depth < DEPTH_MAX => self.add(inner, depth + 1),
                Value::String(text) => self.field(key, text),
                Value::Number(number) => self.field(key, &number.to_string()),
                _ => {}
            }
        }
    }

    fn field(&mut self, key: &str, text: &str) {
        if let Some(rank) = TIMES.iter().position(|name| *name == key) {
            if self.time.as_ref().is_none_or(|(seen, _)| rank < *seen) {
                self.time = Some((rank, text.to_owned()));
            }
        } else if METHODS.contains(&key) && scan::is_method(text.as_bytes()) {
            text.clone_into(&mut self.method);
        } else if PATHS.contains(&key) && (text.starts_with('/') || text.contains("://")) {
            self.longer_path(text);
        } else if STATUSES.contains(&key) {
            self.status = scan::status(text.as_bytes()).unwrap_or(self.status);
        } else if matches!(key, "request" | "request_line") {
            self.request_line(text);
        }
    }

    /// `uri` may lack the query that `request_uri` has.
    fn longer_path(&mut self, text: &str) {
        if text.len() > self.path.len() {
            text.clone_into(&mut self.path);
        }
    }

    /// `GET /path HTTP/1.1`.
    fn request_line(&mut self, text: &str) {
        let Some((method, rest)) = text.split_once(' ') else { return };
        if scan::is_method(method.as_bytes()) {
            method.clone_into(&mut self.method);
            self.longer_path(rest.rsplit_once(" HTTP/").map_or(rest, |(path, _)| path));
        }
    }

    fn at(&self) -> Option<Moment> {
        let (_, text) = self.time.as_ref()?;
        match text.parse::<f64>() {
            Ok(number) if number >= SECONDS_MAX => {
                let milliseconds = number.min(i64::MAX as f64 / 1e6) as i64;
                milliseconds.checked_mul(1_000_000).map(Moment::Unix)
            }
            _ => moment::any(text.as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(line: &str) -> Option<(String, String, u16, i64)> {
        let log = LogSource { host: String::new(), source: "json".to_owned() };
        let mut rows = vec![];
        Json::new(log).line(line.as_bytes(), 7, &mut rows);
        match rows.pop()? {
            Row::Served(one) => Some((one.method, one.path, one.status, one.at)),
            _ => None,
        }
    }

    #[test]
    fn fields_are_known_by_their_names() {
        const AT: i64 = 1_795_773_625_000_000_000;
        for line in [
            r#"{"time_local":"27/Nov/2026:10:00:25 +0000","request":"GET /a?b=1 HTTP/1.1","status":"200"}"#,
            r#"{"time_iso8601":"2026-11-27T11:00:25+01:00","request_method":"GET","uri":"/a","request_uri":"/a?b=1","status":200}"#,
            r#"{"msec":"1795773625.000","method":"GET","path":"/a?b=1","status":200}"#,
            r#"2026-11-27 stdout {"method":"GET","path":"/a?b=1","status":200,"@timestamp":"2026-11-27T10:00:25Z"}"#,
            r#"{"RequestMethod":"GET","RequestPath":"/a?b=1","DownstreamStatus":200,"StartUTC":"2026-11-27T10:00:25Z","time":"2026-11-27T10:00:29Z"}"#,
            r#"{"level":30,"time":1795773625000,"req":{"method":"GET","url":"/a?b=1"},"res":{"statusCode":200}}"#,
            r#"{"start_time":"2026-11-27T10:00:25.000Z","method":"GET","path":"/a?b=1","response_code":200}"#,
        ] {
            // Traefik's time is that of the end where it has no other of ours.
            let expect = if line.contains("StartUTC") { AT + 4_000_000_000 } else { AT };
            let wanted = Some(("GET".to_owned(), "/a?b=1".to_owned(), 200, expect));
            assert_eq!(served(line), wanted, "{line}");
        }
        let timeless = r#"{"method":"POST","path":"/a","status":302}"#;
        assert_eq!(served(timeless), Some(("POST".to_owned(), "/a".to_owned(), 302, 7)));
    }

    #[test]
    fn other_json_is_no_request() {
        for line in [
            "{}",
            "[1]",
            "{\"path\":\"/a\"",
            "{\"path\":\"/a\"}",
            "{\"status\":200}",
            "{\"message\":\"GET /a\",\"status\":200}",
            "{\"openapi\":\"3.0.0\",\"paths\":{\"/a\":{\"get\":{}}}}",
        ] {
            assert_eq!(served(line), None, "{line}");
        }
    }
}
