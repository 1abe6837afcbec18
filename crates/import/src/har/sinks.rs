//! The parts of a request as texts: what came in answers is a value in them, all else is as it was recorded.

use super::correlate::Correlator;
use super::find::{Sink, SinkPlace};
use super::look::{Look, look};
use crate::percent::{decoded, encode_component, encode_form};
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
            let plain = decoded(segment);
            text.push(&self.segment(segment, &plain, &before));
            if look(&plain) == Look::Word && !plain.is_empty() {
                before = plain;
            }
        }
        text
    }

    /// A segment of a path, which is `plain` without its encoding, behind the word `before`.
    fn segment(&mut self, segment: &str, plain: &str, before: &str) -> Text {
        let shown = format!("the path of {}", self.label());
        let sink = Sink { name: before.to_owned(), place: SinkPlace::Path, shown };
        let (stem, end) = match plain.rsplit_once('.') {
            Some((stem, end)) if end.len() <= 5 && look(stem) != Look::Word => {
                (stem, format!(".{end}"))
            }
            _ => (plain, String::new()),
        };
        let Some(mut value) = self.resolve(stem, &sink) else { return Text::literal(segment) };
        value.encodings.push(Encoding::Url);
        let mut text = Text { pieces: vec![Piece::Value(value)] };
        text.push_str(&end);
        text
    }

    /// Pairs of a query or a form.
    pub(super) fn pairs(&mut self, pairs: &str, place: SinkPlace) -> Text {
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
            let made = self.field(&decoded(name), &decoded(&value.replace('+', " ")), place);
            match (made.values().next(), place) {
                (None, _) => text.push_str(value),
                (_, SinkPlace::Query) => text.push(&made.encoded(encode_component, Encoding::Url)),
                _ => text.push(&made.encoded(encode_form, Encoding::UrlForm)),
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
            at = token_end(bytes, start);
            let raw = &source[start..at];
            match bytes[start] {
                b'"' if source[at..].trim_start().starts_with(':') => {
                    if let Some(key) = keys.last_mut() {
                        *key = serde_json::from_str(raw).unwrap_or_default();
                    }
                    text.push_str(raw);
                }
                b'"' => self.json_string(&mut text, raw, &key_of(&keys)),
                b'-' | b'0'..=b'9' => self.json_number(&mut text, raw, &key_of(&keys)),
                byte => {
                    nest(&mut keys, byte);
                    text.push_str(raw);
                }
            }
        }
        text
    }

    fn json_number(&mut self, text: &mut Text, raw: &str, name: &str) {
        let shown = format!("{name} of {}", self.label());
        let sink = Sink { name: name.to_owned(), place: SinkPlace::Field, shown };
        match self.resolve(raw, &sink) {
            Some(value) => text.pieces.push(Piece::Value(value)),
            None => text.push_str(raw),
        }
    }

    fn json_string(&mut self, text: &mut Text, raw: &str, name: &str) {
        let plain: String = serde_json::from_str(raw).unwrap_or_default();
        let made = self.field(name, &plain, SinkPlace::Field);
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

/// The key that a value of JSON stands under.
fn key_of(keys: &[String]) -> String {
    keys.last().cloned().unwrap_or_default()
}

/// Keeps the keys in step with the brackets of JSON.
fn nest(keys: &mut Vec<String>, byte: u8) {
    match byte {
        b'{' => keys.push(String::new()),
        b'[' => keys.push(key_of(keys)),
        b'}' | b']' if keys.len() > 1 => {
            keys.pop();
        }
        _ => {}
    }
}

/// Where a token of JSON ends: a string, a number, or a run of other bytes up to the next of them or a bracket.
fn token_end(bytes: &[u8], start: usize) -> usize {
    match bytes[start] {
        b'"' => string_end(bytes, start),
        b'-' | b'0'..=b'9' => {
            let digits = bytes[start..].iter().take_while(|byte| b"+-.eE0123456789".contains(byte));
            start + digits.count()
        }
        b'{' | b'}' | b'[' | b']' => start + 1,
        _ => {
            let stop = |byte: &&u8| !b"\"-0123456789{}[]".contains(byte);
            start + bytes[start..].iter().take_while(stop).count()
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_strings_are_cut_at_their_ends() {
        assert_eq!(last_name("post[title]"), "title");
        assert_eq!(last_name("tags[]"), "tags");
        assert_eq!(string_end(br#""a\"b" "#, 0), 6);
    }
}
