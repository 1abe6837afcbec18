//! A request as a script wants it, and the response that it gets.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use stdx::{MemoryShare, Nanos, OutOfMemory};

use super::sample::TagList;
use crate::http::cookie_jar::SharedJar;

/// A request as a script wants it.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpRequest {
    /// The method as written.
    pub method: Cow<'static, str>,
    /// The URL as written.
    pub url: Rc<str>,
    /// What the URL is called in metrics; the URL itself where `None`.
    pub name: Option<String>,
    /// The header fields in the script's order, by their canonical names.
    pub headers: Vec<(String, String)>,
    /// Instead of them, those that all requests share which have none of their own.
    pub shared_headers: Option<Arc<[(String, String)]>>,
    /// The body as the script gave it.
    pub body: Option<Arc<[u8]>>,
    /// The body as it is sent, where it is compressed.
    pub coded_body: Option<Arc<[u8]>>,
    /// What the bodies take of the process' memory.
    pub memory: BodyMemory,
    /// How long it may take; `None` is k6's default of 60 s.
    pub timeout: Option<Nanos>,
    /// How many redirects are followed; `None` is what the options say.
    pub redirects: Option<u32>,
    /// What of the response the script wants to see.
    pub expects: Expects,
    /// Which statuses are no failure.
    pub expected: Statuses,
    /// How it authenticates itself, beyond what its header fields say.
    pub auth: Auth,
    /// A failure is thrown.
    pub throws: bool,
    /// Its own cookies.
    pub cookies: Vec<OwnCookie>,
    /// The jar that its cookies come from and go to.
    pub jar: Option<SharedJar>,
    /// Tags of its samples.
    pub tags: Vec<(String, String)>,
    /// The group it was sent in.
    pub group: Rc<str>,
    /// The VU's tags at that time; `None` for none.
    pub vu_tags: Option<Rc<TagList>>,
    /// The VU's metadata at that time; `None` for none.
    pub metadata: Option<Rc<TagList>>,
    /// The VU's idle connections are closed first.
    pub fresh_connection: bool,
    /// A server named its URL, which is of another scheme, host and port than what the user asked for.
    pub is_led_away: bool,
}

/// The memory that bodies take, which copies of the request share. It is no part of what is asked for: all are equal.
#[derive(Clone, Debug, Default)]
pub struct BodyMemory {
    /// Goes back with the last copy.
    _share: Option<Rc<MemoryShare>>,
}

impl BodyMemory {
    /// For bodies of so many bytes; small ones take no share.
    ///
    /// # Errors
    /// No memory is left.
    pub fn of(bytes: usize) -> Result<Self, OutOfMemory> {
        let mut memory = MemoryShare::default();
        memory.resize(bytes)?;
        Ok(Self { _share: (memory.taken() > 0).then(|| Rc::new(memory)) })
    }
}

impl PartialEq for BodyMemory {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A cookie of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnCookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The jar's cookies of this name stay at home.
    pub replaces: bool,
}

/// How a request authenticates itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Auth {
    /// With the user of its URL, at once. RFC 7617.
    #[default]
    Basic,
    /// With the user of its URL, once the server has asked for it. RFC 7616.
    Digest,
}

/// Which statuses are no failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Statuses {
    /// 200 to 399.
    #[default]
    Usual,
    /// From one to another, both included.
    These(Rc<[(i64, i64)]>),
    /// Statuses are not judged: `http_req_failed` has no sample.
    Unasked,
}

impl Statuses {
    /// Whether a status is no failure; `None` where statuses are not judged.
    #[must_use]
    pub fn judge(&self, status: u16) -> Option<bool> {
        let status = i64::from(status);
        match self {
            Self::Usual => Some((200..400).contains(&status)),
            Self::These(list) => {
                Some(list.iter().any(|(min, max)| (*min..=*max).contains(&status)))
            }
            Self::Unasked => None,
        }
    }
}

impl Default for HttpRequest {
    fn default() -> Self {
        Self::new("".into(), "".into())
    }
}

impl HttpRequest {
    /// A request for a URL of which nothing else is said yet, sent in this group.
    pub const fn new(url: Rc<str>, group: Rc<str>) -> Self {
        Self {
            method: Cow::Borrowed(""),
            url,
            name: None,
            headers: Vec::new(),
            shared_headers: None,
            body: None,
            coded_body: None,
            memory: BodyMemory { _share: None },
            timeout: None,
            redirects: None,
            expects: Expects::Unsaid,
            expected: Statuses::Usual,
            auth: Auth::Basic,
            throws: false,
            cookies: Vec::new(),
            jar: None,
            tags: Vec::new(),
            group,
            vu_tags: None,
            metadata: None,
            fresh_connection: false,
            is_led_away: false,
        }
    }

