//! The proxy's own page, for a browser that is to trust its authority: a phone gets the certificate from here.

use http::{Method, Request, Response, StatusCode};

use super::client::Proxy;
use super::reply::{Reply, text, typed};

/// Where the certificate is.
const CERTIFICATE: &str = "/authority.pem";
/// The type by which phones offer to install it.
const CERTIFICATE_TYPE: &str = "application/x-x509-ca-cert";

const PAGE: &str = "<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'>\
<title>brunt record</title><body style='font-family:sans-serif;max-width:40em;margin:2em auto'>\
<h1>brunt record</h1><p>This is a recording proxy. Set it as the proxy of your browser or phone, and install its \
<a href=/authority.pem>certificate</a> there. Remove the certificate when you are done.\n";

/// Answers a request that is for the proxy itself: no other server is meant by it.
pub(super) fn answer<B>(proxy: &Proxy, request: &Request<B>) -> Response<Reply> {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    match request.uri().path() {
        _ if !is_read => text(StatusCode::METHOD_NOT_ALLOWED, "set this address as a proxy"),
        "/" => typed(StatusCode::OK, "text/html; charset=utf-8", PAGE.to_owned()),
        CERTIFICATE => {
            let pem = proxy.certificates.authority().pem();
            typed(StatusCode::OK, CERTIFICATE_TYPE, pem.to_owned())
        }
        _ => text(StatusCode::NOT_FOUND, "set this address as a proxy"),
    }
}
