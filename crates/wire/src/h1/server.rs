//! The server's side: `RequestDecoder` takes requests apart, `ResponseHead` writes heads. RFC 9112.

use std::mem::MaybeUninit;

use thiserror::Error;

use super::body::{Body, ChunkFault, Chunked};
use super::fields::{Fields, Length, Transfer};
use super::head_buffer::HeadBuffer;
pub use super::reason::reason;
use super::write::{push_decimal, push_field, push_hexadecimal};
use super::{Header, Progress, Version};

/// The largest request head: 64 KiB.
pub const HEAD_MAX: usize = 64 << 10;
/// The most header fields of a request.
pub const HEADERS_MAX: usize = 128;

/// Whether the connection is kept or closed after a message.
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
    /// A content length is not a number, or several differ, or it comes with a transfer coding.
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
    /// The status to answer with.
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
pub struct RequestDecoder {
    state: State,
    /// The head so far, if it comes in pieces; at most [`HEAD_MAX`].
    head: HeadBuffer,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Head,
    Body(Body),
    Done,
    Failed(RequestFault),
}

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
    /// The bytes are not a request. The connection must be closed; every further call returns the same error.
    pub fn handle_bytes(
        &mut self,
        input: &[u8],
        sink: &mut impl RequestSink,
    ) -> Result<Progress, RequestFault> {
        self.advance(input, sink).inspect_err(|fault| self.state = State::Failed(*fault))
    }

    fn advance(
        &mut self,
        input: &[u8],
        sink: &mut impl RequestSink,
    ) -> Result<Progress, RequestFault> {
        let mut consumed = 0;
        loop {
            let rest = &input[consumed..];
            match &mut self.state {
                State::Head if rest.is_empty() => return Ok(Progress { consumed, done: false }),
                State::Head => consumed += self.handle_head(rest, sink)?,
                State::Body(body) => {
                    let step =
                        body.handle_bytes(rest, &mut |bytes| sink.body(bytes), &mut |_| {})?;
                    consumed += step.consumed;
                    if !step.done {
                        return Ok(Progress { consumed, done: false });
                    }
                    self.state = State::Done;
                }
                State::Done => {
                    self.state = State::Head;
                    return Ok(Progress { consumed, done: true });
                }
                State::Failed(fault) => return Err(*fault),
            }
        }
    }

    /// Whether nothing of a next request came: the connection may be closed without loss.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        matches!(self.state, State::Head) && self.head.is_empty()
    }

    /// Takes a head or a part of one; gives how many bytes belonged to it.
    fn handle_head(
        &mut self,
        input: &[u8],
        sink: &mut impl RequestSink,
    ) -> Result<usize, RequestFault> {
        let is_first = self.head.is_empty();
        // RFC 9112, 2.2: empty lines before a request are skipped.
        let empty = input.iter().take_while(|b| is_first && matches!(b, b'\r' | b'\n')).count();
        let input = &input[empty..];
        if input.is_empty() {
            return Ok(empty);
        }
        let mut head = std::mem::take(&mut self.head);
        let too_large = || RequestFault::HeadTooLarge;
        let taken = head.take(input, HEAD_MAX, too_large, |bytes| self.parse_head(bytes, sink));
        self.head = head;
        taken.map(|taken| empty + taken)
    }

    /// Parses a head that begins `bytes`, if it is complete, and gives its length.
    fn parse_head(
        &mut self,
        bytes: &[u8],
        sink: &mut impl RequestSink,
    ) -> Result<Option<usize>, RequestFault> {
        let mut space = [const { MaybeUninit::uninit() }; HEADERS_MAX];
        let mut request = httparse::Request::new(&mut []);
        let parsed = request.parse_with_uninit_headers(bytes, &mut space).map_err(|e| match e {
            httparse::Error::TooManyHeaders => RequestFault::HeadTooLarge,
            _ => RequestFault::Malformed,
        })?;
        let httparse::Status::Complete(len) = parsed else {
            return Ok(None);
        };
        if len > HEAD_MAX {
            return Err(RequestFault::HeadTooLarge);
        }
        let (mut hosts, mut expects_continue) = (0, false);
        let fields = Fields::scan(request.headers, |header| match header.name.len() {
            4 if header.name.eq_ignore_ascii_case("host") => hosts += 1,
            6 if header.name.eq_ignore_ascii_case("expect") => {
                expects_continue |= header.value.eq_ignore_ascii_case(b"100-continue");
            }
            _ => {}
        });
        let version = Version::from_minor(request.version);
        // RFC 9112, 3.2: exactly one Host in HTTP/1.1.
        if hosts > 1 || (hosts == 0 && version == Version::Http11) {
            return Err(RequestFault::Malformed);
        }
        self.state = framing(version, &fields)?.map_or(State::Done, State::Body);
        sink.head(&RequestHead {
            method: request.method.unwrap_or(""),
            target: request.path.unwrap_or(""),
            version,
            headers: request.headers,
            connection: connection(version, &fields),
            expects_continue: expects_continue && version == Version::Http11,
        });
        Ok(Some(len))
    }
}

/// How the body ends; `None` where there is none. RFC 9112, 6.3: a server answers an ambiguous framing with 400.
fn framing(version: Version, fields: &Fields) -> Result<Option<Body>, RequestFault> {
    match (fields.transfer, fields.content_length) {
        (Transfer::Unsupported, _) => Err(RequestFault::TransferEncoding),
        (Transfer::Chunked, Length::Absent) if version == Version::Http11 => {
            Ok(Some(Body::Chunked(Chunked::default())))
        }
        (Transfer::Chunked, _) | (Transfer::Absent, Length::Invalid) => {
            Err(RequestFault::ContentLength)
        }
        (Transfer::Absent, Length::Absent | Length::Bytes(0)) => Ok(None),
        (Transfer::Absent, Length::Bytes(bytes)) => Ok(Some(Body::Length(bytes))),
    }
}

