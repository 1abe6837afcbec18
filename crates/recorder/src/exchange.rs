//! `Exchange`: a request, its answer, and the messages of a WebSocket, as they passed.

use stdx::Nanos;

/// What an exchange takes beside its texts, in bytes: here, and as an entry of a HAR.
pub(crate) const EXCHANGE_BYTES: u64 = 1024;
/// The same of a message: one in a list that doubles as it grows.
pub(crate) const MESSAGE_BYTES: u64 = 2 * size_of::<Message>() as u64 + 128;
/// The same of a field of a head.
const FIELD_BYTES: u64 = size_of::<(String, String)>() as u64 + 64;

/// A request and its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// When it began, since the start of the recording.
    pub started: Nanos,
    /// The request.
    pub request: RequestHead,
    /// The body of the request, as it was sent.
    pub sent: Body,
    /// The answer; `None` if none came.
    pub response: Option<ResponseHead>,
    /// When the answer's head was there.
    pub answered: Nanos,
    /// The body of the answer, as it came: coded where the server coded it.
    pub received: Body,
    /// When its last byte had passed; `None` while it has not.
    pub ended: Option<Nanos>,
    /// Why there is no answer, or no whole one.
    pub failure: Option<String>,
    /// The messages of a WebSocket.
    pub messages: Vec<Message>,
}

/// The head of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestHead {
    /// The method.
    pub method: String,
    /// The whole address, without a fragment.
    pub url: String,
    /// The host of the address, without a port.
    pub host: String,
    /// The version as HARs have it: `HTTP/1.1`, `h2`.
    pub version: &'static str,
    /// The fields, in their order.
    pub headers: Vec<(String, String)>,
}

/// The head of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseHead {
    /// The status.
    pub status: u16,
    /// Its words; empty in HTTP/2.
    pub reason: String,
    /// The version that the server spoke.
    pub version: &'static str,
    /// The fields, in their order.
    pub headers: Vec<(String, String)>,
}

/// A body, or its begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// What is kept of it.
    pub bytes: Vec<u8>,
    /// How long it was, in bytes.
    pub len: u64,
}

/// A message of a WebSocket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// When it passed, since the start of the recording.
    pub at: Nanos,
    /// Which way it went.
    pub direction: Direction,
    /// What it held.
    pub payload: Payload,
}

/// Which way a message went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the server.
    Sent,
    /// From the server.
    Received,
}

/// What a message held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// Text.
    Text(String),
    /// Bytes.
    Binary(Vec<u8>),
}

/// Where a group begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When, since the start of the recording.
    pub at: Nanos,
    /// How the group is called.
    pub name: String,
}

impl Body {
    /// Whether a part of it is missing.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        (self.bytes.len() as u64) < self.len
    }
}

impl Mark {
    /// How much it takes, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.name.len() as u64 + MESSAGE_BYTES
    }
}

impl Message {
    /// How much it takes, in bytes: an empty one too.
    pub(crate) fn bytes(&self) -> u64 {
        let payload = match &self.payload {
            Payload::Text(text) => text.len(),
            Payload::Binary(bytes) => bytes.len(),
        };
        payload as u64 + MESSAGE_BYTES
    }
}

impl Body {
    /// Adds to what is kept. It grows by quarters: doubled, many of them would take far more than they hold.
    pub(crate) fn keep(&mut self, more: &[u8]) {
        if self.bytes.capacity() - self.bytes.len() < more.len() {
            self.bytes.reserve_exact(more.len().max(self.bytes.len() / 4));
        }
        self.bytes.extend_from_slice(more);
    }
}

impl Exchange {
    /// The host that its answer leads to, where it is a redirect: its own for an address without one.
    pub(crate) fn redirect_host(&self) -> Option<String> {
        let response = self.response.as_ref()?;
        let leads = matches!(response.status, 301 | 302 | 303 | 307 | 308);
        let to = response.header("location").filter(|_| leads)?;
        let host = to.parse::<http::Uri>().ok().and_then(|uri| uri.host().map(str::to_owned));
        Some(host.unwrap_or_else(|| self.request.host.clone()))
    }

    /// How much it takes, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let messages: u64 = self.messages.iter().map(Message::bytes).sum();
        let bodies = self.sent.bytes.len() + self.received.bytes.len();
        let response = self.response.as_ref().map_or(0, ResponseHead::bytes);
        bodies as u64 + messages + self.request.bytes() + response
    }
}

impl RequestHead {
    /// The value of a field.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// How much an exchange takes that has nothing else yet, in bytes. A HAR has the address twice, as its query too.
    pub(crate) fn bytes(&self) -> u64 {
        let texts = (self.method.len() + 2 * self.url.len() + self.host.len()) as u64;
        EXCHANGE_BYTES + texts + fields_bytes(&self.headers)
    }

    /// Whether a person went to its address, by what the browser says; where it says nothing, that is not excluded.
    pub(crate) fn may_be_navigation(&self) -> bool {
        self.header("sec-fetch-dest").is_none_or(|destination| destination == "document")
    }
}

impl ResponseHead {
    /// The value of a field.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// The media type without its parameters, in lower case; empty where none is given.
    #[must_use]
    pub fn media_type(&self) -> String {
        let kind = self.header("content-type").unwrap_or_default();
        kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// Whether it is a page that a person may have gone to.
    pub(crate) fn is_page(&self) -> bool {
        matches!(self.status, 200..=299) && self.media_type() == "text/html"
    }

    /// How much it takes, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        fields_bytes(&self.headers)
    }
}

pub(crate) fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

fn fields_bytes(headers: &[(String, String)]) -> u64 {
    headers.iter().map(|(name, value)| (name.len() + value.len()) as u64 + FIELD_BYTES).sum()
}
