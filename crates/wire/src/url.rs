//! `Url`: an http or https address, cut into the parts that go on the wire.

use std::borrow::Cow;
use std::fmt;
use std::net::Ipv6Addr;

use thiserror::Error;

/// How a server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// In the clear.
    Http,
    /// Over TLS.
    Https,
}

impl Scheme {
    /// The port where none is given.
    #[must_use]
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// An http or https address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// How the server is spoken to.
    pub scheme: Scheme,
    /// The host name or address, without brackets, as it is to be resolved.
    pub host: String,
    /// The port, given or by default.
    pub port: u16,
    /// Host and port as the `Host` field carries them.
    pub authority: String,
    /// The request target in origin form; begins with `/`.
    pub path_and_query: String,
    /// User and password (`user:password`, decoded), for Basic authentication.
    pub userinfo: Option<String>,
}

/// The longest host name, in bytes, its last dot left out. RFC 1035, 2.3.4, without the bytes for lengths.
const HOST_MAX: usize = 253;
/// The longest reference that [`Url::join`] follows: 8 KiB, as much as servers commonly take of a request's line. What a server names
/// is kept for each hit under way, and in what is measured.
const LOCATION_MAX: usize = 8 << 10;

/// Why a text is not a URL that we can ask.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UrlError {
    /// The scheme is missing or neither http nor https.
    #[error("unsupported protocol scheme \"{0}\"")]
    Scheme(String),
    /// There is no host.
    #[error("no host in the URL")]
    NoHost,
    /// The host holds characters that no host name has, or is not ASCII and has no form in punycode.
    #[error("invalid host \"{0}\" in URL")]
    Host(String),
    /// The host is longer than any name can be; its length in bytes.
    #[error("the host in the URL has {0} bytes (at most {HOST_MAX})")]
    HostTooLong(usize),
    /// A reference of a server is longer than is followed; its length in bytes.
    #[error("the location has {0} bytes (at most {LOCATION_MAX})")]
    LocationTooLong(usize),
    /// The port is not a number from 0 to 65535.
    #[error("invalid port \":{0}\" after host")]
    Port(String),
    /// A `%` without two hexadecimal digits after it.
    #[error("invalid URL escape \"{0}\"")]
    Escape(String),
    /// A control character.
    #[error("control character in the URL")]
    Control,
}

