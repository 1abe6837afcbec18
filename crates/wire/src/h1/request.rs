//! `RequestTemplate`: a request rendered once and stamped out for each hit.

use std::sync::Arc;

use thiserror::Error;

use crate::url::Url;

/// The header fields we add ourselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeadStyle {
    /// `User-Agent: brunt/VERSION`, `Accept-Encoding: gzip`, headers in the target's order.
    #[default]
    Native,
    /// Byte for byte as Vegeta: Go's user agent, names sorted, `X-Vegeta-Seq`, `X-Vegeta-Attack`.
    Vegeta,
}

/// The form of the request target. RFC 9112, 3.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TargetForm {
    /// `/path?query`, to the server itself.
    #[default]
    Origin,
    /// `http://host/path?query`, to a proxy.
    Absolute,
}

/// What is to be sent.
#[derive(Clone, Debug)]
pub struct RequestSpec<'a> {
    /// The method, as it is sent.
    pub method: &'a str,
    /// The address.
    pub url: &'a Url,
    /// Header fields in the target's order.
    pub headers: &'a [(String, String)],
    /// The body; empty for none.
    pub body: Arc<[u8]>,
    /// The fields we add.
    pub style: HeadStyle,
    /// Keep the connection for the next request.
    pub keepalive: bool,
    /// Send the body in one chunk instead of with its length.
    pub chunked: bool,
    /// The attack's name; empty for none.
    pub attack_name: &'a str,
    /// The form of the request target.
    pub target_form: TargetForm,
    /// The `Proxy-Authorization` field's value.
    pub proxy_authorization: Option<String>,
    /// The user agent where the headers name none (native style only; Vegeta's is Go's).
    pub user_agent: &'a str,
}

/// Why a request cannot be sent. The texts are Go's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RequestError {
    /// The method is not a token.
    #[error("net/http: invalid method \"{0}\"")]
    Method(String),
    /// A field name is not a token.
    #[error("net/http: invalid header field name \"{0}\"")]
    FieldName(String),
    /// A field value holds a control character; the name is given.
    #[error("net/http: invalid header field value for \"{0}\"")]
    FieldValue(String),
}

/// A request, rendered but for the hit's number.
#[derive(Clone, Debug)]
pub struct RequestTemplate {}

impl RequestTemplate {
    /// Bodies up to this size are rendered with the head: 64 KiB.
    pub const INLINE_BODY_MAX: usize = 64 << 10;

    /// Renders the request but for its number.
    ///
    /// # Errors
    /// The method or a header field would break the message.
    pub fn new(_spec: &RequestSpec<'_>) -> Result<Self, RequestError> {
        todo!()
    }

    /// Appends the head of hit number `hit`, and the body if it is not [`RequestTemplate::large_body`].
    pub fn render(&self, _hit: u64, _out: &mut Vec<u8>) {
        todo!()
    }

    /// The body's bytes on the wire (framed, where chunked) if they are too many to be rendered with the head; to be
    /// sent after it.
    #[must_use]
    pub fn large_body(&self) -> Option<&Arc<[u8]>> {
        todo!()
    }

    /// The body's length, without framing.
    #[must_use]
    pub fn body_bytes(&self) -> u64 {
        todo!()
    }

    /// The method decides whether the response has a body.
    #[must_use]
    pub fn response_method(&self) -> super::response::RequestMethod {
        todo!()
    }

    /// Whether we asked for gzip of our own accord, so that the caller sees the decoded body (Go's rule).
    #[must_use]
    pub fn asks_gzip(&self) -> bool {
        todo!()
    }
}

/// The head that opens a tunnel to `authority` (`host:port`) through a proxy. RFC 9110, 9.3.6.
///
/// # Errors
/// A header field would break the message.
pub fn connect_request(
    _authority: &str,
    _headers: &[(String, String)],
) -> Result<Vec<u8>, RequestError> {
    todo!()
}

/// The value of an `Authorization` field for `user:password`. RFC 7617.
#[must_use]
pub fn basic_authorization(_userinfo: &str) -> String {
    todo!()
}
