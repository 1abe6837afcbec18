//! `RequestTemplate`: a request rendered once and stamped out for each hit.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

use super::Version;
use super::fields::{is_field_value, is_token, tokens};
pub use super::request_error::RequestError;
use super::request_error::check_fields;
use super::response::RequestMethod;
use super::server::{encode_chunk, encode_last_chunk};
use super::write::{push_decimal, push_field};
use crate::url::{Scheme, Url, ascii_authority};

/// The header fields we add ourselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum HeadStyle {
    /// `User-Agent: brunt/VERSION`, `Accept-Encoding: gzip`, headers in the target's order.
    #[default]
    Native,
    /// `Host`, what frames the body, and the target's fields in their order; nothing else is added, no user agent either.
    Plain,
    /// Byte for byte as Go's client writes it: its user agent, names sorted. The hit's number and the attack's name are added
    /// as `X-Vegeta-Seq` and `X-Vegeta-Attack`.
    Go,
    /// The request line in this version and the target's header fields, in their order; nothing is added, neither `Host`
    /// nor `Content-Length`. For the exact bytes of another tool: names may be any letters but control characters.
    Exact(Version),
}

impl HeadStyle {
    const fn version(self) -> Version {
        match self {
            Self::Native | Self::Plain | Self::Go => Version::Http11,
            Self::Exact(version) => version,
        }
    }
}

/// The form of the request target. RFC 9112, 3.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TargetForm {
    /// `/path?query`, to the server itself.
    #[default]
    Origin,
    /// `http://host/path?query`, to a proxy.
    Absolute,
}

/// What is to be sent.
#[derive(Clone, Debug)]
pub struct RequestSpec<'a> {
    /// The method, as it is sent.
    pub method: &'a str,
    /// The address.
    pub url: &'a Url,
    /// Header fields in the target's order.
    pub headers: &'a [(String, String)],
    /// The body; empty for none.
    pub body: Arc<[u8]>,
    /// The fields we add.
    pub style: HeadStyle,
    /// Keep the connection for the next request.
    pub keepalive: bool,
    /// Send the body in one chunk instead of with its length.
    pub chunked: bool,
    /// The attack's name; empty for none.
    pub attack_name: &'a str,
    /// The form of the request target.
    pub target_form: TargetForm,
    /// The `Proxy-Authorization` field's value.
    pub proxy_authorization: Option<String>,
    /// The user agent where the headers name none (native style only; the Go style has Go's).
    pub user_agent: &'a str,
}

/// A request, rendered but for the hit's number.
#[derive(Clone, Debug)]
pub struct RequestTemplate {
    /// The head, and the body where it is small.
    bytes: Vec<u8>,
    /// Where in `bytes` the hit's number goes.
    seq_at: Option<usize>,
    /// The framed body where it is not small.
    large_body: Option<Arc<[u8]>>,
    body_bytes: u64,
    response_method: RequestMethod,
    asks_gzip: bool,
}

impl RequestTemplate {
    /// Bodies up to this size are rendered with the head: 64 KiB.
    pub const INLINE_BODY_MAX: usize = 64 << 10;

    /// Renders the request but for its number.
    ///
    /// # Errors
    /// The method or a header field would break the message.
    pub fn new(spec: &RequestSpec<'_>) -> Result<Self, RequestError> {
        check(spec)?;
        let mut writer = HeadWriter { spec, out: Vec::with_capacity(512), seq_at: None };
        writer.write();
        let HeadWriter { mut out, seq_at, .. } = writer;
        let mut large_body = None;
        if spec.body.len() > Self::INLINE_BODY_MAX {
            large_body =
                Some(if spec.chunked { one_chunk(&spec.body).into() } else { spec.body.clone() });
        } else if spec.is_chunked() {
            out.extend_from_slice(&one_chunk(&spec.body));
        } else {
            out.extend_from_slice(&spec.body);
        }
        Ok(Self {
            bytes: out,
            seq_at,
            large_body,
            body_bytes: spec.body.len() as u64,
            response_method: RequestMethod::of(spec.method),
            asks_gzip: spec.asks_gzip(),
        })
    }

