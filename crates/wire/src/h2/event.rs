//! `StreamEvent`: what happened on a stream.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::error::H2Error;

/// What happened on a stream.
#[derive(Debug)]
pub enum StreamEvent {
    /// The final head came.
    Head {
        /// The status, 200 to 999.
        status: StatusCode,
        /// The header fields.
        headers: HeaderMap,
    },
    /// A part of the body came, content codings untouched.
    Data(Bytes),
    /// The response is complete; the stream's number is free.
    End {
        /// The trailer fields, where there are some. RFC 9113, 8.1.
        trailers: Option<Box<HeaderMap>>,
    },
    /// The stream failed; its number is free.
    Failed(H2Error),
}
