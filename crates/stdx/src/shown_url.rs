//! `shown_url`: a URL as texts may show it. It refuses nothing: a text that is not a URL stays as it is.

use std::borrow::Cow;

use crate::redaction::{self, Redaction};

/// A URL as rows, reports, labels and messages show it: `user:password@` has become `user:***@`, as Go's client prints it, and
/// so have the values of the query's keys that are to be redacted ([`crate::redact`]).
/// Everything else stays byte for byte. Requests are sent to the URL itself.
#[must_use]
pub fn shown_url(url: &str) -> Cow<'_, str> {
    let shown = without_password(url);
    match redaction::current() {
        None => shown,
        Some(redaction) => match without_values(&shown, redaction) {
            Some(shown) => Cow::Owned(shown),
            None => shown,
        },
    }
}

/// The URL with `***` as the values of those keys of its query that are to be redacted; `None` where there are none.
#[must_use]
pub fn redacted_query(url: &str) -> Option<String> {
    without_values(url, redaction::current()?)
}

fn without_password(url: &str) -> Cow<'_, str> {
    // RFC 3986, 3.2: the authority stands behind `//` and ends at the path, the query or the fragment.
    let Some(begin) = url.find("//").map(|at| at + 2) else { return Cow::Borrowed(url) };
    let end = url[begin..].find(['/', '?', '#']).map_or(url.len(), |len| begin + len);
    let Some(at) = url[begin..end].rfind('@').map(|len| begin + len) else {
        return Cow::Borrowed(url);
    };
    match url[begin..at].find(':') {
        Some(len) => Cow::Owned(format!("{}:***{}", &url[..begin + len], &url[at..])),
        None => Cow::Borrowed(url),
    }
}

/// Keys of the query, and of a fragment that is written like one: `#access_token=…`.
fn without_values(url: &str, redaction: &Redaction) -> Option<String> {
    let mut out = String::new();
    let mut done = 0;
    let begins = url.match_indices(['?', '&', '#', ';']).map(|(at, _)| at + 1);
    for begin in begins {
        let end =
            url[begin..].find(['&', '#', ';', ' ', '"', '\'']).map_or(url.len(), |len| begin + len);
        if let Some((key, value)) = url[begin..end].split_once('=')
            && !value.is_empty()
            && redaction.covers(&decoded(key))
        {
            out.push_str(&url[done..=begin + key.len()]);
            out.push_str(redaction::MARK);
            done = end;
        }
    }
    (done > 0).then(|| out + &url[done..])
}

/// A key without percent-encoding: `%74oken` is `token`. RFC 3986, 2.1.
fn decoded(key: &str) -> Cow<'_, str> {
    if !key.contains('%') {
        return Cow::Borrowed(key);
    }
    let (mut out, mut rest) = (Vec::new(), key.as_bytes());
    while let [first, after @ ..] = rest {
        let hex =
            after.get(..2).filter(|_| *first == b'%').and_then(|hex| str::from_utf8(hex).ok());
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        out.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        let cases = [
            ("http://u:p@h/x", "http://u:***@h/x"),
            ("GET http://u:p@h:1/?a=b:c@d", "GET http://u:***@h:1/?a=b:c@d"),
            ("http://u:p@w:@h", "http://u:***@h"),
            ("//u:p@h#f", "//u:***@h#f"),
            ("http://:p@h/", "http://:***@h/"),
            ("http://u@h/", "http://u@h/"),
            ("http://h:1/u:p@x", "http://h:1/u:p@x"),
            ("http://h?u:p@x", "http://h?u:p@x"),
            ("mailto:u:p@h", "mailto:u:p@h"),
            ("", ""),
        ];
        for (url, expect) in cases {
            assert_eq!(without_password(url), expect, "{url}");
        }
    }

    #[test]
    fn values_of_redacted_keys_are_not_shown() {
        let redaction = Redaction::new("token,X-Key");
        let cases = [
            ("http://h/?token=a&page=2", Some("http://h/?token=***&page=2")),
            ("http://h/?page=2&TOKEN=a#x", Some("http://h/?page=2&TOKEN=***#x")),
            ("http://h/?%74oken=a&x-key=b=c", Some("http://h/?%74oken=***&x-key=***")),
            ("http://h/cb#token=a", Some("http://h/cb#token=***")),
            ("GET http://h/?token=a HTTP", Some("GET http://h/?token=*** HTTP")),
            ("Get \"http://h/?token=a\": EOF", Some("Get \"http://h/?token=***\": EOF")),
            ("http://h/token=a?tokens=b&token=", None),
            ("http://h/?%zz=1&%=2", None),
            ("", None),
        ];
        for (url, expect) in cases {
            assert_eq!(without_values(url, &redaction).as_deref(), expect, "{url}");
        }
    }
}