    /// The header fields.
    pub fn headers(&self) -> &[(String, String)] {
        self.shared_headers.as_deref().unwrap_or(&self.headers)
    }

    /// The header fields, none of them shared.
    fn own_headers(&mut self) -> &mut Vec<(String, String)> {
        if let Some(shared) = self.shared_headers.take() {
            self.headers.extend_from_slice(&shared);
        }
        &mut self.headers
    }

    /// The value of a header field.
    pub fn header(&self, name: &str) -> Option<&str> {
        let field = self.headers().iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        field.map(|(_, value)| value.as_str())
    }

    /// Sets a header field unless the script did.
    pub fn default_header(&mut self, name: &str, value: &str) {
        if self.header(name).is_none() {
            self.own_headers().push((name.to_owned(), value.to_owned()));
        }
    }

    /// Sets a header field, whatever it was.
    pub fn set_header(&mut self, name: &str, value: String) {
        let headers = self.own_headers();
        headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        headers.push((name.to_owned(), value));
    }
}

/// k6's `responseType`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expects {
    /// The script does not say: a string, unless the options discard bodies.
    #[default]
    Unsaid,
    /// The body as a string.
    Text,
    /// The body as an `ArrayBuffer`.
    Binary,
    /// No body.
    Nothing,
}

/// The response to an [`HttpRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HttpResponse {
    /// The status; 0 where there was no response.
    pub status: u16,
    /// The status line and the header lines as they came, each ended by CR LF.
    pub head: Option<Arc<[u8]>>,
    /// The URL that answered, where it is another than the one that was asked for.
    pub url: Option<String>,
    /// The address that answered.
    pub remote: Option<SocketAddr>,
    /// What TLS agreed on: its version as `tls1.3`, and the cipher suite by IANA's name.
    pub secured: Option<(&'static str, &'static str)>,
    /// The decoded body; `None` where it was not kept.
    pub body: Option<Vec<u8>>,
    /// What the time went into.
    pub timings: Timings,
    /// Bytes of the request, and of the response as they came.
    pub wire_bytes: (u64, u64),
    /// The head of an answer that broke off.
    pub cut_head: Option<Arc<[u8]>>,
    /// What the head takes of the process' memory.
    pub memory: BodyMemory,
    /// Why there is no response.
    pub failure: Option<HttpFailure>,
    /// The request as it was first sent; `None` where there was none to send.
    pub asked: Option<Box<HttpRequest>>,
}

/// Why a request failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpFailure {
    /// k6's number.
    pub code: u16,
    /// What happened, in k6's few words.
    pub text: String,
    /// The same for the log, with method and URL.
    pub whole: String,
}

/// k6's parts of a request's time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Waiting for a connection.
    pub blocked: Nanos,
    /// Connecting.
    pub connecting: Nanos,
    /// The TLS handshake.
    pub tls_handshaking: Nanos,
    /// Sending the request.
    pub sending: Nanos,
    /// Waiting for the response's first byte.
    pub waiting: Nanos,
    /// Receiving the response.
    pub receiving: Nanos,
}

impl Timings {
    /// k6's `duration`: sending, waiting and receiving.
    #[must_use]
    pub fn duration(&self) -> Nanos {
        self.sending.saturating_add(self.waiting).saturating_add(self.receiving)
    }
}

/// A URL with what is secret hidden, as k6 hides user and password; `None` where nothing is.
pub fn masked(url: &str) -> Option<String> {
    let shown = without_user(url);
    match stdx::shown_url(shown.as_deref().unwrap_or(url)) {
        Cow::Owned(other) => Some(other),
        Cow::Borrowed(_) => shown,
    }
}

fn without_user(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let at = rest[..end].rfind('@')?;
    Some(format!("{scheme}://****:****@{}", &rest[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_hidden() {
        for (url, expect) in [
            ("http://u:p@h/x", Some("http://****:****@h/x")),
            ("http://u@h:1/?a=b@c", Some("http://****:****@h:1/?a=b@c")),
            ("http://h/x@y", None),
            ("http://h/?to=http://u:p@w/", Some("http://h/?to=http://u:***@w/")),
            ("h", None),
        ] {
            assert_eq!(masked(url).as_deref(), expect, "{url}");
        }
    }
}
