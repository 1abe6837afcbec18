//! `Url`: an http or https address, cut into the parts that go on the wire.

use std::fmt;

use thiserror::Error;

/// How a server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// In the clear.
    Http,
    /// Over TLS.
    Https,
}

impl Scheme {
    /// The port where none is given.
    #[must_use]
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// An http or https address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// How the server is spoken to.
    pub scheme: Scheme,
    /// The host name or address, without brackets, as it is to be resolved.
    pub host: String,
    /// The port, given or by default.
    pub port: u16,
    /// Host and port as the `Host` field carries them.
    pub authority: String,
    /// The request target in origin form; begins with `/`.
    pub path_and_query: String,
    /// User and password (`user:password`, decoded), for Basic authentication.
    pub userinfo: Option<String>,
}

/// Why a text is not a URL that we can ask.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UrlError {
    /// The scheme is missing or neither http nor https.
    #[error("unsupported protocol scheme \"{0}\"")]
    Scheme(String),
    /// There is no host.
    #[error("http: no Host in request URL")]
    NoHost,
    /// The host holds characters that no host name has; names that are not ASCII must come in punycode.
    #[error("invalid host \"{0}\" in URL")]
    Host(String),
    /// The port is no number from 0 to 65535.
    #[error("invalid port \":{0}\" after host")]
    Port(String),
    /// A `%` without two hexadecimal digits after it.
    #[error("invalid URL escape \"{0}\"")]
    Escape(String),
    /// A control character.
    #[error("net/url: invalid control character in URL")]
    Control,
}

impl Url {
    /// Reads an absolute http or https URL.
    ///
    /// # Errors
    /// The text is not such a URL; the message is Go's where Go has one.
    pub fn parse(_text: &str) -> Result<Self, UrlError> {
        todo!()
    }

    /// The URL that a `Location` field means when it comes from here. RFC 3986, 5.2.
    ///
    /// # Errors
    /// The reference is not an http or https URL.
    pub fn join(&self, _location: &str) -> Result<Self, UrlError> {
        todo!()
    }
}

impl fmt::Display for Url {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}
