//! Requests that a script sends by itself: `pm.sendRequest`.

use super::evaluate::{Planned, Session};
use super::value::Datum;
use crate::percent::encode_component;
use crate::{Body, Encoding, Exchange, Header, Text};

impl Session<'_> {
    /// A request that a script sends by itself, and what it does with the answer.
    pub(super) fn send(&mut self, request: &Datum, done: Datum) {
        let Some(exchange) = self.sent_exchange(request) else {
            self.note("a request that a script sends is left out");
            return;
        };
        let answer = self.answers.len();
        if answer > SENT_MAX {
            return;
        }
        self.answers.push(exchange);
        self.plan.push(Planned::Send(answer));
        if let Datum::Function(function) = done {
            self.call_function(&function, vec![Datum::Null, Datum::Answer(answer)]);
        }
    }

    fn sent_exchange(&mut self, request: &Datum) -> Option<Exchange> {
        let url = match request {
            Datum::Object(_) => request.member("url").cloned()?,
            url => url.clone(),
        };
        let url = self.text_of(&url)?;
        let mut exchange = Exchange {
            place: self.answers[0].place.clone(),
            method: request
                .text_member("method")
                .map_or_else(|| "GET".to_owned(), |method| method.to_ascii_uppercase()),
            url: self.substituted(&url),
            ..Exchange::default()
        };
        match request.member("header").or_else(|| request.member("headers")).cloned() {
            Some(Datum::Object(fields)) => {
                for (name, value) in fields {
                    let value = self.text_of(&value)?;
                    let value = self.substituted(&value);
                    exchange.headers.push(Header { name, value });
                }
            }
            Some(Datum::Array(fields)) => {
                for field in fields {
                    let value =
                        field.member("value").cloned().and_then(|value| self.text_of(&value))?;
                    let value = self.substituted(&value);
                    exchange.headers.push(Header { name: field.text_member("key")?, value });
                }
            }
            Some(value) => {
                let line = value.as_literal()?;
                for (name, value) in line.lines().filter_map(|line| line.split_once(':')) {
                    let value = self.variables.substitute(value.trim());
                    exchange.headers.push(Header { name: name.trim().to_owned(), value });
                }
            }
            None => (),
        }
        if let Some(body) = request.member("body").cloned() {
            self.add_body(&body, &mut exchange)?;
        }
        Some(exchange)
    }

    fn add_body(&mut self, body: &Datum, exchange: &mut Exchange) -> Option<()> {
        let mode = body.text_member("mode").unwrap_or_else(|| "raw".to_owned());
        let (text, content_type) = match mode.as_str() {
            "urlencoded" => {
                let mut text = Text::default();
                let Datum::Array(fields) = body.member("urlencoded")?.clone() else {
                    return None;
                };
                for (index, field) in fields.iter().enumerate() {
                    let value =
                        field.member("value").cloned().and_then(|value| self.text_of(&value))?;
                    let value = self.substituted(&value);
                    text.push_str(if index == 0 { "" } else { "&" });
                    text.push_str(&format!("{}=", encode_component(&field.text_member("key")?)));
                    text.push(&value.encoded(encode_component, Encoding::Url));
                }
                (text, "application/x-www-form-urlencoded")
            }
            "raw" => {
                let raw = body.member("raw").cloned().unwrap_or_else(|| body.clone());
                let is_json = matches!(raw, Datum::Object(_));
                let text = if is_json { self.json_text(&raw)? } else { self.text_of(&raw)? };
                let language = body
                    .member("options")
                    .and_then(|all| all.member("raw"))
                    .and_then(|raw| raw.text_member("language"));
                let content_type = if is_json || language.as_deref() == Some("json") {
                    "application/json"
                } else {
                    "text/plain"
                };
                (self.substituted(&text), content_type)
            }
            _ => return None,
        };
        if exchange.header("content-type").is_none() {
            exchange.headers.push(Header {
                name: "Content-Type".to_owned(),
                value: Text::literal(content_type),
            });
        }
        exchange.body = Body::Text(text);
        Some(())
    }

    /// The text with its `{{variables}}` replaced, where all of it is literal.
    fn substituted(&mut self, text: &Text) -> Text {
        match text.as_literal() {
            Some(literal) if literal.contains("{{") => self.variables.substitute(literal),
            _ => text.clone(),
        }
    }
}

/// Requests that one script may send.
const SENT_MAX: usize = 50;