    /// A request whose `head` is given byte for byte, up to and with its empty line. Nothing of it is checked.
    #[must_use]
    pub fn verbatim(head: &[u8], method: &str, body: Arc<[u8]>) -> Self {
        let small = body.len() <= Self::INLINE_BODY_MAX;
        let inline: &[u8] = if small { &body } else { &[] };
        Self {
            bytes: [head, inline].concat(),
            seq_at: None,
            body_bytes: body.len() as u64,
            response_method: RequestMethod::of(method),
            asks_gzip: false,
            large_body: (!small).then_some(body),
        }
    }

    /// Appends the head of hit number `hit`, and the body if it is not [`RequestTemplate::large_body`].
    pub fn render(&self, hit: u64, out: &mut Vec<u8>) {
        let (before, after) = self.bytes.split_at(self.seq_at.unwrap_or(self.bytes.len()));
        out.extend_from_slice(before);
        if self.seq_at.is_some() {
            push_decimal(hit, out);
        }
        out.extend_from_slice(after);
    }

    /// The body's bytes on the wire (framed, where chunked) if they are too many to be rendered with the head; to be
    /// sent after it.
    #[must_use]
    pub fn large_body(&self) -> Option<&Arc<[u8]>> {
        self.large_body.as_ref()
    }

    /// How many bytes it takes on the wire, the hit's number not counted.
    #[must_use]
    pub fn wire_bytes(&self) -> u64 {
        (self.bytes.len() + self.large_body.as_ref().map_or(0, |body| body.len())) as u64
    }

    /// The body's length, without framing.
    #[must_use]
    pub fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    /// What of the request decides whether the response has a body.
    #[must_use]
    pub fn response_method(&self) -> RequestMethod {
        self.response_method
    }

    /// Whether we asked for gzip of our own accord, so that the caller sees the decoded body (Go's rule): no
    /// `Accept-Encoding` is given, no `Range`, and the method is not HEAD.
    #[must_use]
    pub fn asks_gzip(&self) -> bool {
        self.asks_gzip
    }
}

