//! An exchange as an entry of a HAR.

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use stdx::Nanos;

use super::content::{self, Budget, Text};
use super::secrets::{BodyKind, Cover};
use crate::exchange::{Direction, Exchange, Message, Payload, RequestHead, ResponseHead};
use crate::recording::Record;

/// What browsers call the kinds of requests, by `Sec-Fetch-Dest`.
const RESOURCES: [(&str, &str); 11] = [
    ("document", "document"),
    ("iframe", "document"),
    ("style", "stylesheet"),
    ("script", "script"),
    ("image", "image"),
    ("font", "font"),
    ("audio", "media"),
    ("video", "media"),
    ("manifest", "manifest"),
    ("empty", "fetch"),
    ("worker", "script"),
];
/// The opcodes of messages: RFC 6455, 11.8.
const TEXT: u8 = 1;
const BINARY: u8 = 2;

/// An entry without the messages of its WebSocket.
pub(super) fn members(
    record: &Record,
    exchange: &Exchange,
    cover: &Cover,
    decoding: &Budget,
) -> Map<String, Value> {
    let (wait, receive) = times(exchange);
    let response = response(exchange, cover, decoding);
    let mut members = Map::new();
    members.insert("startedDateTime".into(), time(record, exchange.started).into());
    members.insert("time".into(), (wait + receive).into());
    members.insert("request".into(), request(exchange, cover));
    members.insert("response".into(), response);
    members.insert("cache".into(), json!({}));
    members.insert(
        "timings".into(),
        json!({ "blocked": -1, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": wait, "receive": receive }),
    );
    if let Some(resource) = resource(exchange) {
        members.insert("_resourceType".into(), resource.into());
    }
    members
}

/// A time as HARs have it: `2026-11-28T12:40:09.723Z`.
pub(super) fn time(record: &Record, at: Nanos) -> String {
    let micros = record.epoch_us.saturating_add_unsigned(at.0 / 1000);
    let moment = Timestamp::from_millisecond(micros / 1000).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{moment:.3}")
}

/// Until the answer's head and from there to its end, in milliseconds. What is under way has no end yet.
fn times(exchange: &Exchange) -> (f64, f64) {
    let millis = |from: Nanos, to: Nanos| to.0.saturating_sub(from.0) as f64 / 1e6;
    let end = exchange.ended.unwrap_or(exchange.answered.max(exchange.started));
    match exchange.response {
        Some(_) => (millis(exchange.started, exchange.answered), millis(exchange.answered, end)),
        None => (millis(exchange.started, end), 0.0),
    }
}

fn resource(exchange: &Exchange) -> Option<&'static str> {
    if exchange.response.as_ref().is_some_and(|response| response.status == 101) {
        return Some("websocket");
    }
    let destination = exchange.request.header("sec-fetch-dest")?;
    RESOURCES.iter().find(|(name, _)| *name == destination).map(|(_, resource)| *resource)
}

fn request(exchange: &Exchange, cover: &Cover) -> Value {
    let head = &exchange.request;
    let url = cover.url(&address(exchange));
    let mut value = json!({
        "method": head.method,
        "queryString": pairs(query(&url)),
        "url": url,
        "httpVersion": head.version,
        "headers": headers(&head.headers, cover),
        "cookies": cookies(head, cover),
        "headersSize": -1,
        "bodySize": exchange.sent.len,
    });
    if exchange.sent.len > 0 {
        value["postData"] = post_data(exchange, cover);
    }
    value
}

/// The address: that of a WebSocket has its own scheme.
fn address(exchange: &Exchange) -> String {
    let url = &exchange.request.url;
    match url.strip_prefix("http").filter(|_| resource(exchange) == Some("websocket")) {
        Some(rest) => format!("ws{rest}"),
        None => url.clone(),
    }
}

/// The body of a request; one that is cut is not there: half a form would be another request.
fn post_data(exchange: &Exchange, cover: &Cover) -> Value {
    let mime = exchange.request.header("content-type").unwrap_or_default();
    let mut value = json!({ "mimeType": mime });
    if exchange.sent.is_cut() {
        let (kept, len) = (exchange.sent.bytes.len(), exchange.sent.len);
        value["comment"] = format!("left out: only {kept} of {len} bytes were kept").into();
        return value;
    }
    put(&mut value, &exchange.sent.bytes, BodyKind::sent(mime), cover);
    value
}

/// Puts a text, or bytes as base64, where HARs have the content of a body.
fn put(value: &mut Value, bytes: &[u8], kind: BodyKind, cover: &Cover) {
    match content::text(bytes) {
        Text::Plain(text) => value["text"] = cover.body(text, kind).into(),
        Text::Bytes(bytes) => {
            value["text"] = content::base64(&cover.bytes(bytes)).into();
            value["encoding"] = "base64".into();
        }
    }
}

fn response(exchange: &Exchange, cover: &Cover, decoding: &Budget) -> Value {
    let none = ResponseHead::default();
    let head = exchange.response.as_ref().unwrap_or(&none);
    let location = head.header("location").map(|url| cover.url(url)).unwrap_or_default();
    let mut value = json!({
        "status": head.status,
        "statusText": head.reason,
        "httpVersion": head.version,
        "headers": headers(&head.headers, cover),
        "cookies": set_cookies(head, cover),
        "content": content(exchange, head, cover, decoding),
        "redirectURL": location,
        "headersSize": -1,
        "bodySize": exchange.received.len,
    });
    if let Some(failure) = &exchange.failure {
        value["_error"] = cover.text(failure).into();
    }
    value
}

fn content(exchange: &Exchange, head: &ResponseHead, cover: &Cover, decoding: &Budget) -> Value {
    let mime = head.header("content-type").unwrap_or_default();
    let decoded = content::decoded(&exchange.received, head, decoding);
    let mut value = json!({ "size": decoded.bytes.len(), "mimeType": mime });
    if let Some(comment) = decoded.comment {
        value["comment"] = comment.into();
    }
    if !decoded.bytes.is_empty() {
        put(&mut value, &decoded.bytes, BodyKind::received(head), cover);
    }
    value
}

fn headers(list: &[(String, String)], cover: &Cover) -> Value {
    list.iter().map(|(name, value)| field(name, &cover.header(name, value))).collect()
}

fn field(name: &str, value: &str) -> Value {
    json!({ "name": name, "value": value })
}

fn pairs(list: impl Iterator<Item = (String, String)>) -> Value {
    list.map(|(name, value)| field(&name, &value)).collect()
}

/// The parts of a query as they stand in the address.
fn query(url: &str) -> impl Iterator<Item = (String, String)> + '_ {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    query.split('&').filter(|part| !part.is_empty()).map(|part| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        (name.to_owned(), value.to_owned())
    })
}