/// RFC 9112, 9.3.
fn connection(version: Version, fields: &Fields) -> Connection {
    let kept = match version {
        Version::Http11 => !fields.close,
        Version::Http10 => fields.keep_alive && !fields.close,
    };
    if kept { Connection::Keep } else { Connection::Close }
}

impl From<ChunkFault> for RequestFault {
    fn from(_: ChunkFault) -> Self {
        Self::Chunk
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
    /// Whether the connection is kept or closed; the head announces `Close`.
    pub connection: Connection,
}

impl ResponseHead<'_> {
    /// Appends the head. Names and values are the caller's own and must not hold line ends.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"HTTP/1.1 ");
        push_decimal(u64::from(self.status), out);
        out.push(b' ');
        out.extend_from_slice(reason(self.status).as_bytes());
        out.extend_from_slice(b"\r\n");
        for (name, value) in self.headers {
            debug_assert!(!value.contains(['\r', '\n']), "a header value holds a line end");
            push_field(name, value, out);
        }
        match self.framing {
            Framing::None | Framing::UntilClose => {}
            Framing::Length(bytes) => {
                out.extend_from_slice(b"Content-Length: ");
                push_decimal(bytes, out);
                out.extend_from_slice(b"\r\n");
            }
            Framing::Chunked => push_field("Transfer-Encoding", "chunked", out),
        }
        if self.connection == Connection::Close {
            push_field("Connection", "close", out);
        }
        out.extend_from_slice(b"\r\n");
    }
}

/// Appends one chunk; nothing for no bytes, which would end the body.
pub fn encode_chunk(bytes: &[u8], out: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    push_hexadecimal(bytes.len() as u64, out);
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// Appends the chunk that ends the body.
pub fn encode_last_chunk(out: &mut Vec<u8>) {
    out.extend_from_slice(b"0\r\n\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default)]
    struct Log(Vec<String>);

    impl RequestSink for Log {
        fn head(&mut self, head: &RequestHead<'_>) {
            self.0.push(format!("{} {} {:?}", head.method, head.target, head.connection));
        }
        fn body(&mut self, bytes: &[u8]) {
            self.0.push(String::from_utf8_lossy(bytes).into_owned());
        }
    }

    fn decode(mut input: &[u8]) -> Result<Vec<String>, RequestFault> {
        let (mut decoder, mut log) = (RequestDecoder::new(), Log::default());
        while !input.is_empty() {
            let step = decoder.handle_bytes(input, &mut log)?;
            input = &input[step.consumed..];
            if step.done {
                log.0.push("done".into());
            }
        }
        Ok(log.0)
    }

    #[test]
    fn pipelined_requests_come_one_by_one() {
        let got = decode(
            b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n\r\nPOST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi\
              PUT /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n!\r\n0\r\n\r\n\
              GET /d HTTP/1.0\r\n\r\n",
        );
        let expect = [
            "GET /a Keep",
            "done",
            "POST /b Keep",
            "hi",
            "done",
            "PUT /c Keep",
            "!",
            "done",
            "GET /d Close",
            "done",
        ];
        assert_eq!(got.expect("four requests"), expect);
    }

    #[test]
    fn refuses_what_could_smuggle() {
        let cases = [
            ("Host: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked", 400),
            ("Host: x\r\nContent-Length: 1\r\nContent-Length: 2", 400),
            ("Host: x\r\nContent-Length: -1", 400),
            ("Host: x\r\nTransfer-Encoding: gzip", 501),
            ("Host: x\r\nHost: y", 400),
            ("X: y", 400),
            ("Host : x", 400),
        ];
        for (fields, status) in cases {
            let request = format!("POST / HTTP/1.1\r\n{fields}\r\n\r\n");
            let fault = decode(request.as_bytes()).expect_err(fields);
            assert_eq!(fault.status(), status, "{fields}");
        }
    }

    #[test]
    fn heads_are_bounded() {
        let long = [b"GET / HTTP/1.1\r\nX: ".to_vec(), vec![b'x'; HEAD_MAX]].concat();
        assert_eq!(decode(&long), Err(RequestFault::HeadTooLarge));
        let many = [b"GET / HTTP/1.1\r\n".to_vec(), b"X: y\r\n".repeat(HEADERS_MAX + 1)].concat();
        assert_eq!(decode(&many), Err(RequestFault::HeadTooLarge));
    }

    #[test]
    fn writes_heads_and_chunks() {
        let mut out = Vec::new();
        let head = ResponseHead {
            status: 404,
            headers: &[("X-A", "b")],
            framing: Framing::Length(3),
            connection: Connection::Close,
        };
        head.encode(&mut out);
        let expect =
            "HTTP/1.1 404 Not Found\r\nX-A: b\r\nContent-Length: 3\r\nConnection: close\r\n\r\n";
        assert_eq!(String::from_utf8_lossy(&out), expect);
        out.clear();
        encode_chunk(&[b'x'; 26], &mut out);
        encode_chunk(b"", &mut out);
        encode_last_chunk(&mut out);
        assert_eq!(out, [b"1a\r\n", &[b'x'; 26][..], b"\r\n0\r\n\r\n"].concat());
    }
}
