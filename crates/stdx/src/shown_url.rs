//! `shown_url`: a URL as texts may show it. It refuses nothing: a text that is not a URL stays as it is.

use std::borrow::Cow;

use crate::redaction::{MARK, Redaction, names_secret_field, with_current};

/// A URL as rows, reports, labels and messages show it: `user:password@` has become `user:***@`, as Go's client prints it, and
/// so have the values of the query's keys that are to be redacted ([`crate::redact`]).
/// Everything else stays byte for byte. Requests are sent to the URL itself.
#[must_use]
pub fn shown_url(url: &str) -> Cow<'_, str> {
    let shown = without_password(url);
    redacted_query(&shown).map_or(shown, Cow::Owned)
}

/// The URL as the first lines of a report and its tables show it, which people send on: without its password, and without the values
/// of its query that say by their names that they are secrets, whatever is to be redacted.
#[must_use]
pub fn url_without_secrets(url: &str) -> String {
    let shown = shown_url(url);
    without_query_values(&shown, MARK, names_secret_field).unwrap_or_else(|| shown.into_owned())
}

/// The URL with `***` as the values of those keys of its query that are to be redacted; `None` where there are none.
#[must_use]
pub fn redacted_query(url: &str) -> Option<String> {
    with_current(|redaction| without_values(url, Within::Url, redaction))
}

/// A URL, or its end, with this mark as the values of the keys that `is_secret` names; `None` where there are none.
#[must_use]
pub fn without_query_values(
    url: &str,
    mark: &str,
    is_secret: impl Fn(&str) -> bool,
) -> Option<String> {
    replaced(url, Within::Url, mark, is_secret)
}

/// A message with `***` as the values of those keys that are to be redacted in the URLs it names; `None` where there are none.
#[must_use]
pub fn redacted_message(text: &str) -> Option<String> {
    with_current(|redaction| without_values(text, Within::Message, redaction))
}

/// The same of a text of JSON.
#[must_use]
pub fn redacted_json(text: &str) -> Option<String> {
    with_current(|redaction| without_values(text, Within::Json, redaction))
}

/// What a URL stands in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Within {
    /// Nothing else: a value ends with its parameter. Servers see the rest as part of it, whatever it is.
    Url,
    /// A message of words, in which a URL ends at a space, or at a quotation mark with which a word ends.
    Message,
    /// A text of JSON, in which it ends with the string.
    Json,
}

impl Within {
    /// Where a value that begins the text ends.
    fn end(self, text: &str) -> usize {
        let ends = |(at, c): &(usize, char)| match (self, c) {
            (_, '&' | '#') => true,
            (Self::Message, ' ') => true,
            // A quotation mark is a part of the URL where more of it follows.
            (Self::Message, '"') => {
                let after =
                    text[at + 1..].trim_start_matches(['"', ':', ',', ';', '.', ')', ']', '}']);
                after.is_empty() || after.starts_with(char::is_whitespace)
            }
            (Self::Json, '"') => {
                let escapes = text[..*at].len() - text[..*at].trim_end_matches('\\').len();
                escapes.is_multiple_of(2)
            }
            _ => false,
        };
        text.char_indices().find(ends).map_or(text.len(), |(at, _)| at)
    }
}

/// It takes time in proportion to the text, and no stack: servers name it in redirects.
pub(crate) fn without_password(url: &str) -> Cow<'_, str> {
    let Some(last_at) = url.rfind('@') else { return Cow::Borrowed(url) };
    let mut strange = StrangePassword { url, last_at, scheme: Some((0, 0)) };
    let (mut out, mut done, mut from) = (String::new(), 0, 0);
    while from <= last_at {
        // RFC 3986, 3.2: the authority stands behind `//` and ends at the path, the query or the fragment.
        let begin = url[from..].find("//").map(|at| from + at + 2);
        let end = begin.and_then(|begin| Some(begin + url[begin..].find(['/', '?', '#'])?));
        let end = end.unwrap_or(url.len());
        let at = begin.and_then(|begin| Some(begin + url[begin..end].rfind('@')?));
        let hidden = match begin.zip(at) {
            Some((begin, at)) => match password(&url[begin..at]) {
                Some(colon) => Some((begin + colon, ":***", at)),
                None => is_token(&url[begin..at]).then_some((begin, MARK, at)),
            },
            None => strange.find(from).map(|(colon, at)| (colon, ":***", at)),
        };
        if let Some((secret, mark, at)) = hidden {
            out.push_str(&url[done..secret]);
            out.push_str(mark);
            done = at;
        }
        from = end.max(done);
    }
    if done == 0 { Cow::Borrowed(url) } else { Cow::Owned(out + &url[done..]) }
}

/// Whether a user without a password is the secret itself: `https://ghp_…@host/`, `https://sk_live_…:@host/`, and one whose colon is
/// written as `%3A`. Names of people are shorter.
fn is_token(user: &str) -> bool {
    let user = user.strip_suffix(':').unwrap_or(user);
    let is_hidden = user.bytes().all(|byte| b"*:".contains(&byte));
    !is_hidden && (user.len() >= TOKEN_MIN || user.to_ascii_lowercase().contains("%3a"))
}

