//! The server's side: `RequestDecoder` takes requests apart, `ResponseHead` writes heads. RFC 9112.

use thiserror::Error;

use super::{Header, Progress, Version};

/// The largest request head: 64 KiB.
pub const HEAD_MAX: usize = 64 << 10;
/// The most header fields of a request.
pub const HEADERS_MAX: usize = 128;

/// What becomes of the connection after a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Connection {
    /// It carries the next request.
    #[default]
    Keep,
    /// It is closed.
    Close,
}

/// The head of a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestHead<'a> {
    /// The method.
    pub method: &'a str,
    /// The request target, untouched.
    pub target: &'a str,
    /// The client's version.
    pub version: Version,
    /// The header fields in the order of the wire.
    pub headers: &'a [Header<'a>],
    /// What the client wants to become of the connection.
    pub connection: Connection,
    /// The client waits for `100 Continue` before it sends the body.
    pub expects_continue: bool,
}

/// Takes a request apart.
pub trait RequestSink {
    /// The head came; once per request.
    fn head(&mut self, head: &RequestHead<'_>);
    /// A part of the body came, without framing.
    fn body(&mut self, bytes: &[u8]);
}

/// Why bytes are not a request. Answer with [`RequestFault::status`] and close.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RequestFault {
    /// It is not HTTP/1.
    #[error("malformed request")]
    Malformed,
    /// The head passes a limit.
    #[error("request head too large")]
    HeadTooLarge,
    /// A content length is no number, or several differ, or it comes with a transfer coding.
    #[error("bad content length")]
    ContentLength,
    /// A transfer coding other than chunked.
    #[error("unsupported transfer coding")]
    TransferEncoding,
    /// The chunked framing is broken or passes a limit.
    #[error("malformed chunk")]
    Chunk,
}

impl RequestFault {
    /// The status that tells the client.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::Malformed | Self::ContentLength | Self::Chunk => 400,
            Self::HeadTooLarge => 431,
            Self::TransferEncoding => 501,
        }
    }
}

/// Decodes the requests of one connection, one after the other; pipelined ones too.
#[derive(Debug, Default)]
pub struct RequestDecoder {}

impl RequestDecoder {
    /// A decoder for a new connection.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes bytes of the connection, until they end or one request is complete (`done`). Call again with what was not
    /// consumed: it begins the next request.
    ///
    /// # Errors
    /// The bytes are not a request; the connection is of no more use.
    pub fn handle_bytes(
        &mut self,
        _input: &[u8],
        _sink: &mut impl RequestSink,
    ) -> Result<Progress, RequestFault> {
        todo!()
    }

    /// Whether nothing of a next request came: the connection may be closed without loss.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        todo!()
    }
}

/// How the body of a response is framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// No framing field at all (1xx, 204, 304).
    None,
    /// `Content-Length`, in bytes.
    Length(u64),
    /// `Transfer-Encoding: chunked`; the body goes through [`encode_chunk`] and [`encode_last_chunk`].
    Chunked,
    /// Until the connection is closed.
    UntilClose,
}

/// The head of a response to send.
#[derive(Clone, Copy, Debug)]
pub struct ResponseHead<'a> {
    /// The status; its usual reason phrase is sent with it.
    pub status: u16,
    /// Header fields other than framing and `Connection`.
    pub headers: &'a [(&'a str, &'a str)],
    /// How the body is framed.
    pub framing: Framing,
    /// What becomes of the connection; `Close` is said in the head.
    pub connection: Connection,
}

impl ResponseHead<'_> {
    /// Appends the head.
    pub fn encode(&self, _out: &mut Vec<u8>) {
        todo!()
    }
}

/// Appends one chunk; nothing for no bytes.
pub fn encode_chunk(_bytes: &[u8], _out: &mut Vec<u8>) {
    todo!()
}

/// Appends the chunk that ends the body.
pub fn encode_last_chunk(_out: &mut Vec<u8>) {
    todo!()
}

/// The reason phrase of a status; empty for an unknown one.
#[must_use]
pub const fn reason(_status: u16) -> &'static str {
    ""
}