impl Url {
    /// Reads an absolute http or https URL. Path, query and escapes stay as they are; only what would break a request
    /// line is escaped, as Go does: in the path every byte that must be, in the query the space. The fragment is dropped.
    ///
    /// # Examples
    /// ```
    /// use wire::url::Url;
    ///
    /// let url = Url::parse("https://example.com/a?b=c")?;
    /// assert_eq!((url.host.as_str(), url.port), ("example.com", 443));
    /// assert_eq!(url.path_and_query, "/a?b=c");
    /// # Ok::<(), wire::url::UrlError>(())
    /// ```
    ///
    /// # Errors
    /// The text is not such a URL; the message is Go's where Go has one.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        Self::parse_absolute(without_fragment(text)?).map_err(|error| match error {
            // What looks like a port may be the beginning of a password: `http://user:pass/word@host`.
            UrlError::Port(_) if text.contains('@') => UrlError::Port("***".to_owned()),
            UrlError::Escape(_) if text.contains('@') => UrlError::Escape("***".to_owned()),
            error => error,
        })
    }

    fn parse_absolute(text: &str) -> Result<Self, UrlError> {
        let (scheme, rest) = split_scheme(text).unwrap_or(("", text));
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            other => return Err(UrlError::Scheme(other.to_owned())),
        };
        Self::parse_hierarchy(scheme, rest.strip_prefix("//").ok_or(UrlError::NoHost)?)
    }

    /// Reads what follows `scheme://`.
    fn parse_hierarchy(scheme: Scheme, rest: &str) -> Result<Self, UrlError> {
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path_and_query) = rest.split_at(end);
        let (userinfo, host_port) = match authority.rsplit_once('@') {
            Some((userinfo, host_port)) => (Some(decode_userinfo(userinfo)?), host_port),
            None => (None, authority),
        };
        let (host, port) = split_host_port(host_port)?;
        let authority = match (host.contains(':'), port) {
            // RFC 6874: a zone means something here only, so it is not sent.
            (true, "") => format!("[{}]", without_zone(&host)),
            (true, port) => format!("[{}]:{port}", without_zone(&host)),
            (false, "") => host.clone(),
            (false, port) => format!("{host}:{port}"),
        };
        let port = match port {
            "" => scheme.default_port(),
            digits => digits.parse().map_err(|_| UrlError::Port(digits.to_owned()))?,
        };
        let path_and_query = escape_target(path_and_query)?;
        Ok(Self { scheme, host, port, authority, path_and_query, userinfo })
    }

    /// The URL that a `Location` field means when it comes from here. RFC 3986, 5.2.
    ///
    /// # Errors
    /// The reference is not an http or https URL, or longer than 8 KiB.
    pub fn join(&self, location: &str) -> Result<Self, UrlError> {
        if location.len() > LOCATION_MAX {
            return Err(UrlError::LocationTooLong(location.len()));
        }
        let reference = without_fragment(location)?;
        let mut url = if split_scheme(reference).is_some() {
            Self::parse(reference)?
        } else if let Some(rest) = reference.strip_prefix("//") {
            Self::parse_hierarchy(self.scheme, rest)?
        } else {
            Self { path_and_query: self.merge(reference)?, ..self.clone() }
        };
        url.path_and_query = remove_dot_segments(&url.path_and_query);
        Ok(url)
    }

    /// Whether credentials for this URL may be sent to `to` as well: scheme, host and port are the same, or `to` is the same
    /// host over TLS where this is not, both at their default ports.
    #[must_use]
    pub fn shares_credentials(&self, to: &Self) -> bool {
        let same = self.scheme == to.scheme && self.port == to.port;
        let upgrade =
            (self.scheme, self.port, to.scheme, to.port) == (Scheme::Http, 80, Scheme::Https, 443);
        (same || upgrade) && self.host.eq_ignore_ascii_case(&to.host)
    }

    /// Whether scheme, host and port are the same. RFC 6454, 5.
    #[must_use]
    pub fn is_same_origin(&self, to: &Self) -> bool {
        self.scheme == to.scheme && self.port == to.port && self.host.eq_ignore_ascii_case(&to.host)
    }

    /// The `Referer` of a request that a redirect leads from here to `to`, without user and password: to another origin the origin
    /// alone, and from `https` to `http` none, as browsers do it. RFC 9110, 10.1.3; Referrer Policy,
    /// `strict-origin-when-cross-origin`.
    #[must_use]
    pub fn referer(&self, to: &Self) -> Option<String> {
        if (self.scheme, to.scheme) == (Scheme::Https, Scheme::Http) {
            return None;
        }
        let mut url = Self { userinfo: None, ..self.clone() };
        if !self.is_same_origin(to) {
            "/".clone_into(&mut url.path_and_query);
        }
        Some(url.to_string())
    }

    /// The target of a reference without scheme and authority. RFC 3986, 5.2.2 and 5.2.3.
    fn merge(&self, reference: &str) -> Result<String, UrlError> {
        let base = self.path_and_query.split('?').next().unwrap_or("/");
        match reference.bytes().next() {
            None => Ok(self.path_and_query.clone()),
            Some(b'/') => escape_target(reference),
            Some(b'?') => escape_target(&format!("{base}{reference}")),
            Some(_) => {
                let folder = base.rfind('/').map_or("/", |slash| &base[..=slash]);
                escape_target(&format!("{folder}{reference}"))
            }
        }
    }
}

impl fmt::Display for Url {
    /// The whole URL; the password is masked, as Go's client masks it (`stdx::shown_url`). A control character of the user
    /// stays escaped: the text is for terminals and pages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        write!(f, "{scheme}://")?;
        match self.userinfo.as_deref().and_then(|info| info.split_once(':')) {
            Some((user, "")) => write!(f, "{}@", without_controls(user))?,
            Some((user, _)) => write!(f, "{}:***@", without_controls(user))?,
            None => {}
        }
        write!(f, "{}{}", self.authority, self.path_and_query)
    }
}

