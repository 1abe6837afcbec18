//! `ResponseDecoder`: bytes of a connection in, heads and bodies out. RFC 9112.

use std::mem::MaybeUninit;

use thiserror::Error;

use super::body::{Body, ChunkFault, Chunked};
use super::fields::{Fields, Length, Transfer};
use super::head_buffer::HeadBuffer;
use super::memo::{HeadMemo, Meaning};
use super::{Header, Progress, Version};
use crate::content::Codings;
use crate::url::push_reference;

/// The largest response head, interim heads not counted: 256 KiB.
pub const HEAD_MAX: usize = 256 << 10;
/// The most header fields of a response.
pub const HEADERS_MAX: usize = 128;
/// The most interim (1xx) responses before the final one.
pub const INTERIM_MAX: u32 = 16;

/// What of the request decides how its response ends. RFC 9112, 6.3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestMethod {
    /// The response has no body.
    Head,
    /// A 2xx has no body: what follows is the tunnel.
    Connect,
    /// Any other method.
    #[default]
    Other,
}

impl RequestMethod {
    /// The kind of a request's method, CONNECT apart.
    pub(super) fn of(method: &str) -> Self {
        if method == "HEAD" { Self::Head } else { Self::Other }
    }
}

/// The head of a final response.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The status, 100 to 999.
    pub status: u16,
    /// The reason phrase; may be empty.
    pub reason: &'a str,
    /// The server's version.
    pub version: Version,
    /// The header fields in the order of the wire.
    pub headers: &'a [Header<'a>],
}

