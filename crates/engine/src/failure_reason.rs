//! `FailureReason`: why a hit failed, with all that a text can say of it. Which words a row has is the caller's choice
//! ([`Settings::failure_text`](crate::Settings::failure_text)).

use std::borrow::Cow;
use std::fmt;
use std::io::Write;

use net::{Address, IoFailure};
use thiserror::Error;
use wire::content::ContentError;
use wire::h1::request::RequestError;
use wire::h1::response::DecodeError;
use wire::h2::H2Error;
use wire::tls::{TlsError, TlsSetupError};
use wire::url::UrlError;

/// Why a hit failed.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum FailureReason {
    /// The name was not resolved; the resolver's own text.
    #[error("{0}")]
    Lookup(String),
    /// The name has no address of the families that are wanted.
    #[error("no address to connect to")]
    NoAddress,
    /// Connecting failed.
    #[error("connecting{}: {failure}", shown(.to.as_ref()))]
    Connect {
        /// The address; `None` where it is not known any more.
        to: Option<Address>,
        /// The system's error text.
        failure: IoFailure,
    },
    /// A read from the socket failed.
    #[error("read: {0}")]
    Read(IoFailure),
    /// A write to the socket failed.
    #[error("write: {0}")]
    Write(IoFailure),
    /// TLS could not be set up.
    #[error("TLS: {0}")]
    TlsSetup(Box<TlsSetupError>),
    /// A handshake or a record of TLS failed.
    #[error("TLS: {0}")]
    Tls(Box<TlsError>),
    /// The target's URL cannot be requested.
    #[error("{0}")]
    Url(UrlError),
    /// The target makes no request.
    #[error("{0}")]
    Request(RequestError),
    /// The bytes received are not a response, or ended too early.
    #[error("{0}")]
    Response(DecodeError),
    /// The response's body cannot be decoded.
    #[error("{0}")]
    Content(ContentError),
    /// The HTTP/2 stream failed.
    #[error("HTTP/2: {0}")]
    Stream(H2Error),
    /// The response was not whole in time.
    #[error("timeout")]
    Timeout,
    /// There were more redirects than this limit.
    #[error("stopped after {0} redirects")]
    Redirects(u32),
    /// Any other reason.
    #[error("{0}")]
    Other(Cow<'static, str>),
}

/// A failed hit, as far as its text needs it.
#[derive(Clone, Copy, Debug)]
pub struct FailedHit<'a> {
    /// The request's method; empty if the hit had no request.
    pub method: &'a str,
    /// The request's URL, without a password; empty if the hit had no request.
    pub url: &'a str,
    /// Whether the response's head had come.
    pub in_body: bool,
    /// Why it failed.
    pub reason: &'a FailureReason,
}

/// Appends the text of a failed hit, in UTF-8. A worker calls it for each one: it must neither block nor lock.
#[derive(Clone, Copy)]
pub struct FailureText(pub fn(&FailedHit<'_>, &mut Vec<u8>));

impl FailureText {
    /// `METHOD URL: REASON` in plain words.
    pub(crate) const PLAIN: Self = Self(plain_text);

    /// Appends the text.
    pub(crate) fn write(self, hit: &FailedHit<'_>, out: &mut Vec<u8>) {
        (self.0)(hit, out);
    }
}

impl Default for FailureText {
    fn default() -> Self {
        Self::PLAIN
    }
}

impl fmt::Debug for FailureText {
    /// Without the function's address, which differs from run to run.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FailureText")
    }
}

fn plain_text(hit: &FailedHit<'_>, out: &mut Vec<u8>) {
    let FailedHit { method, url, reason, .. } = *hit;
    let written = match (method, url) {
        ("", "") => write!(out, "{reason}"),
        _ => write!(out, "{method} {url}: {reason}"),
    };
    written.expect("memory takes what is written");
}

/// ` to ADDRESS`, where it is known.
fn shown(address: Option<&Address>) -> String {
    match address {
        Some(Address::Ip(to)) => format!(" to {to}"),
        Some(Address::Unix(path)) => format!(" to {}", path.display()),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_name_what_was_asked() {
        let check = |method: &str, url: &str, reason: FailureReason, expect: &str| {
            let mut out = Vec::new();
            let hit = FailedHit { method, url, in_body: false, reason: &reason };
            plain_text(&hit, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), expect);
        };
        let to = Some(Address::Ip("127.0.0.1:1".parse().expect("an address")));
        let refused = FailureReason::Connect { to, failure: IoFailure::Refused };
        check(
            "GET",
            "http://h/",
            refused,
            "GET http://h/: connecting to 127.0.0.1:1: connection refused",
        );
        check("PUT", "http://h/", FailureReason::Timeout, "PUT http://h/: timeout");
        check("", "", FailureReason::Other("no target".into()), "no target");
    }
}