/// Appends a reference as a server sends it. Bytes that are no UTF-8 become escapes, and so reach the server as they came: a
/// reference is bytes to who made it. RFC 3986, 2.1.
///
/// # Examples
/// ```
/// let mut text = String::new();
/// wire::url::push_reference(b"/caf\xe9", &mut text);
/// assert_eq!(text, "/caf%E9");
/// ```
pub fn push_reference(bytes: &[u8], out: &mut String) {
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| push_escaped(*byte, false, out));
    }
}

/// The text with its control characters as escapes.
fn without_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        let mut bytes = [0; 4];
        match letter.is_control() {
            true => letter
                .encode_utf8(&mut bytes)
                .bytes()
                .for_each(|b| push_escaped(b, false, &mut out)),
            false => out.push(letter),
        }
    }
    out
}

fn without_fragment(text: &str) -> Result<&str, UrlError> {
    if text.bytes().any(|b| b.is_ascii_control()) {
        return Err(UrlError::Control);
    }
    Ok(text.split('#').next().unwrap_or(text))
}

/// Splits at the colon after a scheme, if the text has one. RFC 3986, 3.1.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let mut bytes = scheme.bytes();
    let well_formed = bytes.next()?.is_ascii_alphabetic()
        && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    well_formed.then_some((scheme, rest))
}

/// The host without brackets and the port's digits, which may be none.
fn split_host_port(text: &str) -> Result<(String, &str), UrlError> {
    let invalid = || UrlError::Host(text.to_owned());
    let (host, port) = if let Some(rest) = text.strip_prefix('[') {
        let (address, port) = rest.split_once(']').ok_or_else(invalid)?;
        let address = address.replacen("%25", "%", 1);
        without_zone(&address).parse::<Ipv6Addr>().map_err(|_| invalid())?;
        let port =
            if port.is_empty() { port } else { port.strip_prefix(':').ok_or_else(invalid)? };
        (address, port)
    } else {
        let (host, port) = text.split_once(':').unwrap_or((text, ""));
        let host = &*ascii_host(host).ok_or_else(invalid)?;
        let valid = |b: u8| b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&b);
        if host.is_empty() {
            return Err(UrlError::NoHost);
        }
        if host.strip_suffix('.').unwrap_or(host).len() > HOST_MAX {
            return Err(UrlError::HostTooLong(host.len()));
        }
        if !host.bytes().all(valid) {
            return Err(invalid());
        }
        (host.to_owned(), port)
    };
    if !port.bytes().all(|b| b.is_ascii_digit()) {
        return Err(UrlError::Port(port.to_owned()));
    }
    Ok((host, port))
}

/// An address without its zone, which means something on this machine alone. RFC 6874.
#[must_use]
pub fn without_zone(address: &str) -> &str {
    address.split('%').next().unwrap_or(address)
}

/// The host as it is looked up and sent: a name that is not ASCII, also one whose bytes are escaped, in punycode (UTS 46, RFC 3492).
/// What is ASCII is as it is. `None` where there is no such form.
#[must_use]
pub fn ascii_host(host: &str) -> Option<Cow<'_, str>> {
    let decoded = match host.contains('%') {
        true => Cow::Owned(decode_escapes(host).ok().filter(|decoded| !decoded.is_ascii())?),
        false => Cow::Borrowed(host),
    };
    if decoded.is_ascii() {
        return Some(decoded);
    }
    let ascii = idna::domain_to_ascii_cow(decoded.as_bytes(), idna::AsciiDenyList::URL).ok()?;
    Some(Cow::Owned(ascii.into_owned()))
}

/// `host` or `host:port` as it is sent: with the name in punycode where it is not ASCII and has such a form.
pub(crate) fn ascii_authority(text: &str) -> Cow<'_, str> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, Some(port)),
        _ => (text, None),
    };
    match (ascii_host(host).filter(|_| !text.is_ascii()), port) {
        (None, _) => Cow::Borrowed(text),
        (Some(host), None) => host,
        (Some(host), Some(port)) => Cow::Owned(format!("{host}:{port}")),
    }
}

/// `user:password`, decoded; a user alone has an empty password.
fn decode_userinfo(text: &str) -> Result<String, UrlError> {
    let (user, password) = text.split_once(':').unwrap_or((text, ""));
    Ok(format!("{}:{}", decode_escapes(user)?, decode_escapes(password)?))
}