impl RequestSpec<'_> {
    /// The first value of a field, unless it is empty.
    fn field(&self, canonical: &str) -> Option<&str> {
        self.given(canonical).filter(|value| !value.is_empty())
    }

    /// The first value of a field, which may be empty. Go looks names up in their canonical spelling only; the native style in any.
    fn given(&self, canonical: &str) -> Option<&str> {
        let same = |name: &str| match self.style {
            HeadStyle::Native | HeadStyle::Plain | HeadStyle::Exact(_) => {
                name.eq_ignore_ascii_case(canonical)
            }
            HeadStyle::Go => name == canonical,
        };
        let (_, value) = self.headers.iter().find(|(name, _)| same(name))?;
        Some(value.trim_matches([' ', '\t']))
    }

    /// Whether the target asks for one of the fields that we add ourselves to be left out, by an empty value. Of any other field an
    /// empty value is sent. Go's client, and so k6, knows it of the user agent alone.
    pub(crate) fn leaves_out(&self, name: &str) -> bool {
        let optional: &[&str] = match self.style {
            HeadStyle::Native => OPTIONAL,
            HeadStyle::Plain | HeadStyle::Go => &OPTIONAL[..1],
            HeadStyle::Exact(_) => &[],
        };
        let canonical = optional.iter().find(|known| known.eq_ignore_ascii_case(name));
        canonical.is_some_and(|known| self.given(known).is_some_and(str::is_empty))
    }

    /// Go asks for gzip where the answer will be a whole body and the user asked for nothing.
    fn asks_gzip(&self) -> bool {
        !matches!(self.style, HeadStyle::Exact(_) | HeadStyle::Plain)
            && self.field("Accept-Encoding").is_none()
            && !self.leaves_out("Accept-Encoding")
            && self.field("Range").is_none()
            && self.method != "HEAD"
    }

    /// Without a body there is nothing to cut into chunks.
    pub(crate) fn is_chunked(&self) -> bool {
        self.chunked && !self.body.is_empty()
    }

    fn wants_close(&self) -> bool {
        let close =
            |value: &str| tokens(value.as_bytes()).any(|t| t.eq_ignore_ascii_case(b"close"));
        self.field("Connection").is_some_and(close)
    }

    /// RFC 9110, 8.6: a method that usually has a body sends `Content-Length: 0` without one.
    pub(crate) fn says_length(&self) -> bool {
        matches!(self.method, "POST" | "PUT" | "PATCH") || !self.body.is_empty()
    }

    /// The fields we add in HTTP/2, where the target does not give them.
    pub(crate) fn own_fields(&self) -> Vec<(&'static str, String)> {
        if matches!(self.style, HeadStyle::Exact(_)) {
            return Vec::new();
        }
        let mut fields = Vec::new();
        if self.style != HeadStyle::Plain {
            fields.push(("User-Agent", self.user_agent_or(GO_USER_AGENT_2).to_owned()));
        }
        fields.retain(|(name, _)| !self.leaves_out(name));
        if self.asks_gzip() {
            fields.push(("Accept-Encoding", "gzip".to_owned()));
        }
        if self.style == HeadStyle::Go && !self.attack_name.is_empty() {
            fields.push((ATTACK, self.attack_name.to_owned()));
        }
        fields.extend(self.authorization().map(|value| ("Authorization", value)));
        fields
    }

    /// What we call ourselves, or `go` in the Go style.
    fn user_agent_or(&self, go: &'static str) -> &str {
        if self.style == HeadStyle::Go { go } else { self.user_agent }
    }

    /// Basic authentication from the URL, unless the headers authenticate already.
    fn authorization(&self) -> Option<String> {
        let userinfo = self.url.userinfo.as_deref()?;
        let is_given = self.field("Authorization").is_some() || self.leaves_out("Authorization");
        (!is_given).then(|| basic_authorization(userinfo))
    }

    /// What authenticates us to a proxy that the request goes through; the target's own field comes before the proxy's user.
    fn proxy_authorization(&self) -> Option<&str> {
        let is_given =
            self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(PROXY_AUTHORIZATION));
        self.proxy_authorization.as_deref().filter(|_| !is_given)
    }

    /// The host as it is sent: one of its own, in punycode as that of a URL, or the URL's.
    pub(crate) fn host(&self) -> std::borrow::Cow<'_, str> {
        self.field("Host").map_or(self.url.authority.as_str().into(), ascii_authority)
    }
}

/// Writes the head in the order of Go's `Request.write`, which is a good order for the native style too.
struct HeadWriter<'s> {
    spec: &'s RequestSpec<'s>,
    out: Vec<u8>,
    seq_at: Option<usize>,
}