/// Bytes of a token, at least.
const TOKEN_MIN: usize = 16;

/// Where the colon before the password stands in the user information of an authority, unless it is hidden already.
fn password(user: &str) -> Option<usize> {
    let colon = user.find(':')?;
    user[colon + 1..].bytes().any(|byte| byte != b'*').then_some(colon)
}

pub(crate) fn without_values(url: &str, within: Within, redaction: &Redaction) -> Option<String> {
    replaced(url, within, MARK, |key| redaction.covers(key))
}

/// Keys of the query, and of a fragment that is written like one: `#access_token=…`. A value ends where the URL standard ends it,
/// at `&` (`;` is a part of it), but a key may stand behind `;` too: some servers split there.
fn replaced(
    url: &str,
    within: Within,
    mark: &str,
    is_secret: impl Fn(&str) -> bool,
) -> Option<String> {
    let mut out = String::new();
    let mut done = 0;
    let begins = url.match_indices(['?', '&', '#', ';']).map(|(at, _)| at + 1);
    for begin in begins {
        // It stands in a value that is hidden already: `?token=a?token=b`.
        if begin < done {
            continue;
        }
        let end = begin + within.end(&url[begin..]);
        if let Some((key, value)) = url[begin..end].split_once('=')
            && !value.is_empty()
            && is_secret(&decoded(key))
        {
            out.push_str(&url[done..=begin + key.len()]);
            out.push_str(mark);
            done = end;
        }
    }
    (done > 0).then(|| out + &url[done..])
}

/// Finds the password of what is no such URL, but is written like one: `http:/user:password@host`, or a password with a `/` in it.
struct StrangePassword<'a> {
    url: &'a str,
    last_at: usize,
    /// The scheme that was found last: where it begins, and where it ends.
    scheme: Option<(usize, usize)>,
}

impl StrangePassword<'_> {
    /// Where the colon before the password stands, and the `@` behind it, by the first scheme from this place on.
    fn find(&mut self, from: usize) -> Option<(usize, usize)> {
        let (url, at) = (self.url, self.last_at);
        if self.scheme.is_some_and(|(begin, end)| begin < from || end == 0) {
            self.scheme = first_scheme(url, from);
        }
        let (_, begin) = self.scheme?;
        let slashes = url[begin..].find(|c| c != '/' && c != '\\').unwrap_or(0);
        let user = begin + slashes;
        let colon = user + url[user..].find(':')?;
        // A port, and an `@` in the path or the query.
        let port = url[colon + 1..].split(['/', '?', '#']).next().unwrap_or_default();
        let is_sound = slashes == 2 && port.bytes().all(|byte| byte.is_ascii_digit());
        let is_in_authority = !url[user..colon].contains(['/', '?', '#', '[', ' ']);
        (!is_sound && is_in_authority && colon < at).then_some((colon, at))
    }
}