pub(crate) fn decode_escapes(text: &str) -> Result<String, UrlError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        if *byte == b'%' {
            bytes.push(escape_value(rest)?);
            rest = &rest[3..];
        } else {
            bytes.push(*byte);
            rest = after;
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The byte that the escape at the start of `text` stands for.
fn escape_value(text: &[u8]) -> Result<u8, UrlError> {
    let digit = |at: usize| text.get(at).and_then(|b| char::from(*b).to_digit(16));
    match (digit(1), digit(2)) {
        (Some(high), Some(low)) => Ok((high * 16 + low) as u8),
        _ => {
            let excerpt = String::from_utf8_lossy(&text[..text.len().min(3)]).into_owned();
            Err(UrlError::Escape(excerpt))
        }
    }
}

/// The request target of `path?query`: a path is never empty, and no byte breaks the request line.
fn escape_target(text: &str) -> Result<String, UrlError> {
    let (path, query) = match text.find('?') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let mut target = String::with_capacity(text.len() + 1);
    if path.is_empty() {
        target.push('/');
    }
    for (at, byte) in path.bytes().enumerate() {
        if byte == b'%' {
            escape_value(&path.as_bytes()[at..])?;
        }
        push_escaped(byte, is_path_byte(byte), &mut target);
    }
    for byte in query.bytes() {
        push_escaped(byte, byte != b' ' && byte.is_ascii(), &mut target);
    }
    Ok(target)
}

/// The bytes that Go's `EscapedPath` leaves alone.
fn is_path_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@!'()*[]%".contains(&byte)
}

