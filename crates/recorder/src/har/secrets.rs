//! `Cover`: secrets out of what people keep. Each is replaced by a text of its own wherever it stands, so that a value which an answer
//! gives and a request sends is still one value, and a script can be made of it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use serde_json::Value;
use stdx::{mix, names_secret, names_secret_field};

use super::content;
use crate::exchange::{Exchange, Payload};
use crate::recording::Record;

/// The shortest secret that is looked for in texts beside its own place, in characters: a shorter one stands there by chance.
const SEARCHED_CHARS_MIN: usize = 8;
/// The same of one without a digit.
const SEARCHED_WORD_CHARS_MIN: usize = 16;
/// How many secrets are looked for in texts.
const SEARCHED_MAX: usize = 2000;

/// What stands in place of secrets; without any, everything is shown.
#[derive(Debug, Default)]
pub(super) struct Cover {
    is_on: bool,
    /// Where the texts in their place begin, which no one can guess.
    seed: u64,
    /// A number for each secret.
    numbers: HashMap<String, u64>,
    /// Secrets that are looked for, the longest first: one may be a part of another.
    searched: Vec<(String, String)>,
}

impl Cover {
    /// A cover of every secret of a recording.
    pub(super) fn of(record: &Record) -> Self {
        let seed = RandomState::new().hash_one(record.epoch_us);
        let mut cover = Self { is_on: true, seed, ..Self::default() };
        for exchange in &record.exchanges {
            cover.find(exchange);
        }
        cover.prepare();
        cover
    }

    /// Finds the secrets of an exchange by the names of their places.
    fn find(&mut self, exchange: &Exchange) {
        let response = exchange.response.as_ref();
        let fields = exchange.request.headers.iter();
        for (name, value) in fields.chain(response.iter().flat_map(|head| &head.headers)) {
            for secret in secrets_of_header(name, value) {
                self.add(secret.to_owned());
            }
        }
        self.find_pairs(exchange.request.url.split_once('?').map_or("", |(_, query)| query));
        let mime = exchange.request.header("content-type").unwrap_or_default();
        if let Ok(text) = str::from_utf8(&exchange.sent.bytes) {
            self.find_in_body(text, mime);
        }
        if let Some(head) = response.filter(|head| head.media_type().contains("json")) {
            let body = content::decoded(&exchange.received, head).bytes;
            self.find_in_body(&String::from_utf8_lossy(&body), "application/json");
        }
        for message in &exchange.messages {
            if let Payload::Text(text) = &message.payload {
                self.find_in_body(text, "");
            }
        }
    }

    fn find_in_body(&mut self, text: &str, mime: &str) {
        if mime.starts_with(FORM) {
            self.find_pairs(text);
        } else if mime.starts_with(MULTIPART) {
            for (name, value) in parts(text) {
                if names_secret(name) {
                    self.add(value.to_owned());
                }
            }
        } else if let Ok(value) = serde_json::from_str(text) {
            self.find_json(&value);
        }
    }

    fn find_pairs(&mut self, text: &str) {
        for (name, value) in text.split('&').filter_map(|pair| pair.split_once('=')) {
            if names_secret(&decoded(name)) {
                self.add(decoded(value));
            }
        }
    }

    fn find_json(&mut self, value: &Value) {
        match value {
            Value::Array(list) => list.iter().for_each(|value| self.find_json(value)),
            Value::Object(members) => members.iter().for_each(|(name, value)| match value {
                Value::String(text) if names_secret(name) => self.add(text.clone()),
                other => self.find_json(other),
            }),
            _ => {}
        }
    }

    fn add(&mut self, secret: String) {
        let number = self.numbers.len() as u64 + 1;
        if !secret.is_empty() {
            self.numbers.entry(secret).or_insert(number);
        }
    }

    fn prepare(&mut self) {
        let mut all: Vec<(&String, &u64)> =
            self.numbers.iter().filter(|(secret, _)| is_searched(secret)).collect();
        all.sort_by_key(|(secret, number)| (std::cmp::Reverse(secret.len()), **number));
        let forms = all.into_iter().take(SEARCHED_MAX).flat_map(|(secret, _)| {
            let mut forms = vec![secret.clone(), encoded(secret), escaped(secret)];
            forms.dedup();
            forms.into_iter().map(|form| (form, self.mark(secret)))
        });
        self.searched = forms.collect();
    }

    /// The text that stands in place of a secret: letters and digits, that mean the same however they are encoded.
    fn mark(&self, secret: &str) -> String {
        let number = self.numbers.get(secret).copied().unwrap_or(0);
        format!("hidden{:012x}", mix(self.seed, number) >> 16)
    }

