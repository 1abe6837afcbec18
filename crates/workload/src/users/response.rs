//! `EngineResponse`: the outcome of a request that a virtual user asked for.

use std::net::SocketAddr;
use std::sync::Arc;

use stdx::Nanos;

use super::pipe::Pipe;

/// The outcome of a [`RequestCommand`](super::RequestCommand). Times are offsets from the run's start.
#[derive(Clone, Debug, Default)]
pub struct EngineResponse<'a> {
    /// When it was asked for.
    pub due: Nanos,
    /// When its request was sent; `None` where it never was.
    pub sent: Option<Nanos>,
    /// When the last byte of its request was taken by the system; `None` where the first never was.
    pub all_sent: Option<Nanos>,
    /// When the response began; `None` where it did not.
    pub first_byte: Option<Nanos>,
    /// When it ended.
    pub done: Nanos,
    /// How long connecting took, without the name lookup; 0 on a kept-alive connection.
    pub dial: Nanos,
    /// How long the TLS handshake took.
    pub tls: Nanos,
    /// The status; 0 where there was no response.
    pub status: u16,
    /// The status line and the header lines, each ended by CR LF. Replies with the same head may share it.
    pub head: Option<Arc<[u8]>>,
    /// The decoded body, as much of it as was kept.
    pub body: &'a [u8],
    /// The trailer lines, each ended by CR LF; empty where there are none.
    pub trailers: &'a [u8],
    /// Bytes of the request.
    pub bytes_out: u64,
    /// Bytes of the response on the wire.
    pub wire_in: u64,
    /// The name of what went wrong, and its text.
    pub failure: Option<(&'static str, String)>,
    /// What is known of it beyond its name.
    pub detail: FailureDetail,
    /// The server's address; `None` where no connection was made.
    pub remote: Option<SocketAddr>,
    /// What TLS agreed on: its version as `tls1.3`, and the cipher suite by IANA's name.
    pub secured: Option<(&'static str, &'static str)>,
    /// The connection, where the server has switched protocols as was asked for.
    pub pipe: Option<Pipe>,
}

/// What is known of a failure beyond its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailureDetail {
    /// Nothing.
    #[default]
    None,
    /// The system's error number.
    Os(i32),
    /// The connection was closed for writing.
    BrokenPipe,
    /// The address is blocked by the plan.
    ForbiddenAddress,
    /// The name is blocked by the plan.
    ForbiddenName,
    /// The certificate's issuer is unknown.
    UnknownAuthority,
    /// The certificate is for another name.
    OtherName,
    /// The answer to a handshake was no TLS.
    NotTls,
    /// The body was longer than its request allowed.
    BodyTooLong,
    /// The response came whole, and there was no memory for all of its body.
    BodyCut,
    /// HTTP/2: the server ended the connection with this code. RFC 9113, 7.
    GoAway(u32),
    /// HTTP/2: the server ended the stream with this code.
    StreamReset(u32),
    /// HTTP/2: the connection broke the protocol with this code.
    BrokenStreams(u32),
}