fn push_escaped(byte: u8, plain: bool, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    if plain {
        out.push(char::from(byte));
    } else {
        out.push('%');
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

/// RFC 3986, 5.2.4. The query is left alone.
fn remove_dot_segments(target: &str) -> String {
    let (path, query) = target.split_at(target.find('?').unwrap_or(target.len()));
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            other => {
                kept.push(other);
                continue;
            }
        }
        // A path that ends in a dot segment names a folder.
        if segments.peek().is_none() {
            kept.push("");
        }
    }
    format!("/{}{query}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_issue_41_names_that_are_not_ascii_are_sent_in_punycode() {
        for (text, host, authority) in [
            ("http://b\u{fc}cher.example/", "xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("http://B\u{dc}CHER.example:81/", "xn--bcher-kva.example", "xn--bcher-kva.example:81"),
            ("http://u:p@b%C3%BCcher.example/", "xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("http://\u{4f8b}\u{3048}.jp/", "xn--r8jz45g.jp", "xn--r8jz45g.jp"),
            ("http://a\u{3002}test/", "a.test", "a.test"),
            ("http://MiXed.test/", "MiXed.test", "MiXed.test"),
            ("http://a_b.test/", "a_b.test", "a_b.test"),
        ] {
            let url = Url::parse(text).expect(text);
            assert_eq!((url.host.as_str(), url.authority.as_str()), (host, authority), "{text}");
        }
        let base = Url::parse("http://h/").expect("a URL");
        let there = base.join("//b\u{fc}cher.example/x").expect("a URL");
        assert_eq!(there.to_string(), "http://xn--bcher-kva.example/x");
        for text in ["http://h%41/", "http://h%zz/", "http://\u{fc} x/", "http://\u{200d}/"] {
            assert!(Url::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn regression_issue_41_references_keep_bytes_that_are_no_utf_8() {
        let base = Url::parse("http://h/a/b").expect("a URL");
        for (bytes, expect) in [
            (&b"/caf\xe9"[..], "/caf%E9"),
            (b"/caf\xc3\xa9", "/caf%C3%A9"),
            (b"\xff\xfe?q=\xe4", "/a/%FF%FE?q=%E4"),
            (b"/\xc3", "/%C3"),
        ] {
            let mut text = String::new();
            push_reference(bytes, &mut text);
            assert_eq!(base.join(&text).expect("a URL").path_and_query, expect, "{bytes:?}");
        }
    }

    #[test]
    fn parts_of_a_url() {
        // text, host, port, authority, target
        let cases = [
            ("http://a", "a", 80, "a", "/"),
            ("HTTPS://A.example/", "A.example", 443, "A.example", "/"),
            ("http://a:8080/x?y=%20&z#frag", "a", 8080, "a:8080", "/x?y=%20&z"),
            ("http://a:/x", "a", 80, "a", "/x"),
            ("http://a:80/x", "a", 80, "a:80", "/x"),
            ("http://a?q", "a", 80, "a", "/?q"),
            ("http://a/?", "a", 80, "a", "/?"),
            ("http://a//b/../c/./%2e%2F", "a", 80, "a", "//b/../c/./%2e%2F"),
            ("http://[::1]:81/", "::1", 81, "[::1]:81", "/"),
            ("http://[fe80::1%25en0]/", "fe80::1%en0", 80, "[fe80::1]", "/"),
            ("http://a/\u{e4} {b}", "a", 80, "a", "/%C3%A4%20%7Bb%7D"),
            ("http://a/?q=a b|%zz", "a", 80, "a", "/?q=a%20b|%zz"),
            ("http://u@h@a/", "a", 80, "a", "/"),
        ];
        for (text, host, port, authority, target) in cases {
            let url = Url::parse(text).expect(text);
            assert_eq!((url.host.as_str(), url.port), (host, port), "{text}");
            assert_eq!((url.authority.as_str(), url.path_and_query.as_str()), (authority, target));
        }
    }

    #[test]
    fn userinfo_is_decoded_and_masked() {
        let cases = [
            ("http://u:p@a/", Some("u:p"), "http://u:***@a/"),
            ("http://u%40x:p%3a%2F@a/", Some("u@x:p:/"), "http://u@x:***@a/"),
            ("http://u@a/", Some("u:"), "http://u@a/"),
            ("http://a/@x", None, "http://a/@x"),
        ];
        for (text, userinfo, shown) in cases {
            let url = Url::parse(text).expect(text);
            assert_eq!(url.userinfo.as_deref(), userinfo, "{text}");
            assert_eq!(url.to_string(), shown);
        }
    }

    mod regression {
        use super::*;

        #[test]
        fn issue_19_errors_hold_no_password() {
            for text in ["http://u:SEKRET/x@h/", "http://u:SEKRET#x@h/", "http://u:SEK%RET@h/"] {
                let error = Url::parse(text).expect_err(text).to_string();
                assert!(!error.contains("SEK") && !error.contains("RET"), "{text}: {error}");
            }
            assert_eq!(
                Url::parse("http://a:x/").map_err(|e| e.to_string()).unwrap_err(),
                "invalid port \":x\" after host"
            );
        }

        /// A URL's user is decoded, and stood in errors and reports with escapes that a terminal obeys.
        #[test]
        fn issue_19_the_user_has_no_control_characters() {
            let url = Url::parse("http://%1b[1m%c2%9b%0a:p@a/").expect("a URL");
            assert_eq!(url.userinfo.as_deref(), Some("\u{1b}[1m\u{9b}\n:p"));
            assert_eq!(url.to_string(), "http://%1B[1m%C2%9B%0A:***@a/");
        }
    }

    #[test]
    fn refuses_other_texts() {
        let cases = [
            ("/foo", "unsupported protocol scheme \"\""),
            ("", "unsupported protocol scheme \"\""),
            ("localhost:8080/x", "unsupported protocol scheme \"localhost\""),
            ("ftp://a/", "unsupported protocol scheme \"ftp\""),
            ("http:///x", "no host in the URL"),
            ("http:/x", "no host in the URL"),
            ("http://:80/x", "no host in the URL"),
            ("http://a b/", "invalid host \"a b\" in URL"),
            ("http://\u{200d}/", "invalid host \"\u{200d}\" in URL"),
            ("http://[::1/", "invalid host \"[::1\" in URL"),
            ("http://[zz]/", "invalid host \"[zz]\" in URL"),
            ("http://a:b/", "invalid port \":b\" after host"),
            ("http://a:65536/", "invalid port \":65536\" after host"),
            ("http://a/%zz", "invalid URL escape \"%zz\""),
            ("http://a/%1", "invalid URL escape \"%1\""),
            ("http://a/\r\nX: y", "control character in the URL"),
        ];
        for (text, message) in cases {
            assert_eq!(Url::parse(text).expect_err(text).to_string(), message, "{text}");
        }
    }

    #[test]
    fn hosts_are_no_longer_than_names_can_be() {
        let url = |host: &str| Url::parse(&format!("http://{host}:1/"));
        assert!(url(&"a".repeat(253)).is_ok() && url(&("a".repeat(253) + ".")).is_ok());
        let long = url(&"a".repeat(254)).expect_err("too long");
        assert_eq!(long.to_string(), "the host in the URL has 254 bytes (at most 253)");
        let base = Url::parse("http://a/").expect("a URL");
        let location = format!("//{}/", "a".repeat(8_000));
        assert_eq!(base.join(&location), Err(UrlError::HostTooLong(8_000)));
    }

    /// Issue 42, F6: redirects to URLs of 240 kB took hundreds of megabytes.
    #[test]
    fn issue_42_long_locations_lead_nowhere() {
        let base = Url::parse("http://a/").expect("a URL");
        let location = |len: usize| format!("/{}", "a".repeat(len - 1));
        assert!(base.join(&location(LOCATION_MAX)).is_ok());
        let error = base.join(&location(LOCATION_MAX + 1)).expect_err("too long");
        assert_eq!(error.to_string(), "the location has 8193 bytes (at most 8192)");
    }

    /// RFC 3986, 5.4: the examples that lead to an http URL.
    #[test]
    fn references_resolve() {
        let base = Url::parse("http://a/b/c/d;p?q").expect("the RFC's base");
        let cases = [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g/"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"),
            ("g#s", "http://a/b/c/g"),
            ("g?y#s", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"),
            ("g;x?y#s", "http://a/b/c/g;x?y"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"),
            ("./g/.", "http://a/b/c/g/"),
            ("g/../h", "http://a/b/c/h"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("https://b:444/x/../y?z", "https://b:444/y?z"),
        ];
        for (reference, expect) in cases {
            assert_eq!(base.join(reference).expect(reference).to_string(), expect, "{reference}");
        }
        assert_eq!(base.join("g:h"), Err(UrlError::Scheme("g".into())));
    }

    #[test]
    fn credentials_go_to_the_same_scheme_host_and_port() {
        let cases = [
            ("http://a/x", "http://a/y", true),
            ("http://a/", "http://A:80/", true),
            ("http://a:81/", "http://a:81/", true),
            ("http://a/", "https://a/", true),
            ("http://a:80/", "https://a:443/", true),
            ("http://a/", "http://a:81/", false),
            ("http://a/", "https://a:8443/", false),
            ("http://a:81/", "https://a/", false),
            ("https://a/", "http://a/", false),
            ("https://a/", "https://b.a/", false),
            ("http://a/", "http://b/", false),
        ];
        for (from, to, expect) in cases {
            let [from_url, to_url] = [from, to].map(|text| Url::parse(text).expect(text));
            assert_eq!(from_url.shares_credentials(&to_url), expect, "{from} -> {to}");
        }
    }

    #[test]
    fn a_relative_reference_keeps_the_user() {
        let base = Url::parse("http://u:p@a/x").expect("a URL");
        assert_eq!(base.join("/y").expect("a path").userinfo.as_deref(), Some("u:p"));
        assert_eq!(base.join("http://a/y").expect("a URL").userinfo, None);
    }

    #[test]
    fn issue_19_another_origin_learns_the_origin_alone() {
        for (from, to, expect) in [
            ("http://u:p@a/x?q=1", "http://A:80/y", Some("http://a/x?q=1")),
            ("http://a/x?q=1", "http://b/y", Some("http://a/")),
            ("http://a:81/x?q=1", "http://a/y", Some("http://a:81/")),
            ("http://a/x?q=1", "https://a/y", Some("http://a/")),
            ("https://a/x", "https://a/y", Some("https://a/x")),
            ("https://a/x", "https://b/y", Some("https://a/")),
            ("https://a/x", "http://a/y", None),
        ] {
            let [from_url, to_url] = [from, to].map(|text| Url::parse(text).expect("a URL"));
            assert_eq!(from_url.referer(&to_url).as_deref(), expect, "{from} -> {to}");
        }
    }
}