    /// A text without the secrets that are known from elsewhere.
    pub(super) fn text(&self, text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        for (secret, mark) in &self.searched {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), mark).into();
            }
        }
        text.into_owned()
    }

    /// The value of a header.
    pub(super) fn header(&self, name: &str, value: &str) -> String {
        if !self.is_on {
            return value.to_owned();
        }
        match Place::of(name) {
            Place::Cookies => {
                value.split(';').map(|pair| self.cookie(pair)).collect::<Vec<_>>().join(";")
            }
            Place::SetCookie => match value.split_once(';') {
                Some((pair, rest)) => format!("{};{}", self.cookie(pair), self.text(rest)),
                None => self.cookie(value),
            },
            Place::Credentials => match value.split_once(' ') {
                Some((scheme, secret)) => format!("{scheme} {}", self.mark(secret)),
                None => self.mark(value),
            },
            Place::Secret => self.mark(value),
            Place::Address => self.url(value),
            Place::Text => self.text(value),
        }
    }

    fn cookie(&self, pair: &str) -> String {
        match pair.split_once('=') {
            Some((name, value)) if !value.is_empty() => format!("{name}={}", self.mark(value)),
            _ => pair.to_owned(),
        }
    }

    /// An address.
    pub(super) fn url(&self, url: &str) -> String {
        match url.split_once('?').filter(|_| self.is_on) {
            Some((path, query)) => format!("{}?{}", self.text(path), self.pairs(query)),
            None => self.text(url),
        }
    }

    /// What was sent, of this media type: short secrets are replaced in their own place too.
    pub(super) fn sent(&self, text: &str, mime: &str) -> String {
        if !self.is_on {
            text.to_owned()
        } else if mime.starts_with(FORM) {
            self.pairs(text)
        } else if mime.starts_with(MULTIPART) {
            self.text(&self.multipart(text))
        } else {
            self.text(&self.json(text))
        }
    }

    fn pairs(&self, text: &str) -> String {
        let pair = |pair: &str| match pair.split_once('=') {
            Some((name, value)) if names_secret(&decoded(name)) && !value.is_empty() => {
                format!("{name}={}", self.mark(&decoded(value)))
            }
            _ => self.text(pair),
        };
        text.split('&').map(pair).collect::<Vec<_>>().join("&")
    }

    fn multipart(&self, text: &str) -> String {
        let part = |part: &str| match part_of(part) {
            Some((name, value)) if names_secret(name) && !value.is_empty() => {
                format!("{}{}", &part[..part.len() - value.len()], self.mark(value))
            }
            _ => part.to_owned(),
        };
        text.split(NEXT_PART).map(part).collect::<Vec<_>>().join(NEXT_PART)
    }

    /// JSON is written anew only where a secret in it is too short to be looked for.
    fn json(&self, text: &str) -> String {
        let Ok(mut value) = serde_json::from_str(text) else { return text.to_owned() };
        let count = self.hide_members(&mut value);
        if count > 0 { value.to_string() } else { text.to_owned() }
    }

    /// Replaces short secrets; returns how many there were.
    fn hide_members(&self, value: &mut Value) -> usize {
        match value {
            Value::Array(list) => list.iter_mut().map(|value| self.hide_members(value)).sum(),
            Value::Object(members) => {
                members.iter_mut().map(|(name, value)| self.hide_member(name, value)).sum()
            }
            _ => 0,
        }
    }

    fn hide_member(&self, name: &str, value: &mut Value) -> usize {
        match value {
            Value::String(text) if names_secret(name) => {
                if text.is_empty() || is_searched(text) {
                    return 0;
                }
                *text = self.mark(text);
                1
            }
            other => self.hide_members(other),
        }
    }
}

/// The start of the media type of a form.
const FORM: &str = "application/x-www-form-urlencoded";
/// The start of those of forms with files.
const MULTIPART: &str = "multipart/";

/// What the value of a header holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Cookies,
    SetCookie,
    /// A scheme and a secret.
    Credentials,
    /// Nothing but a secret.
    Secret,
    Address,
    Text,
}

impl Place {
    fn of(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "cookie" => Self::Cookies,
            "set-cookie" => Self::SetCookie,
            "authorization" | "proxy-authorization" => Self::Credentials,
            "referer" | "location" | "content-location" => Self::Address,
            other if names_secret_field(other) => Self::Secret,
            _ => Self::Text,
        }
    }
}

/// The secrets in the value of a header.
fn secrets_of_header<'a>(name: &str, value: &'a str) -> Vec<&'a str> {
    let cookie = |pair: &'a str| pair.split_once('=').map(|(_, value)| value);
    match Place::of(name) {
        Place::Cookies => value.split(';').filter_map(cookie).collect(),
        Place::SetCookie => value.split(';').next().and_then(cookie).into_iter().collect(),
        Place::Credentials => vec![value.split_once(' ').map_or(value, |(_, secret)| secret)],
        Place::Secret => vec![value],
        Place::Address | Place::Text => vec![],
    }
}

/// Whether a secret is looked for in texts: a short one, or a word, stands there by chance.
fn is_searched(secret: &str) -> bool {
    let len = secret.chars().count();
    let is_word = !secret.contains(|char: char| char.is_ascii_digit());
    len >= if is_word { SEARCHED_WORD_CHARS_MIN } else { SEARCHED_CHARS_MIN }
}

