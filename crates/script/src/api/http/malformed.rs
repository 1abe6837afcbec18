//! What is no URL at all, as Go's `net/url` has it: k6 refuses it before anything is sent or counted, in these words. Whether
//! what is one can be asked for is decided elsewhere.

use users::url_error::CONTROL;

/// Why a text is not a URL, in Go's words; `None` if it is one, of any scheme.
pub(in crate::api) fn malformed(url: &str) -> Option<String> {
    let (before, fragment) = url.split_once('#').unwrap_or((url, ""));
    let named = |of: &str, reason: String| format!("parse {:?}: {reason}", stdx::shown_url(of));
    match without_fragment(before) {
        Err(reason) => Some(named(before, reason)),
        Ok(()) => escapes(fragment).err().map(|reason| named(url, reason)),
    }
}

/// Whether it is right, or what is wrong.
type Checked = Result<(), String>;

fn without_fragment(url: &str) -> Checked {
    if url.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return Err(CONTROL.to_owned());
    }
    let (scheme, rest) = scheme(url)?;
    let (rest, _) = rest.split_once('?').unwrap_or((rest, ""));
    if !rest.starts_with('/') {
        if !scheme.is_empty() {
            // An opaque URL, such as `mailto:a@b`: Go checks no more of it.
            return Ok(());
        }
        let first = rest.split('/').next().unwrap_or_default();
        if first.contains(':') {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    let path = match rest.strip_prefix("//") {
        Some(rest) if !scheme.is_empty() || !rest.starts_with('/') => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            check_authority(authority)?;
            path
        }
        _ => rest,
    };
    escapes(path)
}

/// The scheme, empty for none, and what follows its colon.
fn scheme(url: &str) -> Result<(&str, &str), String> {
    for (at, byte) in url.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&url[..at], &url[at + 1..])),
            _ => break,
        }
    }
    Ok(("", url))
}

fn check_authority(authority: &str) -> Checked {
    let Some((user, host)) = authority.rsplit_once('@') else { return check_host(authority) };
    check_host(host)?;
    let is_user = |b: u8| b.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&b);
    if !user.bytes().all(is_user) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    escapes(user)
}

fn check_host(host: &str) -> Checked {
    let port = if host.starts_with('[') {
        let Some(end) = host.rfind(']') else { return Err("missing ']' in host".to_owned()) };
        &host[end + 1..]
    } else {
        host.rfind(':').map_or("", |at| &host[at..])
    };
    let digits = port.strip_prefix(':').or(port.is_empty().then_some(""));
    if !digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit())) {
        return Err(format!("invalid port {port:?} after host"));
    }
    if host.starts_with('[') {
        return Ok(());
    }
    escapes(host)?;
    let is_known = |b: u8| b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:[]<>\"%".contains(&b);
    for (at, byte) in host.bytes().enumerate().filter(|(_, byte)| byte.is_ascii()) {
        // RFC 6874: what is escaped in a name is beyond ASCII, or the mark of a zone.
        let escape = host.get(at..at + 3).filter(|_| byte == b'%');
        if let Some(escape) = escape.filter(|e| *e != "%25" && e.as_bytes()[1] < b'8') {
            return Err(format!("invalid URL escape {escape:?}"));
        }
        if !is_known(byte) {
            return Err(format!(
                "invalid character {:?} in host name",
                char::from(byte).to_string()
            ));
        }
    }
    Ok(())
}

/// Whether two hexadecimal digits follow each `%`.
fn escapes(text: &str) -> Checked {
    for (at, _) in text.match_indices('%') {
        let rest = &text[at..];
        let digits = rest.as_bytes().get(1..3);
        if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
            let end = rest.char_indices().nth(3).map_or(rest.len(), |(end, _)| end);
            return Err(format!("invalid URL escape {:?}", &rest[..end]));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_urls_have_gos_words() {
        for (url, reason) in [
            ("<%= @url %>", "invalid URL escape \"%= \""),
            ("127.0.0.1:9/x", "first path segment in URL cannot contain colon"),
            ("1http://x", "first path segment in URL cannot contain colon"),
            (":x", "missing protocol scheme"),
            ("http://a b/", "invalid character \" \" in host name"),
            ("http://x:y/", "invalid port \":y\" after host"),
            ("http://[::1/", "missing ']' in host"),
            ("http://a/%zz", "invalid URL escape \"%zz\""),
            ("http://a/%", "invalid URL escape \"%\""),
            ("http://ex%41mple/", "invalid URL escape \"%41\""),
            ("http://u ser@h/", "net/url: invalid userinfo"),
            ("http://a\nb/", "net/url: invalid control character in URL"),
        ] {
            let expect = format!("parse {url:?}: {reason}");
            assert_eq!(malformed(url), Some(expect), "{url}");
        }
        assert_eq!(
            malformed("http://h/#%q").as_deref(),
            Some("parse \"http://h/#%q\": invalid URL escape \"%q\"")
        );
    }

    #[test]
    fn what_is_a_url_of_any_scheme_or_none_is_let_pass() {
        for url in [
            "undefined/x",
            "",
            "/x:y",
            "//x/y",
            "http://",
            "http:///x",
            "ftp://x/",
            "mailto:a@b",
            "localhost:3000",
            "HTTP://127.0.0.1:1/",
            "http://[::1]:80/",
            "http://h/a b?c=%zz d",
            "http://u:p%20@h/",
            "http://ex%C3%A4mple/",
            "file:///x",
        ] {
            assert_eq!(malformed(url), None, "{url}");
        }
    }
}