/// The first scheme of requests from this place on: where it begins, and where it ends, behind its colon.
fn first_scheme(url: &str, from: usize) -> Option<(usize, usize)> {
    let is = |begin: usize, end: usize, name: &str| {
        begin >= from && url.as_bytes()[begin..end].eq_ignore_ascii_case(name.as_bytes())
    };
    url[from..].match_indices(':').map(|(at, _)| from + at).find_map(|colon| {
        ["http", "https", "ws", "wss"].into_iter().find_map(|name| {
            let begin = colon.checked_sub(name.len())?;
            is(begin, colon, name).then_some((begin, colon + 1))
        })
    })
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
            ("https://ghp_0123456789abcdef@h/", "https://***@h/"),
            ("https://sk_live_0123456789:@h/x", "https://***@h/x"),
            ("https://u%3Ap@h/", "https://***@h/"),
            ("https://***@h/", "https://***@h/"),
            ("http://h:1/u:p@x", "http://h:1/u:p@x"),
            ("http://h?u:p@x", "http://h?u:p@x"),
            ("mailto:u:p@h", "mailto:u:p@h"),
            ("http:/u:p@h", "http:/u:***@h"),
            // A user whose name ends as a scheme does.
            ("http:/aws:p@h", "http:/aws:***@h"),
            ("http:u:p@h/x", "http:u:***@h/x"),
            ("HTTP:///u:p@h", "HTTP:///u:***@h"),
            ("http:\\\\u:p@h", "http:\\\\u:***@h"),
            ("http:/u:p@h//x", "http:/u:***@h//x"),
            ("GET http://u:p/w@h/", "GET http://u:***@h/"),
            ("http://u:p#w@h/", "http://u:***@h/"),
            ("https://h/a?b=c:d@e", "https://h/a?b=c:d@e"),
            ("http://[::1]/a:b@c", "http://[::1]/a:b@c"),
            ("http:/h/a:b@c", "http:/h/a:b@c"),
            // Several of them, and one that hides its password itself.
            ("http://a/,http://u:p@h/", "http://a/,http://u:***@h/"),
            ("http://a,http://u:p@h/", "http://a,http://u:***@h/"),
            ("http://u:p@h/?to=http://v:q@w/", "http://u:***@h/?to=http://v:***@w/"),
            ("http://****:****@h/", "http://****:****@h/"),
            ("", ""),
        ];
        for (url, expect) in cases {
            assert_eq!(without_password(url), expect, "{url}");
        }
    }

    /// 8 KB of slashes in a `Location` ended the process: each `//` was a call within a call, and a look at all that follows.
    #[test]
    fn issue_19_long_texts_take_no_stack_and_no_time() {
        let texts = [
            "/".repeat(1 << 18) + "@",
            "//a".repeat(1 << 16) + "@",
            "http://h".repeat(1 << 15) + "@",
            "/".repeat(1 << 17) + &"http:".repeat(1 << 14) + "@",
            "//u:p@h".repeat(1 << 15),
        ];
        let work = move || texts.map(|text| without_password(&text).len());
        let thread = std::thread::Builder::new().stack_size(128 << 10).spawn(work);
        let shown = thread.expect("a thread").join().expect("it ends");
        assert_eq!(shown[4], "//u:***@h".len() << 15);
    }

    #[test]
    fn values_of_redacted_keys_are_not_shown() {
        let redaction = Redaction::new("token,X-Key");
        let cases = [
            ("http://h/?token=a&page=2", Some("http://h/?token=***&page=2")),
            ("http://h/?page=2&TOKEN=a#x", Some("http://h/?page=2&TOKEN=***#x")),
            ("http://h/?%74oken=a&x-key=b=c", Some("http://h/?%74oken=***&x-key=***")),
            ("http://h/cb#token=a", Some("http://h/cb#token=***")),
            ("http://h/?a=1;token=b", Some("http://h/?a=1;token=***")),
            // All of these are parts of the value.
            ("http://h/?token=a'b\"c d;e&page=2", Some("http://h/?token=***&page=2")),
            ("?token=a?token=bbbbb", Some("?token=***")),
            ("#token=a?token=bb&token=c", Some("#token=***&token=***")),
            ("?token=\u{e9};token=\u{e9}", Some("?token=***")),
            ("http://h/token=a?tokens=b&token=", None),
            ("http://h/?%zz=1&%=2", None),
            ("", None),
        ];
        for (url, expect) in cases {
            assert_eq!(without_values(url, Within::Url, &redaction).as_deref(), expect, "{url}");
        }
        let cases = [
            ("GET http://h/?token=a HTTP", Some("GET http://h/?token=*** HTTP")),
            ("Get \"http://h/?token=a\": EOF", Some("Get \"http://h/?token=***\": EOF")),
            ("a 'http://h/?token=a;b' c", Some("a 'http://h/?token=*** c")),
            ("Get \"http://h/?token=b\"c&y=2\": EOF", Some("Get \"http://h/?token=***&y=2\": EOF")),
            ("Get \"http://h/?token=b\"c\": EOF", Some("Get \"http://h/?token=***\": EOF")),
            ("(\"http://h/?token=b\").", Some("(\"http://h/?token=***\").")),
        ];
        for (text, expect) in cases {
            let shown = without_values(text, Within::Message, &redaction);
            assert_eq!(shown.as_deref(), expect, "{text}");
        }
        let json = r#"{"a":"http://h/?token=b c\"d\\","e":"?token=f"}"#;
        let shown = without_values(json, Within::Json, &redaction);
        assert_eq!(shown.as_deref(), Some(r#"{"a":"http://h/?token=***","e":"?token=***"}"#));
    }

    /// Every text of a few pieces: none panics, none shows a value, and what is shown has nothing left to hide.
    #[test]
    fn no_text_shows_a_value() {
        let redaction = Redaction::new("token");
        let pieces = ["?", "&", "#", ";", "token", "=", "SECRET", "\u{e9}", "%74oken", "\"", " "];
        let mut prng = crate::Prng::new(7);
        for _ in 0..200_000 {
            let len = 1 + prng.below(9) as usize;
            let text: String =
                (0..len).map(|_| pieces[prng.below(pieces.len() as u64) as usize]).collect();
            for within in [Within::Url, Within::Message, Within::Json] {
                let Some(shown) = without_values(&text, within, &redaction) else { continue };
                let ends = shown.match_indices("oken=SECRET").map(|(at, _)| &shown[..at]);
                for before in ends {
                    let before = before.strip_suffix('t').or(before.strip_suffix("%74"));
                    let is_key = before.is_some_and(|x| x.ends_with(['?', '&', '#', ';']));
                    assert!(!is_key, "{text}: {shown}");
                }
                let again = without_values(&shown, within, &redaction).unwrap_or(shown.clone());
                assert_eq!(again, shown, "{text}");
            }
        }
    }
}
