//! `H2Error`: why a stream or a connection failed.

use h2::Reason;
use thiserror::Error;

/// Why a stream or a connection failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum H2Error {
    /// The server ended the stream with RST_STREAM. RFC 9113, 6.4.
    #[error("stream error: {0:?}; received from peer")]
    Reset(Reason),
    /// The server ended the connection with GOAWAY and did not process this stream. RFC 9113, 6.8.
    #[error("server sent GOAWAY and closed the connection; ErrCode={0:?}")]
    GoAway(Reason),
    /// The server broke the protocol.
    #[error("{0:?}")]
    Protocol(Reason),
    /// The connection ended with the stream.
    #[error("connection closed")]
    Closed,
    /// The server sends more and more and reads nothing.
    #[error("too many bytes wait for the server to read them")]
    Flood,
    /// There are more than [`INTERIM_MAX`](crate::h1::response::INTERIM_MAX) interim responses, in Go's words.
    #[error("too many 1xx informational responses")]
    TooManyInterim,
}

impl H2Error {
    /// Whether the server did not process the request, having ended the connection in an orderly way or refused the
    /// stream: it may be sent again, whatever its method. RFC 9113, 8.7.
    #[must_use]
    pub fn is_unprocessed(self) -> bool {
        matches!(self, Self::GoAway(Reason::NO_ERROR) | Self::Reset(Reason::REFUSED_STREAM))
    }
}

impl From<h2::Error> for H2Error {
    fn from(error: h2::Error) -> Self {
        match error.reason() {
            Some(reason) if error.is_library() => Self::Protocol(reason),
            Some(reason) if error.is_go_away() => Self::GoAway(reason),
            Some(reason) => Self::Reset(reason),
            None => Self::Closed,
        }
    }
}