/// What stands between the parts of a multipart body, but for the boundary itself: RFC 2046, 5.1.1.
const NEXT_PART: &str = "\r\n--";

/// The fields of a multipart body, as far as they can be read: name and value.
fn parts(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split(NEXT_PART).filter_map(part_of)
}

fn part_of(part: &str) -> Option<(&str, &str)> {
    let (head, value) = part.split_once("\r\n\r\n")?;
    let (_, name) = head.split_once("name=\"")?;
    Some((name.split('"').next()?, value))
}

/// A part of a query or a form as its text.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let pair = bytes.get(at + 1..at + 3).and_then(|pair| str::from_utf8(pair).ok());
        let coded =
            pair.filter(|_| byte == b'%').and_then(|pair| u8::from_str_radix(pair, 16).ok());
        out.push(coded.unwrap_or(if byte == b'+' { b' ' } else { byte }));
        at += if coded.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A text as it stands in an address.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// A text as it stands in JSON.
fn escaped(text: &str) -> String {
    let whole = Value::from(text).to_string();
    whole[1..whole.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::{Body, RequestHead, ResponseHead};

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn body(text: &str) -> Body {
        Body { bytes: text.as_bytes().to_vec(), len: text.len() as u64 }
    }

    fn cover(request: &[(&str, &str)], sent: &str, received: &str) -> Cover {
        let request = RequestHead { headers: pairs(request), ..RequestHead::default() };
        let headers = pairs(&[
            ("content-type", "application/json"),
            ("set-cookie", "sid=fresh8Jx02Lp; Path=/"),
        ]);
        let response = Some(ResponseHead { status: 200, headers, ..ResponseHead::default() });
        let exchange = Exchange {
            request,
            sent: body(sent),
            response,
            received: body(received),
            ..Exchange::default()
        };
        Cover::of(&Record { exchanges: vec![exchange], ..Record::default() })
    }

    #[test]
    fn a_secret_is_the_same_text_wherever_it_stands() {
        let cover = cover(
            &[("authorization", "Bearer tok9Zq+/7"), ("content-type", FORM)],
            "user=ada&password=engine+1843",
            r#"{"access_token":"tok9Zq+/7"}"#,
        );
        let field = cover.header("Authorization", "Bearer tok9Zq+/7");
        let mark = field.strip_prefix("Bearer ").unwrap();
        assert!(mark.starts_with("hidden") && mark.len() == 18, "{mark}");
        let answer = cover.text(r#"{"access_token":"tok9Zq+/7"}"#);
        assert_eq!(answer, format!(r#"{{"access_token":"{mark}"}}"#));
        assert_eq!(cover.url("/x?t=tok9Zq%2B%2F7&a=1"), format!("/x?t={mark}&a=1"));
        let form = cover.sent("user=ada&password=engine+1843", FORM);
        assert!(form.starts_with("user=ada&password=hidden") && !form.contains("1843"), "{form}");
        assert!(!cover.text("signed in with engine 1843").contains("1843"));
        let set = cover.header("set-cookie", "sid=fresh8Jx02Lp; Path=/");
        let sent = cover.header("cookie", "a=; sid=fresh8Jx02Lp");
        assert!(sent.starts_with("a=; sid=hidden"), "{sent}");
        assert_eq!(set, format!("{}; Path=/", sent.strip_prefix("a=; ").unwrap()));
    }

    #[test]
    fn short_secrets_and_words_go_from_their_own_place_alone() {
        let json = r#"{"user":{"password":"password","pin":7,"name":"a"}}"#;
        let cover = cover(&[("cookie", "theme=dark; n=1")], json, "{}");
        let sent = cover.sent(json, "application/json");
        assert!(sent.contains(r#""name":"a""#) && !sent.contains(r#":"password""#), "{sent}");
        let page = "<input type=password name=password> dark 1";
        assert_eq!(cover.text(page), page);
        let cookie = cover.header("cookie", "theme=dark; n=1");
        assert!(cookie.starts_with("theme=hidden") && cookie.contains("; n=hidden"), "{cookie}");
        let form = "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nabc\r\n--b\r\n\
                    Content-Disposition: form-data; name=\"title\"\r\n\r\nabc\r\n--b--\r\n";
        let hidden = cover.sent(form, "multipart/form-data; boundary=b");
        assert_eq!(hidden.matches("abc").count(), 1, "{hidden}");
    }

    #[test]
    fn without_a_cover_everything_is_shown() {
        let cover = Cover::default();
        assert_eq!(cover.header("cookie", "a=secret"), "a=secret");
        assert_eq!(cover.sent("password=x", FORM), "password=x");
        assert_eq!(cover.url("/?token=x"), "/?token=x");
    }

    #[test]
    fn queries_are_decoded() {
        for (text, expect) in
            [("a+b%20c", "a b c"), ("%", "%"), ("%zz%4", "%zz%4"), ("%ff", "\u{fffd}")]
        {
            assert_eq!(decoded(text), expect);
        }
        assert_eq!(decoded(&encoded("a b/ü&=%")), "a b/ü&=%");
    }
}
