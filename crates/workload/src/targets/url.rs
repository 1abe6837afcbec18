//! Which URLs a targets file may have: Go's `url.ParseRequestURI` in Vegeta's grammar, `http` and `https` natively. It only
//! says yes or no; taking a URL apart is `wire`'s.

use super::Grammar;

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

#[cfg(test)]
mod tests {
    use super::*;

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
