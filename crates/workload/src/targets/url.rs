//! Which URLs a targets file may have: Go's `url.ParseRequestURI` in Vegeta's grammar, `http` and `https` natively. It says yes
//! or no, and why in Go's words; taking a URL apart is `wire`'s.

use super::grammar::Grammar;

/// This URL may stand in a targets file.
pub(super) fn is_url(text: &str, grammar: Grammar) -> bool {
    match grammar {
        Grammar::Vegeta => is_request_uri(text),
        Grammar::Native => {
            is_request_uri(text) && !text.contains(char::is_whitespace) && is_web(text)
        }
    }
}

/// Begins with `http://` or `https://` and has a host.
pub(super) fn is_web(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else {
        return false;
    };
    let web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    web && !host.is_empty() && !host.starts_with(':')
}

/// What Go's `url.ParseRequestURI` accepts: an absolute URI, or an absolute path (RFC 3986, 3, loosely).
fn is_request_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|b| b < b' ' || b == 0x7f) {
        return false;
    }
    if text == "*" {
        return true;
    }
    let Some((scheme, rest)) = split_scheme(text) else {
        return false;
    };
    let rest = rest.split_once('?').map_or(rest, |(path, _)| path);
    if !rest.starts_with('/') {
        return !scheme.is_empty();
    }
    let authority = if scheme.is_empty() { None } else { rest.strip_prefix("//") };
    let Some(authority) = authority else {
        return has_whole_escapes(rest);
    };
    let (authority, path) = authority.split_at(authority.find('/').unwrap_or(authority.len()));
    is_authority(authority) && has_whole_escapes(path)
}

/// Scheme (may be empty) and rest; `None` where a colon stands first.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return None,
            b':' => return Some((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Some(("", text))
}

fn is_authority(authority: &str) -> bool {
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (user, host),
        None => ("", authority),
    };
    let user_byte = |b: u8| b.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&b);
    user.bytes().all(user_byte) && has_whole_escapes(user) && is_host(host)
}

/// A host and an optional port. In brackets a zone may follow `%25`.
fn is_host(host: &str) -> bool {
    if host.starts_with('[') {
        let Some((address, port)) = host.rsplit_once(']') else {
            return false;
        };
        let address = address.split_once("%25").map_or(address, |(address, _)| address);
        return is_port(port) && is_host_text(address);
    }
    let port = host.rfind(':').map_or("", |at| &host[at..]);
    is_port(port) && is_host_text(host)
}

/// Empty, or a colon and digits, which may be none.
fn is_port(port: &str) -> bool {
    port.is_empty()
        || port.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
}

