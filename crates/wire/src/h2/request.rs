//! `H2Request`: a request made ready for streams, as `RequestTemplate` is for HTTP/1.1.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request, Uri, Version};

use crate::h1::request::{HeadStyle, RequestError, RequestSpec, SEQ};
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

/// Fields that belong to a connection of HTTP/1.1. RFC 9113, 8.2.2.
const CONNECTION_FIELDS: [&str; 7] =
    ["connection", "host", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade"];

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
            numbered: spec.style == HeadStyle::Vegeta,
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

    /// The body; empty for none.
    pub(super) fn body(&self) -> &Bytes {
        &self.body
    }
}

/// [`SEQ`] as HTTP/2 spells it.
const SEQ_FIELD: &str = "x-vegeta-seq";

/// RFC 9113, 8.3.1: scheme, authority and path go into fields of their own.
fn uri(spec: &RequestSpec<'_>) -> Result<Uri, RequestError> {
    let scheme = match spec.url.scheme {
        Scheme::Http => "http",
        Scheme::Https => "https",
    };
    Uri::builder()
        .scheme(scheme)
        .authority(spec.host())
        .path_and_query(spec.url.path_and_query.as_str())
        .build()
        .map_err(|_| RequestError::Target(spec.url.path_and_query.clone()))
}

fn fields(spec: &RequestSpec<'_>) -> Result<HeaderMap, RequestError> {
    let mut map = HeaderMap::with_capacity(spec.headers.len() + 4);
    let own = |name: &str| {
        CONNECTION_FIELDS.iter().any(|field| name.eq_ignore_ascii_case(field))
            || name.eq_ignore_ascii_case("content-length")
            || (spec.style == HeadStyle::Vegeta && name == SEQ)
    };
    for (name, value) in spec.headers.iter().filter(|(name, _)| !own(name)) {
        add(&mut map, name, value.trim_matches([' ', '\t']))?;
    }
    for (name, value) in spec.own_fields() {
        if !map.contains_key(name) {
            add(&mut map, name, &value)?;
        }
    }
    if spec.says_length() {
        map.insert(header::CONTENT_LENGTH, spec.body.len().into());
    }
    Ok(map)
}

fn add(map: &mut HeaderMap, name: &str, value: &str) -> Result<(), RequestError> {
    let field = HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| RequestError::FieldName(name.to_owned()))?;
    let value = HeaderValue::from_bytes(value.as_bytes())
        .map_err(|_| RequestError::FieldValue(name.to_owned()))?;
    map.append(field, value);
    Ok(())
}