impl HeadWriter<'_> {
    fn write(&mut self) {
        self.request_line();
        match self.spec.style {
            HeadStyle::Exact(_) => self.exact_fields(),
            HeadStyle::Native | HeadStyle::Plain | HeadStyle::Go => self.fields(),
        }
        self.out.extend_from_slice(b"\r\n");
    }

    /// The target's own fields, and no others but the proxy's, which are not the target's to know.
    fn exact_fields(&mut self) {
        for (name, value) in self.spec.headers {
            push_field(name, value, &mut self.out);
        }
        if let Some(value) = self.spec.proxy_authorization() {
            push_field(PROXY_AUTHORIZATION, value, &mut self.out);
        }
    }

    fn fields(&mut self) {
        push_field("Host", &self.spec.host(), &mut self.out);
        let own = match self.spec.style {
            HeadStyle::Plain => None,
            _ if self.spec.leaves_out("User-Agent") => None,
            _ => Some(self.spec.user_agent_or(GO_USER_AGENT)),
        };
        if let Some(user_agent) = self.spec.field("User-Agent").or(own) {
            push_field("User-Agent", user_agent, &mut self.out);
        }
        self.framing();
        if self.spec.style == HeadStyle::Go {
            self.sorted_fields();
        } else {
            self.native_fields();
        }
        self.added_fields();
    }

    fn request_line(&mut self) {
        let spec = self.spec;
        self.out.extend_from_slice(spec.method.as_bytes());
        self.out.push(b' ');
        if spec.target_form == TargetForm::Absolute {
            let scheme = match spec.url.scheme {
                Scheme::Http => "http://",
                Scheme::Https => "https://",
            };
            self.out.extend_from_slice(scheme.as_bytes());
            self.out.extend_from_slice(spec.host().as_bytes());
        }
        self.out.extend_from_slice(spec.url.path_and_query.as_bytes());
        self.out.extend_from_slice(match spec.style.version() {
            Version::Http10 => b" HTTP/1.0\r\n",
            Version::Http11 => b" HTTP/1.1\r\n",
        });
    }

    fn framing(&mut self) {
        let spec = self.spec;
        if spec.is_chunked() {
            push_field("Transfer-Encoding", "chunked", &mut self.out);
        } else if spec.says_length() {
            self.out.extend_from_slice(b"Content-Length: ");
            push_decimal(spec.body.len() as u64, &mut self.out);
            self.out.extend_from_slice(b"\r\n");
        }
    }

    /// The target's fields in their order, but for those that were written before.
    fn native_fields(&mut self) {
        let spec = self.spec;
        let written = |name: &str| WRITTEN.iter().any(|w| w.eq_ignore_ascii_case(name));
        let left = |name: &str| !written(name) && !spec.leaves_out(name);
        for (name, value) in spec.headers.iter().filter(|(name, _)| left(name)) {
            push_field(name, value.trim_matches([' ', '\t']), &mut self.out);
        }
        if let Some(authorization) = self.spec.authorization() {
            push_field("Authorization", &authorization, &mut self.out);
        }
    }

    /// The target's fields, the number and the name, sorted by name as Go sorts them: by bytes, upper case first.
    fn sorted_fields(&mut self) {
        let spec = self.spec;
        let authorization = self.spec.authorization();
        let own = |name: &str| name == SEQ || (name == ATTACK && !spec.attack_name.is_empty());
        let mut fields: Vec<(&str, &str)> = spec
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .filter(|(name, _)| !WRITTEN.contains(name) && !own(name))
            .collect();
        fields.extend(authorization.as_deref().map(|value| ("Authorization", value)));
        if !spec.attack_name.is_empty() {
            fields.push((ATTACK, spec.attack_name));
        }
        fields.push((SEQ, ""));
        fields.sort_by_key(|(name, _)| *name);
        for (name, value) in fields {
            push_field(name, value.trim_matches([' ', '\t']), &mut self.out);
            if name == SEQ {
                self.seq_at = Some(self.out.len() - b"\r\n".len());
            }
        }
    }

    /// Go's "extra" fields: they follow the others, sorted among themselves.
    fn added_fields(&mut self) {
        let spec = self.spec;
        if spec.asks_gzip() {
            push_field("Accept-Encoding", "gzip", &mut self.out);
        }
        if !spec.keepalive && !spec.wants_close() {
            push_field("Connection", "close", &mut self.out);
        }
        if let Some(value) = spec.proxy_authorization() {
            push_field(PROXY_AUTHORIZATION, value, &mut self.out);
        }
    }
}

