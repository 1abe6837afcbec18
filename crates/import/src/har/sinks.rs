//! The parts of a request as texts: what came in answers is a value in them, all else is as it was recorded.

use super::correlate::Correlator;
use super::find::{Sink, SinkPlace};
use super::look::{Look, look};
use crate::{Encoding, Piece, Text};

impl Correlator<'_> {
    /// The address of the request.
    pub(super) fn address(&mut self) -> Text {
        let entry = self.entry();
        let origin = entry.origin();
        let rest = &entry.address[origin.len()..];
        if self.has_new_value(rest)
            && let Some(text) = self.whole_address()
        {
            return text;
        }
        let mut text = Text::literal(origin);
        let (path, query) =
            rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
        text.push(&self.path(if path.is_empty() { "/" } else { path }));
        if let Some(query) = query {
            text.push_str("?");
            text.push(&self.pairs(query, SinkPlace::Query));
        }
        text
    }

    /// Whether something in an address looks made up and is no variable yet.
    fn has_new_value(&self, rest: &str) -> bool {
        let sink = Sink { place: SinkPlace::Path, ..Sink::default() };
        rest.split(['/', '?', '&', '=']).skip(1).any(|part| {
            let part = decoded(part);
            look(&part) != Look::Word && self.known(&part, &sink).is_none()
        })
    }

    fn path(&mut self, path: &str) -> Text {
        let mut text = Text::default();
        let mut before = String::new();
        for (at, segment) in path.split('/').enumerate() {
            if at > 0 {
                text.push_str("/");
            }
            let shown = format!("the path of {}", self.label());
            let sink = Sink { name: before.clone(), place: SinkPlace::Path, shown };
            let plain = decoded(segment);
            let (stem, end) = match plain.rsplit_once('.') {
                Some((stem, end)) if end.len() <= 5 && look(stem) != Look::Word => {
                    (stem, format!(".{end}"))
                }
                _ => (plain.as_str(), String::new()),
            };
            match self.resolve(stem, &sink) {
                Some(mut value) => {
                    value.encodings.push(Encoding::Url);
                    text.pieces.push(Piece::Value(value));
                    text.push_str(&end);
                }
                None => text.push_str(segment),
            }
            if look(&plain) == Look::Word && !plain.is_empty() {
                before = plain;
            }
        }
        text
    }

    /// Pairs of a query or a form.
    pub(super) fn pairs(&mut self, pairs: &str, place: SinkPlace) -> Text {
        let encoding = if place == SinkPlace::Query { Encoding::Url } else { Encoding::UrlForm };
        let mut text = Text::default();
        for (at, pair) in pairs.split('&').enumerate() {
            if at > 0 {
                text.push_str("&");
            }
            let Some((name, value)) = pair.split_once('=') else {
                text.push_str(pair);
                continue;
            };
            text.push_str(name);
            text.push_str("=");
            let plain = decoded(&value.replace('+', " "));
            let name = decoded(name);
            let made = self.field(&name, &plain, place);
            if made.values().next().is_some() {
                text.push(&made.encoded(
                    if encoding == Encoding::Url {
                        crate::percent::encode_component
                    } else {
                        crate::percent::encode_form
                    },
                    encoding,
                ));
            } else {
                text.push_str(value);
            }
        }
        text
    }

    /// A value with a name.
    pub(super) fn field(&mut self, name: &str, value: &str, place: SinkPlace) -> Text {
        let shown = format!("{name} of {}", self.label());
        let sink = Sink { name: last_name(name).to_owned(), place, shown };
        if let Some(value) = self.resolve(value, &sink) {
            return Text { pieces: vec![Piece::Value(value)] };
        }
        if value.starts_with(['{', '[']) && serde_json::from_str::<serde_json::Value>(value).is_ok()
        {
            return self.json(value);
        }
        self.inner(value, &sink)
    }

    /// A text in which values stand among others: an address, XML, a sentence.
    pub(super) fn inner(&mut self, value: &str, sink: &Sink) -> Text {
        let mut text = Text::default();
        let is_part = |char: char| char.is_ascii_alphanumeric() || "-_".contains(char);
        let mut rest = value;
        while !rest.is_empty() {
            let end = rest.find(|char| !is_part(char)).unwrap_or(rest.len());
            let (token, after) = rest.split_at(end);
            let is_wanted = token.len() < value.len() && look(token) == Look::Random;
            match is_wanted.then(|| self.resolve(token, sink)).flatten() {
                Some(found) => text.pieces.push(Piece::Value(found)),
                None => text.push_str(token),
            }
            let skip = after.find(is_part).unwrap_or(after.len());
            text.push_str(&after[..skip]);
            rest = &after[skip..];
        }
        text
    }

    /// An address of which only values are replaced that are known already: a Referer.
    pub(super) fn known_address(&self, address: &str) -> Text {
        let mut text = Text::default();
        let sink = Sink { place: SinkPlace::Path, ..Sink::default() };
        let mut start = 0;
        let ends: Vec<usize> = address
            .match_indices(['/', '?', '&', '='])
            .map(|(at, _)| at)
            .chain([address.len()])
            .collect();
        for end in ends {
            let part = &address[start..end];
            match self.known(&decoded(part), &sink).filter(|_| look(part) != Look::Word) {
                Some(mut value) => {
                    value.encodings.push(Encoding::Url);
                    text.pieces.push(Piece::Value(value));
                }
                None => text.push_str(part),
            }
            text.push_str(address.get(end..end + 1).unwrap_or_default());
            start = end + 1;
        }
        text
    }

    /// JSON: its strings and numbers, those in strings that are JSON themselves too.
    pub(super) fn json(&mut self, source: &str) -> Text {
        let mut text = Text::default();
        let mut keys: Vec<String> = vec![String::new()];
        let mut at = 0;
        let bytes = source.as_bytes();
        while at < bytes.len() {
            let start = at;
            match bytes[at] {
                b'"' => {
                    at = string_end(bytes, at);
                    let raw = &source[start..at];
                    let plain: String = serde_json::from_str(raw).unwrap_or_default();
                    if source[at..].trim_start().starts_with(':') {
                        if let Some(key) = keys.last_mut() {
                            *key = plain;
                        }
                        text.push_str(raw);
                    } else {
                        let name = keys.last().cloned().unwrap_or_default();
                        self.json_string(&mut text, raw, &plain, &name);
                    }
                }
                b'-' | b'0'..=b'9' => {
                    at += bytes[at..]
                        .iter()
                        .take_while(|byte| b"+-.eE0123456789".contains(byte))
                        .count();
                    let name = keys.last().cloned().unwrap_or_default();
                    let shown = format!("{name} of {}", self.label());
                    let sink = Sink { name, place: SinkPlace::Field, shown };
                    match self.resolve(&source[start..at], &sink) {
                        Some(value) => text.pieces.push(Piece::Value(value)),
                        None => text.push_str(&source[start..at]),
                    }
                }
                byte => {
                    at += 1;
                    match byte {
                        b'{' => keys.push(String::new()),
                        b'[' => keys.push(keys.last().cloned().unwrap_or_default()),
                        b'}' | b']' if keys.len() > 1 => {
                            keys.pop();
                        }
                        _ => {}
                    }
                    text.push_str(&source[start..at]);
                }
            }
        }
        text
    }

    fn json_string(&mut self, text: &mut Text, raw: &str, plain: &str, name: &str) {
        let made = self.field(name, plain, SinkPlace::Field);
        if made.values().next().is_none() {
            text.push_str(raw);
            return;
        }
        text.push_str("\"");
        text.push(&made.encoded(json_inside, Encoding::Json));
        text.push_str("\"");
    }
}

fn json_inside(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Where a string of JSON ends, from its opening quote.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// `post[title]` is `title`.
fn last_name(name: &str) -> &str {
    let name = name.trim_end_matches("[]");
    match name.strip_suffix(']').and_then(|name| name.rsplit_once('[')) {
        Some((_, last)) => last,
        None => name,
    }
}

/// A text without its percent-encoding; as it is, if it is none of UTF-8.
pub(super) fn decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        let hex = hex.filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_are_decoded_where_they_are_some() {
        assert_eq!(decoded("a%2Fb%20%"), "a/b %");
        assert_eq!(decoded("%ff"), "%ff");
        assert_eq!(decoded("%+1"), "%+1");
        assert_eq!(last_name("post[title]"), "title");
        assert_eq!(last_name("tags[]"), "tags");
        assert_eq!(string_end(br#""a\"b" "#, 0), 6);
    }
}