fn cookies(head: &RequestHead, cover: &Cover) -> Value {
    let all = head.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("cookie"));
    let all = all.map(|(name, value)| cover.header(name, value));
    let split = |value: String| -> Vec<(String, String)> {
        value
            .split(';')
            .filter_map(|pair| {
                cookie(pair).map(|(name, value)| (name.to_owned(), value.to_owned()))
            })
            .collect()
    };
    pairs(all.flat_map(split))
}

fn cookie(pair: &str) -> Option<(&str, &str)> {
    pair.trim().split_once('=').filter(|(name, _)| !name.is_empty())
}

fn set_cookies(head: &ResponseHead, cover: &Cover) -> Value {
    let all = head.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
    all.filter_map(|(name, value)| set_cookie(&cover.header(name, value))).collect()
}

/// A cookie that an answer sets, with the attributes that HARs have.
fn set_cookie(line: &str) -> Option<Value> {
    let mut parts = line.split(';');
    let (name, value) = cookie(parts.next()?)?;
    let mut set = Map::new();
    set.insert("name".into(), name.into());
    set.insert("value".into(), value.into());
    for part in parts {
        let (key, value) = part.trim().split_once('=').unwrap_or((part.trim(), ""));
        match key.to_ascii_lowercase().as_str() {
            "path" => set.insert("path".into(), value.into()),
            "domain" => set.insert("domain".into(), value.into()),
            "httponly" => set.insert("httpOnly".into(), true.into()),
            "secure" => set.insert("secure".into(), true.into()),
            _ => None,
        };
    }
    Some(set.into())
}

/// A message of a WebSocket.
pub(super) fn message(record: &Record, message: &Message, cover: &Cover) -> Value {
    let kind = match message.direction {
        Direction::Sent => "send",
        Direction::Received => "receive",
    };
    let at = record.epoch_us as f64 / 1e6 + message.at.0 as f64 / 1e9;
    let (opcode, data) = match &message.payload {
        Payload::Text(text) => (TEXT, cover.body(text, BodyKind::Fields)),
        Payload::Binary(bytes) => (BINARY, content::base64(&cover.bytes(bytes))),
    };
    json!({ "type": kind, "time": at, "opcode": opcode, "data": data })
}
