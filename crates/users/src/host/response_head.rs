//! The head of a response as it came: its status line and its fields.

use std::borrow::Cow;

/// The header fields in the order of the wire.
pub fn fields(head: &[u8]) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    let lines = head.split(|byte| *byte == b'\n').skip(1);
    lines.filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        Some((String::from_utf8_lossy(name), String::from_utf8_lossy(value)))
    })
}

/// The values of the fields of this name. No other field is looked at beyond where its name would have to end: this runs for each
/// response.
pub fn values<'a>(head: &'a [u8], name: &str) -> impl Iterator<Item = Cow<'a, str>> {
    raw_values(head, name).map(String::from_utf8_lossy)
}

/// The URL of the first field `Location` that has one, with bytes that are no UTF-8 as escapes.
pub fn location(head: &[u8]) -> Option<String> {
    let value = raw_values(head, "location").next().filter(|value| !value.is_empty())?;
    let mut text = String::new();
    wire::url::push_reference(value, &mut text);
    Some(text)
}

/// The values as they came.
fn raw_values<'a>(head: &'a [u8], name: &str) -> impl Iterator<Item = &'a [u8]> {
    memchr::memchr_iter(b'\n', head).filter_map(move |end_before| {
        let line = &head[end_before + 1..];
        if line.get(name.len()) != Some(&b':') {
            return None;
        }
        let (known, value) = (&line[..name.len()], &line[name.len() + 1..]);
        let value = &value[..memchr::memchr(b'\n', value).unwrap_or(value.len())];
        let is_named = known.eq_ignore_ascii_case(name.as_bytes());
        is_named.then(|| value.trim_ascii())
    })
}

/// Whether there is a field `Set-Cookie`. Its `k` is looked for, of which heads have few: this runs for each response.
pub fn sets_cookies(head: &[u8]) -> bool {
    const NAME: &[u8] = b"set-cookie:";
    const K: usize = 7;
    memchr::memchr2_iter(b'k', b'K', head).any(|at| {
        let name = at.checked_sub(K).and_then(|from| head.get(from..from + NAME.len()));
        name.is_some_and(|name| name.eq_ignore_ascii_case(NAME))
    })
}

/// `200 OK` of the status line.
pub fn status_text(head: &[u8]) -> &str {
    status_line(head).split_once(' ').map_or("", |(_, text)| text)
}

/// The status line's version.
pub fn proto(head: &[u8]) -> &str {
    status_line(head).split(' ').next().unwrap_or_default()
}

fn status_line(head: &[u8]) -> &str {
    let line = &head[..memchr::memchr(b'\n', head).unwrap_or(head.len())];
    std::str::from_utf8(line).unwrap_or_default().trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_taken_apart() {
        let head = b"HTTP/1.1 404 Not Found\r\nA: b: c \r\nset-cookie: x\r\n";
        assert_eq!((proto(head), status_text(head)), ("HTTP/1.1", "404 Not Found"));
        let fields: Vec<_> = fields(head).collect();
        assert_eq!(fields, [("A".into(), "b: c".into()), ("set-cookie".into(), "x".into())]);
        assert_eq!(values(head, "Set-Cookie").next().as_deref(), Some("x"));
        assert_eq!((proto(b""), status_text(b"")), ("", ""));
    }

    #[test]
    fn regression_issue_41_a_location_keeps_its_bytes() {
        let head = b"HTTP/1.1 302 Found\r\nlocation: /caf\xe9\r\n\r\n";
        assert_eq!(location(head).as_deref(), Some("/caf%E9"));
        assert_eq!(location(b"HTTP/1.1 302 Found\r\nLocation:\r\n\r\n"), None);
    }

    #[test]
    fn only_fields_of_the_name_are_looked_at() {
        let head = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie-Not: b\r\nsEt-cOOkie:\xff\r\nSet-Cookie\r\nSet: c\r\n\r\n";
        let found: Vec<_> = values(head, "set-cookie").collect();
        assert_eq!(found, ["a=1", "\u{fffd}"]);
        let by_name = |(name, value): (Cow<'static, str>, Cow<'static, str>)| {
            name.eq_ignore_ascii_case("set-cookie").then_some(value)
        };
        assert!(fields(head).filter_map(by_name).eq(found), "as all fields say");
        assert_eq!(values(b"", "a").count() + values(b"x\na", "a").count(), 0);
        assert!(sets_cookies(head));
        assert!(sets_cookies(b"HTTP/1.1 200 OK\r\nSET-COOKIE: a=1\r\n\r\n"));
        assert!(sets_cookies(b"HTTP/1.1 200 OK\r\nKEEP: k\r\nset-cooKie:"));
        for none in
            [&b""[..], b"k", b"HTTP/1.1 200 OK\r\nKeep: k\r\nset-cooki", b"x-kset_cookie: 1"]
        {
            assert!(!sets_cookies(none), "{none:?}");
        }
    }
}
