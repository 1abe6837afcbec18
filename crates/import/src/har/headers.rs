//! Header fields of recorded requests: those that a page or its scripts chose, without what each browser sends by itself.

use super::correlate::Correlator;
use super::find::{Sink, SinkPlace};
use crate::{Body, Header, Piece, Source, Text};

/// Header fields that the connection, the jar or the browser makes; and conditions, which would bring 304.
const LEFT_OUT: &[&str] = &[
    "accept-encoding",
    "accept-language",
    "alt-used",
    "baggage",
    "cache-control",
    "connection",
    "content-length",
    "cookie",
    "dnt",
    "host",
    "http2-settings",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "keep-alive",
    "newrelic",
    "pragma",
    "priority",
    "purpose",
    "save-data",
    "sentry-trace",
    "te",
    "traceparent",
    "tracestate",
    "transfer-encoding",
    "upgrade",
    "upgrade-insecure-requests",
    "user-agent",
    "x-client-data",
];

impl Correlator<'_> {
    /// The header fields of the request, and names of those whose value is from before the recording.
    pub(super) fn headers(&mut self, body: &Body) -> (Vec<Header>, Vec<String>) {
        let is_multipart = matches!(body, Body::Multipart(_));
        let mut headers: Vec<Header> = vec![];
        let mut old = vec![];
        for (name, value) in &self.entry().headers {
            let lower = name.to_ascii_lowercase();
            let is_made = is_made_by_browser(&lower, value)
                || (lower == "content-type" && is_multipart)
                || headers.iter().any(|seen| seen.name.eq_ignore_ascii_case(name));
            if is_made || !is_field(name, value) {
                continue;
            }
            let value = match lower.as_str() {
                "referer" => self.known_address(value),
                "origin" | "accept" | "content-type" | "sec-websocket-protocol" => {
                    Text::literal(value.as_str())
                }
                "authorization" => self.authorization(value, &mut old),
                _ => self.header_value(name, value),
            };
            headers.push(Header { name: name.clone(), value });
        }
        (headers, old)
    }

    fn header_value(&mut self, name: &str, value: &str) -> Text {
        let sink = self.header_sink(name);
        match self.resolve(value, &sink) {
            Some(found) => Text { pieces: vec![Piece::Value(found)] },
            None => self.inner(value, &sink),
        }
    }

    fn header_sink(&self, name: &str) -> Sink {
        let shown = format!("the header {name} of {}", self.label());
        Sink { name: name.to_owned(), place: SinkPlace::Header, shown }
    }

    fn authorization(&mut self, value: &str, old: &mut Vec<String>) -> Text {
        let (scheme, credentials) = value.split_once(' ').unwrap_or(("", value));
        let mut text =
            Text::literal(if scheme.is_empty() { String::new() } else { format!("{scheme} ") });
        let sink = Sink { name: "token".to_owned(), ..self.header_sink("Authorization") };
        match self.resolve(credentials, &sink) {
            Some(found) => text.pieces.push(Piece::Value(found)),
            None => {
                old.push("Authorization".to_owned());
                let name = if scheme.eq_ignore_ascii_case("basic") {
                    "BASIC_CREDENTIALS"
                } else {
                    "TOKEN"
                };
                text.push_value(
                    Source::Env { name: name.to_owned(), default: Some(credentials.to_owned()) },
                    vec![],
                );
            }
        }
        text
    }
}

/// Whether the field, its name in small letters, is in every request of a browser.
fn is_made_by_browser(lower: &str, value: &str) -> bool {
    LEFT_OUT.contains(&lower)
        || lower.starts_with(':')
        || (lower.starts_with("sec-") && lower != "sec-websocket-protocol")
        || lower.starts_with("proxy-")
        || (lower == "accept" && value == "*/*")
}

/// Whether HTTP allows the field.
fn is_field(name: &str, value: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty()
        && name.bytes().all(is_token)
        && !value.chars().any(|char| char.is_control() && char != '\t')
}
