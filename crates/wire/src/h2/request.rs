//! `H2Request`: a request made ready for streams, as `RequestTemplate` is for HTTP/1.1.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request, Uri, Version};

use crate::h1::request::{ATTACK, HeadStyle, RequestError, RequestSpec, SEQ};
use crate::url::Scheme;

/// A request made ready for streams.
#[derive(Clone, Debug)]
pub struct H2Request {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    /// Whether each hit's number is sent.
    numbered: bool,
    body: Bytes,
}

/// Fields that belong to a connection of HTTP/1.1, or that we write ourselves. RFC 9113, 8.2.2; of TE see [`is_dropped`].
const DROPPED_FIELDS: [&str; 7] = [
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
];

impl H2Request {
    /// Makes a request ready: the fields of its style, in the target's order, but for those of a connection.
    ///
    /// # Errors
    /// The method, the address or a header field would break the message.
    pub fn new(spec: &RequestSpec<'_>) -> Result<Self, RequestError> {
        let method = Method::from_bytes(spec.method.as_bytes())
            .map_err(|_| RequestError::Method(spec.method.to_owned()))?;
        Ok(Self {
            method,
            uri: uri(spec)?,
            headers: fields(spec)?,
            numbered: spec.style == HeadStyle::Go,
            body: Bytes::from_owner(Arc::clone(&spec.body)),
        })
    }

    /// The head of hit number `hit`.
    pub(super) fn head(&self, hit: u64) -> Request<()> {
        let mut request = Request::new(());
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.uri.clone();
        *request.version_mut() = Version::HTTP_2;
        *request.headers_mut() = self.headers.clone();
        if self.numbered {
            request.headers_mut().insert(HeaderName::from_static(SEQ_FIELD), hit.into());
        }
        request
    }

    /// The same for a body that is sent in parts, whose length is not known yet.
    pub(super) fn head_of_parts(&self, hit: u64) -> Request<()> {
        let mut head = self.head(hit);
        head.headers_mut().remove(header::CONTENT_LENGTH);
        head
    }

    /// The body; empty for none.
    pub(super) fn body(&self) -> &Bytes {
        &self.body
    }
}

/// [`SEQ`] as HTTP/2 spells it.
const SEQ_FIELD: &str = "x-vegeta-seq";

/// RFC 9113, 8.3.1: scheme, authority and path go into fields of their own.
fn uri(spec: &RequestSpec<'_>) -> Result<Uri, RequestError> {
    let path = spec.url.path_and_query.as_str();
    uri_with(spec, path)
        .or_else(|_| uri_with(spec, &escape(path)))
        .map_err(|_| RequestError::Target(path.to_owned()))
}

/// HTTP/1.1 sends a quote or a bracket as it was given; the `http` crate's type takes them in their escaped form alone,
/// which means the same. RFC 3986, 2.1.
fn escape(path: &str) -> String {
    let mut out = String::with_capacity(path.len() + 16);
    for byte in path.bytes() {
        if byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn uri_with(spec: &RequestSpec<'_>, path: &str) -> Result<Uri, http::Error> {
    let scheme = match spec.url.scheme {
        Scheme::Http => "http",
        Scheme::Https => "https",
    };
    Uri::builder().scheme(scheme).authority(&*spec.host()).path_and_query(path).build()
}

fn fields(spec: &RequestSpec<'_>) -> Result<HeaderMap, RequestError> {
    let mut map = HeaderMap::with_capacity(spec.headers.len() + 4);
    for (name, value) in spec.headers {
        let value = value.trim_matches([' ', '\t']);
        if !is_dropped(name, value) && !is_own_field(spec, name) && !spec.leaves_out(name) {
            add(&mut map, name, value)?;
        }
    }
    for (name, value) in spec.own_fields() {
        if !map.contains_key(name) {
            add(&mut map, name, &value)?;
        }
    }
    // Go's client says no length either where it would send chunks.
    if spec.says_length() && !spec.is_chunked() {
        map.insert(header::CONTENT_LENGTH, spec.body.len().into());
    }
    Ok(map)
}

fn is_dropped(name: &str, value: &str) -> bool {
    // RFC 9113, 8.2.2: TE may say that we take trailers, and nothing else.
    let te = name.eq_ignore_ascii_case("te") && !value.eq_ignore_ascii_case("trailers");
    te || DROPPED_FIELDS.iter().any(|field| name.eq_ignore_ascii_case(field))
}

/// Whether the Go style writes this field itself, whatever the target says.
fn is_own_field(spec: &RequestSpec<'_>, name: &str) -> bool {
    let attack = name.eq_ignore_ascii_case(ATTACK) && !spec.attack_name.is_empty();
    spec.style == HeadStyle::Go && (attack || name.eq_ignore_ascii_case(SEQ))
}

fn add(map: &mut HeaderMap, name: &str, value: &str) -> Result<(), RequestError> {
    let field = HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| RequestError::FieldName(name.to_owned()))?;
    let value = HeaderValue::from_bytes(value.as_bytes())
        .map_err(|_| RequestError::FieldValue(name.to_owned()))?;
    map.append(field, value);
    Ok(())
}
