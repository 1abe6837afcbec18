//! `ResponseDecoder`: bytes of a connection in, heads and bodies out. RFC 9112.

use thiserror::Error;

use super::{Header, Progress, Version};
use crate::content::Codings;

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
}

/// Why bytes are not a response. The texts are Go's where Vegeta's users know them.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The connection ended before the response began.
    #[error("EOF")]
    Eof,
    /// The connection ended in the middle of the head.
    #[error("net/http: HTTP/1.x transport connection broken: unexpected EOF")]
    HeadTruncated,
    /// The connection ended in the middle of the body.
    #[error("unexpected EOF")]
    Truncated,
    /// What came is not HTTP; the first line is given, at most 100 bytes of it.
    #[error(
        "net/http: HTTP/1.x transport connection broken: malformed HTTP response \"{}\"",
        .0.escape_ascii()
    )]
    Malformed(Box<[u8]>),
    /// The head is larger than this many bytes.
    #[error("net/http: server response headers exceeded {0} bytes; aborted")]
    HeadTooLarge(usize),
    /// There are more than this many header fields.
    #[error("net/http: server response exceeded {0} header fields; aborted")]
    TooManyHeaders(usize),
    /// There are more than [`INTERIM_MAX`] interim responses.
    #[error("net/http: too many 1xx informational responses")]
    TooManyInterim,
    /// A content length is no number, or there are several that differ.
    #[error("bad Content-Length")]
    ContentLength,
    /// A transfer coding other than chunked.
    #[error("unsupported transfer encoding")]
    TransferEncoding,
    /// The chunked framing is broken.
    #[error("malformed chunked encoding")]
    Chunk,
    /// A chunk's size line or the trailer section is too long.
    #[error("http: trailer or chunk header too large")]
    ChunkTooLarge,
    /// Bytes were given after an error or after the end.
    #[error("http: response decoder used after its end")]
    Ended,
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
#[derive(Debug, Default)]
pub struct ResponseDecoder {}

impl ResponseDecoder {
    /// A decoder for a new connection.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A request was sent; its response is next. Keeps the buffers, forgets everything else.
    pub fn begin(&mut self, _method: RequestMethod) {
        todo!()
    }

    /// Takes bytes of the connection, until they end or the response is complete.
    ///
    /// # Errors
    /// The bytes are not a response; the connection is of no more use.
    pub fn handle_bytes(
        &mut self,
        _input: &[u8],
        _sink: &mut impl ResponseSink,
    ) -> Result<Progress, DecodeError> {
        todo!()
    }

    /// The connection ended. A body without a length is complete by it.
    ///
    /// # Errors
    /// The response was not complete.
    pub fn handle_eof(&mut self, _sink: &mut impl ResponseSink) -> Result<(), DecodeError> {
        todo!()
    }

    /// Whether the connection can carry another request, once the response is done and no byte is left over.
    #[must_use]
    pub fn can_reuse(&self) -> bool {
        todo!()
    }

    /// The final status; 0 before it came.
    #[must_use]
    pub fn status(&self) -> u16 {
        todo!()
    }

    /// Whether any byte of the response came.
    #[must_use]
    pub fn started(&self) -> bool {
        todo!()
    }

    /// The content codings of the body.
    #[must_use]
    pub fn content_encoding(&self) -> Codings {
        todo!()
    }

    /// The `Location` field of a 3xx.
    #[must_use]
    pub fn location(&self) -> Option<&str> {
        todo!()
    }
}
