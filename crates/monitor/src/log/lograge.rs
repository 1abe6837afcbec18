//! Requests of a Rails log in one line each, as the lograge gem writes them: `key=value` or JSON.

use metrics::server::ServedRequest;

use super::moment::{self, Moment};
use super::scan;

/// A request, and when it was completed where the line has the time.
pub(super) fn served(message: &[u8]) -> Option<(ServedRequest, Option<Moment>)> {
    let line = match message {
        [b'{', ..] => json(message)?,
        [b'm', ..] => pairs(message),
        _ => return None,
    };
    // JSON in a log may be of another source: a request has a path and a time.
    (!line.served.path.is_empty() && line.served.total.is_some()).then_some((line.served, line.at))
}

/// What was read of a line.
#[derive(Default)]
struct Line {
    served: ServedRequest,
    at: Option<Moment>,
}

impl Line {
    fn take(&mut self, key: &[u8], value: &[u8]) {
        let served = &mut self.served;
        let millis = || scan::nanos(value, 6);
        match key {
            b"method" => served.method = scan::text(value),
            b"path" => served.path = scan::text(value),
            b"status" => served.status = scan::status(value).unwrap_or(0),
            b"duration" => served.total = millis(),
            b"view" => served.views = millis(),
            b"db" => served.database = millis(),
            b"request_id" | b"uuid" => served.id = scan::text(value),
            b"time" | b"@timestamp" | b"timestamp" => self.at = moment::any(value),
            _ => {}
        }
    }
}

fn pairs(message: &[u8]) -> Line {
    let mut line = Line::default();
    for word in message.split(|byte| *byte == b' ') {
        if let Some((key, value)) = scan::split(word, b"=") {
            line.take(key, value);
        }
    }
    line
}

fn json(message: &[u8]) -> Option<Line> {
    let serde_json::Value::Object(map) = serde_json::from_slice(message).ok()? else { return None };
    let mut line = Line::default();
    for (key, value) in &map {
        match value {
            serde_json::Value::String(text) => line.take(key.as_bytes(), text.as_bytes()),
            serde_json::Value::Number(number) => {
                line.take(key.as_bytes(), number.to_string().as_bytes());
            }
            _ => {}
        }
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use stdx::Nanos;

    use super::*;

    #[test]
    fn both_forms_have_the_same_fields() {
        let lines = [
            "method=GET path=/jobs/8 format=html controller=JobsController action=show status=200 duration=58.33 view=40.43 db=15.26 request_id=abc",
            r#"{"method":"GET","path":"/jobs/8","format":"html","status":200,"duration":58.33,"view":40.43,"db":15.26,"request_id":"abc"}"#,
        ];
        for line in lines {
            let (served, at) = served(line.as_bytes()).unwrap();
            let expected = ServedRequest {
                method: "GET".to_owned(),
                path: "/jobs/8".to_owned(),
                status: 200,
                total: Some(Nanos(58_330_000)),
                views: Some(Nanos(40_430_000)),
                database: Some(Nanos(15_260_000)),
                id: "abc".to_owned(),
                ..ServedRequest::default()
            };
            assert_eq!((served, at), (expected, None), "{line}");
        }
        let timed = br#"{"path":"/","duration":1,"@timestamp":"2026-11-21T09:24:57.000Z"}"#;
        assert!(served(timed).is_some_and(|(_, at)| at.is_some()));
    }

    #[test]
    fn other_lines_are_none() {
        for line in ["{}", "{\"path\":\"/\"}", "[1]", "{", "method=GET", "hello", "", "method"] {
            assert_eq!(served(line.as_bytes()), None, "{line}");
        }
    }
}