/// Go's user agent.
const GO_USER_AGENT: &str = "Go-http-client/1.1";
/// The same over HTTP/2.
const GO_USER_AGENT_2: &str = "Go-http-client/2.0";
/// The field of the hit's number.
pub(crate) const SEQ: &str = "X-Vegeta-Seq";
/// The field of the attack's name.
pub(crate) const ATTACK: &str = "X-Vegeta-Attack";
const PROXY_AUTHORIZATION: &str = "Proxy-Authorization";
/// Fields that we add ourselves, unless the target gives them an empty value; Go's client knows it of the first.
const OPTIONAL: &[&str] = &["User-Agent", "Accept-Encoding", "Authorization"];
/// Fields that stand at the head's beginning, whatever the target says; Go drops `Trailer` as well.
const WRITTEN: [&str; 5] = ["Host", "User-Agent", "Content-Length", "Transfer-Encoding", "Trailer"];

/// The whole body as one chunk and the last chunk, as Go sends a body that lies in memory.
fn one_chunk(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + 32);
    encode_chunk(body, &mut out);
    encode_last_chunk(&mut out);
    out
}

/// Refuses what would break the message: Go refuses the same before it connects.
fn check(spec: &RequestSpec<'_>) -> Result<(), RequestError> {
    if !is_token(spec.method) {
        return Err(RequestError::Method(spec.method.to_owned()));
    }
    let is_exact = matches!(spec.style, HeadStyle::Exact(_));
    check_fields(spec.headers, if is_exact { is_field_value } else { is_token })?;
    if !is_field_value(spec.attack_name) {
        return Err(RequestError::FieldValue(ATTACK.to_owned()));
    }
    Ok(())
}

/// The head that opens a tunnel to `authority` (`host:port`) through a proxy: the request line, `Host`, and `headers` in
/// their order (`User-Agent` and `Proxy-Authorization` are the caller's to give). RFC 9110, 9.3.6.
///
/// # Errors
/// A header field would break the message.
pub fn connect_request(
    authority: &str,
    headers: &[(String, String)],
) -> Result<Vec<u8>, RequestError> {
    check_fields(headers, is_token)?;
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(format!("CONNECT {authority} HTTP/1.1\r\n").as_bytes());
    push_field("Host", authority, &mut out);
    for (name, value) in headers {
        push_field(name, value, &mut out);
    }
    out.extend_from_slice(b"\r\n");
    Ok(out)
}

