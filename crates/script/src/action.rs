//! What a script asks for, and what comes back.

use std::rc::Rc;

use stdx::Nanos;

use crate::seat::TagList;

/// What a script wants done. It has a [`Ticket`], and so has what comes of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A request, answered by [`Answer::Http`].
    Http(Box<HttpAsk>),
}

/// The number of something that a VU asked for, from 1. None is used twice by a VU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// What a VU asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// What its answers bear.
    pub ticket: Ticket,
    /// What is to be done.
    pub action: Action,
}

/// What became of an [`Action`].
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The response, or why there is none.
    Http(Box<HttpAnswer>),
}

/// A request as a script wants it.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpAsk {
    /// The method as written.
    pub method: String,
    /// The URL as written.
    pub url: String,
    /// What the URL is called in metrics; the URL itself where `None`.
    pub name: Option<String>,
    /// The header fields in the script's order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Option<Vec<u8>>,
    /// How long it may take; `None` is k6's default of 60 s.
    pub timeout: Option<Nanos>,
    /// How many redirects are followed; `None` is what the options say.
    pub redirects: Option<u32>,
    /// What of the response the script wants to see.
    pub expects: Expects,
    /// Tags of its samples.
    pub tags: Vec<(String, String)>,
    /// The group it was sent in.
    pub group: Rc<str>,
    /// The VU's tags at that time; `None` for none.
    pub vu_tags: Option<Rc<TagList>>,
    /// The VU's metadata at that time; `None` for none.
    pub metadata: Option<Rc<TagList>>,
}

impl Default for HttpAsk {
    fn default() -> Self {
        Self {
            method: String::new(),
            url: String::new(),
            name: None,
            headers: Vec::new(),
            body: None,
            timeout: None,
            redirects: None,
            expects: Expects::default(),
            tags: Vec::new(),
            group: "".into(),
            vu_tags: None,
            metadata: None,
        }
    }
}

impl HttpAsk {
    /// Sets a header field unless the script did.
    pub(crate) fn default_header(&mut self, name: &str, value: &str) {
        if !self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
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

/// The response to an [`HttpAsk`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HttpAnswer {
    /// The status; 0 where there was no response.
    pub status: u16,
    /// The status with its phrase, `200 OK`.
    pub status_text: String,
    /// The protocol, `HTTP/1.1`.
    pub proto: String,
    /// The URL that answered, after redirects.
    pub url: String,
    /// The address that answered, without its port.
    pub remote_ip: String,
    /// Its port.
    pub remote_port: u16,
    /// The header fields in the order of the wire.
    pub headers: Vec<(String, String)>,
    /// The decoded body; `None` where it was not kept.
    pub body: Option<Vec<u8>>,
    /// What the time went into.
    pub timings: Timings,
    /// Why there is no response.
    pub failure: Option<HttpFailure>,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpFailure {
    /// k6's number.
    pub code: u16,
    /// What happened.
    pub text: String,
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