/// Takes a response apart.
pub trait ResponseSink {
    /// The final head came; once per response.
    fn head(&mut self, head: &Head<'_>);
    /// A part of the body came, without framing, content codings untouched.
    fn body(&mut self, bytes: &[u8]);

    /// Where heads may be remembered. With one, a head that came before, with a 2xx and no content coding, is passed on by
    /// [`head_again`](Self::head_again) alone.
    fn memo(&mut self) -> Option<&mut HeadMemo> {
        None
    }

    /// The trailer fields came, behind all of the body; not called where there are none.
    fn trailers(&mut self, _fields: &[Header<'_>]) {}

    /// A head that came before came again.
    fn head_again(&mut self, _status: u16) {}
}

/// Why bytes are not a response.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The connection ended before the response began.
    #[error("the connection ended before the response")]
    Eof,
    /// The connection ended in the middle of the head.
    #[error("the connection ended within the response's head")]
    HeadTruncated,
    /// The connection ended in the middle of the body.
    #[error("the connection ended within the response's body")]
    Truncated,
    /// What came is not HTTP; the first line is given, at most 100 bytes of it.
    #[error("malformed HTTP response {:?}", String::from_utf8_lossy(.0))]
    Malformed(Box<[u8]>),
    /// A header field is not one.
    #[error("malformed header field")]
    MalformedField,
    /// The head is larger than this many bytes.
    #[error("a response head of more than {0} bytes")]
    HeadTooLarge(usize),
    /// There are more than this many header fields.
    #[error("a response of more than {0} header fields")]
    TooManyHeaders(usize),
    /// There are more than [`INTERIM_MAX`] interim responses.
    #[error("more than {INTERIM_MAX} interim responses")]
    TooManyInterim,
    /// A content length is not a number, or there are several that differ.
    #[error("bad Content-Length")]
    ContentLength,
    /// A transfer coding other than chunked.
    #[error("unsupported transfer encoding")]
    TransferEncoding,
    /// The chunked framing is broken.
    #[error("malformed chunked encoding")]
    Chunk,
    /// A chunk's size line or the trailer section is too long.
    #[error("trailer or chunk header too large")]
    ChunkTooLarge,
    /// Bytes came before a request was sent, or after an error.
    #[error("unsolicited response")]
    Unsolicited,
}

impl DecodeError {
    /// Whether a limit of ours was passed, as opposed to broken framing.
    #[must_use]
    pub const fn is_too_large(&self) -> bool {
        matches!(
            self,
            Self::HeadTooLarge(_)
                | Self::TooManyHeaders(_)
                | Self::TooManyInterim
                | Self::ChunkTooLarge
        )
    }
}

/// Decodes the responses of one connection, one after the other.
///
/// A head that comes whole in one piece is parsed where it lies; only a head in pieces is gathered, in a buffer that is
/// kept.
#[derive(Debug, Default)]
pub struct ResponseDecoder {
    state: State,
    method: RequestMethod,
    status: u16,
    interim: u32,
    started: bool,
    reusable: bool,
    codings: Codings,
    /// The `Location` of a 3xx, where `has_location`; kept for its memory.
    location: String,
    has_location: bool,
    /// The head so far, if it comes in pieces; at most [`HEAD_MAX`].
    head: HeadBuffer,
    /// The trailer section; at most 64 KiB.
    trailers: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// No response is expected.
    #[default]
    Idle,
    Head,
    Body(Body),
    Done,
    Failed,
}

impl ResponseDecoder {
    /// A decoder for a new connection.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A request was sent; its response is next. Keeps the buffers, forgets everything else.
    pub fn begin(&mut self, method: RequestMethod) {
        self.state = State::Head;
        self.method = method;
        self.status = 0;
        self.interim = 0;
        self.started = false;
        self.reusable = false;
        self.codings = Codings::default();
        self.has_location = false;
        self.head.clear();
        self.trailers.clear();
    }

    /// Gives the buffers' memory back where one holds more than `bytes_max`; between two responses.
    pub fn trim(&mut self, bytes_max: usize) {
        self.head.trim(bytes_max);
        if self.trailers.capacity() > bytes_max {
            self.trailers = Vec::new();
        }
        if self.location.capacity() > bytes_max {
            self.location = String::new();
            self.has_location = false;
        }
    }

    /// Takes bytes of the connection, until they end or the response is complete.
    ///
    /// # Errors
    /// The bytes are not a response; the connection is of no more use.
    pub fn handle_bytes(
        &mut self,
        input: &[u8],
        sink: &mut impl ResponseSink,
    ) -> Result<Progress, DecodeError> {
        self.advance(input, sink).inspect_err(|_| self.state = State::Failed)
    }

    fn advance(
        &mut self,
        input: &[u8],
        sink: &mut impl ResponseSink,
    ) -> Result<Progress, DecodeError> {
        let mut consumed = 0;
        loop {
            let rest = &input[consumed..];
            match &mut self.state {
                State::Head if rest.is_empty() => return Ok(Progress { consumed, done: false }),
                State::Head => consumed += self.handle_head(rest, sink)?,
                State::Body(body) => {
                    let trailers = &mut self.trailers;
                    let step =
                        body.handle_bytes(rest, &mut |bytes| sink.body(bytes), &mut |bytes| {
                            // Mostly there are none, and the section is its last line alone.
                            if bytes != b"\r\n" || !trailers.is_empty() {
                                trailers.extend_from_slice(bytes);
                            }
                        })?;
                    consumed += step.consumed;
                    if !step.done {
                        return Ok(Progress { consumed, done: false });
                    }
                    if trailers.len() > b"\r\n".len() {
                        take_trailers(trailers, sink)?;
                    }
                    self.state = State::Done;
                }
                State::Done => return Ok(Progress { consumed, done: true }),
                State::Idle | State::Failed => return Err(DecodeError::Unsolicited),
            }
        }
    }

    /// The connection ended. A body without a length is complete by it.
    ///
    /// # Errors
    /// The response was not complete.
    pub fn handle_eof(&mut self, sink: &mut impl ResponseSink) -> Result<(), DecodeError> {
        self.reusable = false;
        let outcome = match self.state {
            State::Done | State::Body(Body::UntilEof) => Ok(()),
            State::Body(_) => Err(DecodeError::Truncated),
            State::Idle | State::Head if !self.started => Err(DecodeError::Eof),
            State::Idle | State::Head | State::Failed => {
                // A line that never ended may not be HTTP at all: that says more than a truncation.
                let head = std::mem::take(&mut self.head);
                self.parse_head(head.as_slice(), sink).and(Err(DecodeError::HeadTruncated))
            }
        };
        self.state = if outcome.is_ok() { State::Done } else { State::Failed };
        outcome
    }

    /// Takes a head or a part of one; gives how many bytes belonged to it.
    fn handle_head(
        &mut self,
        input: &[u8],
        sink: &mut impl ResponseSink,
    ) -> Result<usize, DecodeError> {
        self.started = true;
        let mut head = std::mem::take(&mut self.head);
        let too_large = || DecodeError::HeadTooLarge(HEAD_MAX);
        let taken = head.take(input, HEAD_MAX, too_large, |bytes| self.parse_head(bytes, sink));
        self.head = head;
        taken
    }

    /// Parses a head that begins `bytes`, if it is complete, and gives its length.
    fn parse_head(
        &mut self,
        bytes: &[u8],
        sink: &mut impl ResponseSink,
    ) -> Result<Option<usize>, DecodeError> {
        // RFC 9112, 2.2 allows an empty line before a request, not before a response; httparse skips it.
        if matches!(bytes.first(), Some(b'\r' | b'\n')) {
            return Err(malformed(bytes));
        }
        if let Some((meaning, len)) = sink.memo().and_then(|memo| memo.recall(bytes)) {
            self.accept(meaning)?;
            sink.head_again(meaning.status);
            return Ok(Some(len));
        }
        let mut space = [const { MaybeUninit::uninit() }; HEADERS_MAX];
        let mut response = httparse::Response::new(&mut []);
        let parsed = httparse::ParserConfig::default()
            .parse_response_with_uninit_headers(&mut response, bytes, &mut space)
            .map_err(|fault| decode_error(fault, bytes))?;
        let httparse::Status::Complete(len) = parsed else {
            return Ok(None);
        };
        if len > HEAD_MAX {
            return Err(DecodeError::HeadTooLarge(HEAD_MAX));
        }
        let head = Head {
            status: response.code.unwrap_or(0),
            reason: response.reason.unwrap_or(""),
            version: Version::from_minor(response.version),
            headers: response.headers,
        };
        let meaning = self.take_head(&head, sink)?;
        if let Some(meaning) = meaning.filter(|_| self.is_plain())
            && let Some(memo) = sink.memo()
        {
            memo.keep(&bytes[..len], meaning);
        }
        Ok(Some(len))
    }

    /// Gives what a final head means.
    fn take_head(
        &mut self,
        head: &Head<'_>,
        sink: &mut impl ResponseSink,
    ) -> Result<Option<Meaning>, DecodeError> {
        // RFC 9110, 15.2: a client must read any number of these; ours is large. 101 is final: it ends HTTP.
        if (100..200).contains(&head.status) && head.status != 101 {
            self.interim += 1;
            let too_many = self.interim > INTERIM_MAX;
            return if too_many { Err(DecodeError::TooManyInterim) } else { Ok(None) };
        }
        if head.status < 100 {
            return Err(malformed(format!("HTTP/1.1 {:03}", head.status).as_bytes()));
        }
        let fields = Fields::scan(head.headers, |header| self.handle_other(head.status, header));
        let meaning = Meaning { status: head.status, version: head.version, fields };
        self.accept(meaning)?;
        sink.head(head);
        Ok(Some(meaning))
    }

    /// Goes on to the body of a final head.
    fn accept(&mut self, head: Meaning) -> Result<(), DecodeError> {
        self.status = head.status;
        let framing = self.framing(&head)?;
        self.reusable = self.is_reusable(&head, framing);
        self.state = match framing {
            None | Some(Body::Length(0)) => State::Done,
            Some(body) => State::Body(body),
        };
        Ok(())
    }

    /// Whether nothing of the head matters but what its [`Meaning`] says.
    fn is_plain(&self) -> bool {
        (200..300).contains(&self.status) && self.codings.is_identity()
    }

    fn handle_other(&mut self, status: u16, header: &Header<'_>) {
        match header.name.len() {
            8 if (300..400).contains(&status) && header.name.eq_ignore_ascii_case("location") => {
                self.location.clear();
                push_reference(header.value, &mut self.location);
                self.has_location = true;
            }
            16 if header.name.eq_ignore_ascii_case("content-encoding") => {
                self.codings.push_field(header.value);
            }
            _ => {}
        }
    }

    /// How the body ends; `None` where there is none. RFC 9112, 6.3.
    fn framing(&self, head: &Meaning) -> Result<Option<Body>, DecodeError> {
        let tunnel = self.method == RequestMethod::Connect && (200..300).contains(&head.status);
        let bodyless = matches!(head.status, 101 | 204 | 304);
        if tunnel || bodyless || self.method == RequestMethod::Head {
            return Ok(None);
        }
        // RFC 9112, 6.1: HTTP/1.0 knows no transfer codings.
        let transfer = match head.version {
            Version::Http10 => Transfer::Absent,
            Version::Http11 => head.fields.transfer,
        };
        match (transfer, head.fields.content_length) {
            (Transfer::Unsupported, _) => Err(DecodeError::TransferEncoding),
            (Transfer::Chunked, _) => Ok(Some(Body::Chunked(Chunked::default()))),
            (Transfer::Absent, Length::Bytes(bytes)) => Ok(Some(Body::Length(bytes))),
            (Transfer::Absent, Length::Absent) => Ok(Some(Body::UntilEof)),
            (Transfer::Absent, Length::Invalid) => Err(DecodeError::ContentLength),
        }
    }

    /// RFC 9112, 9.3. Two ways of framing in one head are a sign of smuggling (6.3): the connection is not kept.
    fn is_reusable(&self, head: &Meaning, framing: Option<Body>) -> bool {
        let fields = &head.fields;
        let kept = match head.version {
            Version::Http11 => !fields.close,
            Version::Http10 => fields.keep_alive && !fields.close,
        };
        let ambiguous = fields.transfer != Transfer::Absent
            && (fields.content_length != Length::Absent || head.version == Version::Http10);
        let switched = head.status == 101 || self.method == RequestMethod::Connect;
        kept && !ambiguous && !switched && !matches!(framing, Some(Body::UntilEof))
    }

    /// Whether the connection can carry another request: the response is done and HTTP allows it. A byte left over after
    /// `done` forbids it too, which only the caller knows.
    #[must_use]
    pub fn can_reuse(&self) -> bool {
        self.reusable && matches!(self.state, State::Done)
    }

    /// The final status; 0 before it came.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Whether any byte of the response came.
    #[must_use]
    pub fn started(&self) -> bool {
        self.started
    }

    /// The content codings of the body.
    #[must_use]
    pub fn content_encoding(&self) -> Codings {
        self.codings
    }

    /// The `Location` field of a 3xx.
    #[must_use]
    pub fn location(&self) -> Option<&str> {
        self.has_location.then_some(self.location.as_str())
    }
}

/// Hands the fields of a trailer section on, but for those that have no meaning behind a body. RFC 9110, 6.5.1.
fn take_trailers(section: &[u8], sink: &mut impl ResponseSink) -> Result<(), DecodeError> {
    let mut space = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let parsed = httparse::parse_headers(section, &mut space);
    let httparse::Status::Complete((_, fields)) =
        parsed.map_err(|fault| decode_error(fault, section))?
    else {
        return Err(DecodeError::MalformedField);
    };
    let is_of_head =
        |field: &Header<'_>| HEAD_FIELDS.iter().any(|name| field.name.eq_ignore_ascii_case(name));
    if fields.iter().any(is_of_head) {
        let others: Vec<Header<'_>> = fields.iter().filter(|f| !is_of_head(f)).copied().collect();
        if !others.is_empty() {
            sink.trailers(&others);
        }
        return Ok(());
    }
    sink.trailers(fields);
    Ok(())
}

/// Fields that decide how a message is read: behind the body they come too late, and are passed over.
const HEAD_FIELDS: [&str; 8] = [
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "location",
    "set-cookie",
    "trailer",
    "transfer-encoding",
];

/// httparse's errors as ours.
fn decode_error(fault: httparse::Error, bytes: &[u8]) -> DecodeError {
    match fault {
        httparse::Error::TooManyHeaders => DecodeError::TooManyHeaders(HEADERS_MAX),
        httparse::Error::HeaderName | httparse::Error::HeaderValue => DecodeError::MalformedField,
        _ => malformed(bytes),
    }
}

/// [`DecodeError::Malformed`] with the first line of `bytes`.
fn malformed(bytes: &[u8]) -> DecodeError {
    let line = bytes.split(|b| matches!(b, b'\r' | b'\n')).next().unwrap_or_default();
    DecodeError::Malformed(line[..line.len().min(EXCERPT_MAX)].into())
}

impl From<ChunkFault> for DecodeError {
    fn from(fault: ChunkFault) -> Self {
        match fault {
            ChunkFault::Malformed => Self::Chunk,
            ChunkFault::TooLarge => Self::ChunkTooLarge,
        }
    }
}

/// What of a line that is not HTTP an error quotes: 100 bytes.
const EXCERPT_MAX: usize = 100;