/// The value of an `Authorization` field for `user:password`. RFC 7617.
#[must_use]
pub fn basic_authorization(userinfo: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(userinfo))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::Url;

    /// A target and what differs from Vegeta's defaults.
    struct Case<'a> {
        method: &'a str,
        url: &'a str,
        headers: &'a [(&'a str, &'a str)],
        body: &'a [u8],
        change: fn(&mut RequestSpec<'_>),
    }

    impl Default for Case<'_> {
        fn default() -> Self {
            Self {
                method: "GET",
                url: "http://h:8080/p?q",
                headers: &[],
                body: b"",
                change: |_| {},
            }
        }
    }

    fn render(case: &Case<'_>) -> Result<String, RequestError> {
        let url = Url::parse(case.url).expect(case.url);
        let headers: Vec<(String, String)> =
            case.headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let mut spec = RequestSpec {
            method: case.method,
            url: &url,
            headers: &headers,
            body: case.body.into(),
            style: HeadStyle::Go,
            keepalive: true,
            chunked: false,
            attack_name: "",
            target_form: TargetForm::Origin,
            proxy_authorization: None,
            user_agent: "brunt/1.2.3",
        };
        (case.change)(&mut spec);
        let mut out = Vec::new();
        RequestTemplate::new(&spec)?.render(7, &mut out);
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    fn check_lines(case: &Case<'_>, lines: &[&str], body: &str) {
        let expect = format!("{}\r\n\r\n{body}", lines.join("\r\n"));
        assert_eq!(render(case).expect("a valid request"), expect);
    }

    #[test]
    fn a_head_by_the_byte_is_sent_by_the_byte() {
        let head = b"G T /a b#c HTTP/1.0\r\nfoo\r\n\r\n";
        let small = RequestTemplate::verbatim(head, "HEAD", b"body".as_slice().into());
        let mut out = Vec::new();
        small.render(7, &mut out);
        assert_eq!(out, [head.as_slice(), b"body"].concat());
        assert_eq!((small.response_method(), small.body_bytes()), (RequestMethod::Head, 4));
        let body = vec![0; RequestTemplate::INLINE_BODY_MAX + 1];
        let large = RequestTemplate::verbatim(head, "POST", body.as_slice().into());
        out.clear();
        large.render(7, &mut out);
        assert_eq!(
            (out.as_slice(), large.large_body().map(|body| body.len())),
            (head.as_slice(), Some(body.len()))
        );
    }

    #[test]
    fn regression_issue_41_a_host_of_its_own_is_sent_in_punycode() {
        for (own, sent) in [
            ("b\u{fc}cher.example", "xn--bcher-kva.example"),
            ("B\u{dc}CHER.example:8080", "xn--bcher-kva.example:8080"),
            ("\u{65e5}\u{672c}.jp", "xn--wgv71a.jp"),
            ("Plain.example:80", "Plain.example:80"),
            ("[::1]:8080", "[::1]:8080"),
        ] {
            let headers = [("Host", own)];
            let text = render(&Case { headers: &headers, ..Case::default() }).expect("a request");
            assert!(text.contains(&format!("\r\nHost: {sent}\r\n")), "{text}");
        }
    }

    #[test]
    fn vegeta_get() {
        let lines = [
            "GET /p?q HTTP/1.1",
            "Host: h:8080",
            "User-Agent: Go-http-client/1.1",
            "X-Vegeta-Seq: 7",
            "Accept-Encoding: gzip",
        ];
        check_lines(&Case::default(), &lines, "");
    }

    #[test]
    fn vegeta_post_sorts_fields_and_adds_its_own() {
        let case = Case {
            method: "POST",
            url: "http://u:p@h/",
            headers: &[
                ("lower", "1"),
                ("X-Z", "2"),
                ("Content-Type", " a/b "),
                ("X-Vegeta-Seq", "mine"),
                ("Host", "other"),
                ("Accept", "x"),
                ("X-Z", "1"),
                ("Content-Length", "99"),
            ],
            body: b"body",
            change: |spec| {
                spec.attack_name = "big";
                spec.keepalive = false;
                spec.proxy_authorization = Some("Basic eDp5".into());
            },
        };
        let lines = [
            "POST / HTTP/1.1",
            "Host: other",
            "User-Agent: Go-http-client/1.1",
            "Content-Length: 4",
            "Accept: x",
            "Authorization: Basic dTpw",
            "Content-Type: a/b",
            "X-Vegeta-Attack: big",
            "X-Vegeta-Seq: 7",
            "X-Z: 2",
            "X-Z: 1",
            "lower: 1",
            "Accept-Encoding: gzip",
            "Connection: close",
            "Proxy-Authorization: Basic eDp5",
        ];
        check_lines(&case, &lines, "body");
    }

    #[test]
    fn vegeta_chunked_and_bodyless() {
        let chunked =
            Case { body: b"0123456789abcdef", change: |s| s.chunked = true, ..Case::default() };
        let lines = [
            "GET /p?q HTTP/1.1",
            "Host: h:8080",
            "User-Agent: Go-http-client/1.1",
            "Transfer-Encoding: chunked",
            "X-Vegeta-Seq: 7",
            "Accept-Encoding: gzip",
        ];
        check_lines(&chunked, &lines, "10\r\n0123456789abcdef\r\n0\r\n\r\n");
        for (method, says_none) in
            [("POST", true), ("PUT", true), ("PATCH", true), ("DELETE", false)]
        {
            let head = render(&Case { method, change: |s| s.chunked = true, ..Case::default() });
            assert_eq!(
                head.expect(method).contains("Content-Length: 0\r\n"),
                says_none,
                "{method}"
            );
        }
    }

    #[test]
    fn gzip_is_asked_for_where_go_does() {
        let cases: [(&str, &[(&str, &str)], bool); 5] = [
            ("GET", &[], true),
            ("HEAD", &[], false),
            ("GET", &[("Accept-Encoding", "br")], false),
            ("GET", &[("Range", "bytes=0-1")], false),
            ("GET", &[("accept-encoding", "br")], true),
        ];
        for (method, headers, asks) in cases {
            let head = render(&Case { method, headers, ..Case::default() }).expect(method);
            assert_eq!(head.contains("\r\nAccept-Encoding: gzip\r\n"), asks, "{headers:?}");
        }
    }

    #[test]
    fn regression_issue_41_empty_values_are_sent_or_leave_ours_out() {
        let headers = [("X-Tenant", ""), ("user-agent", ""), ("Accept-Encoding", " ")];
        let with = |style| {
            let change: fn(&mut RequestSpec<'_>) = match style {
                HeadStyle::Native => |spec| spec.style = HeadStyle::Native,
                HeadStyle::Plain => |spec| spec.style = HeadStyle::Plain,
                _ => |_| {},
            };
            render(&Case { headers: &headers, change, ..Case::default() }).expect("sound")
        };
        let native = "GET /p?q HTTP/1.1\r\nHost: h:8080\r\nX-Tenant: \r\n\r\n";
        assert_eq!(with(HeadStyle::Native), native);
        let plain = "GET /p?q HTTP/1.1\r\nHost: h:8080\r\nX-Tenant: \r\nAccept-Encoding: \r\n\r\n";
        assert_eq!(with(HeadStyle::Plain), plain);
        // Go knows the canonical spelling alone.
        let headers = [("User-Agent", "")];
        let go = render(&Case { headers: &headers, ..Case::default() }).expect("sound");
        assert!(!go.contains("User-Agent") && go.contains("Accept-Encoding: gzip"), "{go}");
        let native: fn(&mut RequestSpec<'_>) = |spec| spec.style = HeadStyle::Native;
        let url = "http://u:p@h/";
        let headers = [("Authorization", "")];
        let none = render(&Case { url, headers: &headers, change: native, ..Case::default() });
        assert!(!none.expect("sound").contains("Authorization"));
    }

    #[test]
    fn regression_issue_41_a_proxy_is_told_one_user() {
        for style in [HeadStyle::Native, HeadStyle::Go, HeadStyle::Exact(Version::Http11)] {
            let url = Url::parse("http://h/").expect("a URL");
            let headers = [("proxy-authorization".to_owned(), "Basic b3du".to_owned())];
            let spec = RequestSpec {
                method: "GET",
                url: &url,
                headers: &headers,
                body: Arc::from([]),
                style,
                keepalive: true,
                chunked: false,
                attack_name: "",
                target_form: TargetForm::Absolute,
                proxy_authorization: Some("Basic eDp5".into()),
                user_agent: "brunt/1.2.3",
            };
            let mut out = Vec::new();
            RequestTemplate::new(&spec).expect("sound").render(7, &mut out);
            let head = String::from_utf8_lossy(&out).to_ascii_lowercase();
            assert_eq!(head.matches("proxy-authorization").count(), 1, "{head}");
            assert!(head.contains("basic b3du"), "the target's own");
        }
    }

    #[test]
    fn native_keeps_the_order_and_any_spelling() {
        let case = Case {
            method: "PUT",
            headers: &[("b", "1"), ("A", "2"), ("user-agent", "me"), ("accept-encoding", "br")],
            body: b"x",
            change: |spec| {
                spec.style = HeadStyle::Native;
                spec.target_form = TargetForm::Absolute;
            },
            ..Case::default()
        };
        let lines = [
            "PUT http://h:8080/p?q HTTP/1.1",
            "Host: h:8080",
            "User-Agent: me",
            "Content-Length: 1",
            "b: 1",
            "A: 2",
            "accept-encoding: br",
        ];
        check_lines(&case, &lines, "x");
        let plain = Case { change: |spec| spec.style = HeadStyle::Native, ..Case::default() };
        let lines = [
            "GET /p?q HTTP/1.1",
            "Host: h:8080",
            "User-Agent: brunt/1.2.3",
            "Accept-Encoding: gzip",
        ];
        check_lines(&plain, &lines, "");
    }

    #[test]
    fn exact_adds_nothing() {
        let case = Case {
            method: "POST",
            headers: &[("connection", "Keep-Alive"), ("Host", "other"), ("A", " b")],
            body: b"x",
            change: |spec| spec.style = HeadStyle::Exact(Version::Http10),
            ..Case::default()
        };
        let lines = ["POST /p?q HTTP/1.0", "connection: Keep-Alive", "Host: other", "A:  b"];
        check_lines(&case, &lines, "x");
        let bare = Case {
            change: |spec| {
                spec.style = HeadStyle::Exact(Version::Http11);
                spec.keepalive = false;
                spec.target_form = TargetForm::Absolute;
            },
            ..Case::default()
        };
        check_lines(&bare, &["GET http://h:8080/p?q HTTP/1.1"], "");
    }

    #[test]
    fn refuses_what_breaks_the_message() {
        let cases: [(&str, &[(&str, &str)], &str); 5] = [
            ("GE T", &[], "invalid method \"GE T\""),
            ("", &[], "invalid method \"\""),
            ("GET", &[("GET http", "x")], "invalid header field name \"GET http\""),
            ("GET", &[("X", "a\r\nY: b")], "invalid header field value for \"X\""),
            ("GET", &[("X", "a\0")], "invalid header field value for \"X\""),
        ];
        for (method, headers, message) in cases {
            let error = render(&Case { method, headers, ..Case::default() }).expect_err(message);
            assert_eq!(error.to_string(), message);
        }
        let change = |s: &mut RequestSpec<'_>| s.style = HeadStyle::Exact(Version::Http11);
        for (name, is_sent) in [("", true), ("a b", true), ("a\r\nb", false), ("\0", false)] {
            let case = Case { headers: &[(name, "x")], change, ..Case::default() };
            assert_eq!(render(&case).is_ok(), is_sent, "{name:?}");
        }
        let name = render(&Case { change: |s| s.attack_name = "a\nb", ..Case::default() });
        assert_eq!(name, Err(RequestError::FieldValue("X-Vegeta-Attack".into())));
    }

    #[test]
    fn a_large_body_is_sent_apart() {
        let url = Url::parse("http://h/").expect("a URL");
        let spec = RequestSpec {
            method: "POST",
            url: &url,
            headers: &[],
            body: vec![b'x'; RequestTemplate::INLINE_BODY_MAX + 1].into(),
            style: HeadStyle::Native,
            keepalive: true,
            chunked: true,
            attack_name: "",
            target_form: TargetForm::Origin,
            proxy_authorization: None,
            user_agent: "brunt/1",
        };
        let template = RequestTemplate::new(&spec).expect("a valid request");
        let mut head = Vec::new();
        template.render(0, &mut head);
        assert!(head.ends_with(b"\r\n\r\n") && head.len() < 512);
        let body = template.large_body().expect("a large body");
        assert!(body.starts_with(b"10001\r\nxx") && body.ends_with(b"x\r\n0\r\n\r\n"));
        assert_eq!(template.body_bytes(), 0x10001);
    }

    #[test]
    fn connects_through_a_proxy() {
        let headers = [("Proxy-Authorization".to_owned(), basic_authorization("u:p"))];
        let head = connect_request("h:443", &headers).expect("a valid request");
        let expect =
            "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\nProxy-Authorization: Basic dTpw\r\n\r\n";
        assert_eq!(String::from_utf8_lossy(&head), expect);
    }
}