/// In a host, escapes may only stand for bytes beyond ASCII.
fn is_host_text(host: &str) -> bool {
    let plain =
        |b: u8| b.is_ascii_alphanumeric() || b >= 0x80 || b"!$&'()*+,;=:[]<>\"-_.~%".contains(&b);
    let high_escapes = host.split('%').skip(1).all(|part| {
        let first = part.bytes().next().unwrap_or(b'0');
        matches!(first, b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F')
    });
    host.bytes().all(plain) && has_whole_escapes(host) && high_escapes
}

/// Two hexadecimal digits follow every `%`.
fn has_whole_escapes(text: &str) -> bool {
    text.split('%').skip(1).all(|part| {
        let digits = part.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}

/// Why Go's `url.ParseRequestURI` takes no such URL, in its words.
pub(super) fn why_no_url(text: &str) -> String {
    if text.bytes().any(|b| b < b' ' || b == 0x7f) {
        return "net/url: invalid control character in URL".to_owned();
    }
    if text.is_empty() {
        return "empty url".to_owned();
    }
    let Some((scheme, rest)) = split_scheme(text) else {
        return "missing protocol scheme".to_owned();
    };
    let rest = rest.split_once('?').map_or(rest, |(path, _)| path);
    if !rest.starts_with('/') {
        return "invalid URI for request".to_owned();
    }
    let authority = if scheme.is_empty() { None } else { rest.strip_prefix("//") };
    let authority = authority.map(|rest| rest.split_once('/').map_or(rest, |(host, _)| host));
    let (user, host) =
        authority.map_or(("", ""), |text| text.rsplit_once('@').unwrap_or(("", text)));
    why_no_host(host).unwrap_or_else(|| {
        let wrong = wrong_escape(user).or_else(|| wrong_escape(rest));
        wrong.map_or("net/url: invalid userinfo".to_owned(), |escape| {
            format!("invalid URL escape {}", go_quoted(escape))
        })
    })
}

/// What is wrong with a host and its port; `None` where nothing is.
fn why_no_host(host: &str) -> Option<String> {
    let port = match (host.starts_with('['), host.rfind(':')) {
        (true, _) if !host.contains(']') => return Some("missing ']' in host".to_owned()),
        (true, _) => host.rsplit_once(']').map_or("", |(_, port)| port),
        (false, Some(at)) => &host[at..],
        (false, None) => "",
    };
    if !is_port(port) {
        return Some(format!("invalid port {} after host", go_quoted(port)));
    }
    if is_host(host) {
        return None;
    }
    let strange = host
        .bytes()
        .find(|b| *b < 0x80 && !is_host_text(&char::from(*b).to_string()) && *b != b'%');
    let strange = strange.map(|b| go_quoted(&char::from(b).to_string()));
    Some(match (wrong_escape(host), strange) {
        (Some(escape), _) => format!("invalid URL escape {}", go_quoted(escape)),
        (None, Some(strange)) => format!("invalid character {strange} in host name"),
        (None, None) => {
            let at = host.find('%').unwrap_or(0);
            let escape = host.get(at..at + 3).unwrap_or(&host[at..]);
            format!("invalid URL escape {}", go_quoted(escape))
        }
    })
}

/// The first `%` that two hexadecimal digits do not follow, with what does.
fn wrong_escape(text: &str) -> Option<&str> {
    let mut escapes = text.match_indices('%').map(|(at, _)| &text[at..]);
    let wrong = escapes.find(|rest| {
        !rest.as_bytes().get(1..3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })?;
    let end = wrong.char_indices().nth(3).map_or(wrong.len(), |(at, _)| at);
    Some(&wrong[..end])
}

/// A text in quotes as Go's `%q` has it.
pub(super) fn go_quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            _ if c.is_ascii_control() => out.push_str(&format!("\\x{:02x}", c as u32)),
            _ => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vegeta 12.13 of each of these URLs.
    #[test]
    fn gos_reasons() {
        let cases = [
            ("h", "invalid URI for request"),
            ("http://h /", "invalid character \" \" in host name"),
            ("http://h:x/", "invalid port \":x\" after host"),
            ("http://[::1/", "missing ']' in host"),
            ("http://[::1]x/", "invalid port \"x\" after host"),
            ("http://h/%zz", "invalid URL escape \"%zz\""),
            ("http://h/%4", "invalid URL escape \"%4\""),
            ("http://h%41/", "invalid URL escape \"%41\""),
            ("http://u{@h/", "net/url: invalid userinfo"),
            ("http://h/\u{7f}", "net/url: invalid control character in URL"),
            ("://h", "missing protocol scheme"),
        ];
        for (text, why) in cases {
            assert!(!is_url(text, Grammar::Vegeta), "{text}");
            assert_eq!(why_no_url(text), why, "{text}");
        }
        assert_eq!(go_quoted("a\"\\\t\u{7f}é"), "\"a\\\"\\\\\\t\\x7fé\"");
    }

    #[test]
    fn urls_of_both_grammars() {
        // (text, Go takes it, we take it)
        let cases = [
            ("http://a", true, true),
            ("HTTPS://a.b:443/c?d=e f", true, false),
            ("http://u:p@h:80/%41?%", true, true),
            ("http://[fe80::1%25en0]:8080/", true, true),
            ("http://h:/", true, true),
            ("/path", true, false),
            ("*", true, false),
            ("mailto:me", true, false),
            ("ftp://h/", true, false),
            ("http:///path", true, false),
            ("http://:80/", true, false),
            ("http://h/a b", true, false),
            ("", false, false),
            ("host/path", false, false),
            (":80/", false, false),
            ("http://h:8x/", false, false),
            ("http://[::1/", false, false),
            ("http://a b/", false, false),
            ("http://h/%4", false, false),
            ("http://h%41/", false, false),
            ("http://u\u{7f}@h/", false, false),
            ("http://h/\t", false, false),
        ];
        for (text, vegeta, native) in cases {
            assert_eq!(is_url(text, Grammar::Vegeta), vegeta, "{text:?}");
            assert_eq!(is_url(text, Grammar::Native), native, "{text:?}");
        }
    }
}
