//! `Target`: the server that a client means.

use http::Uri;
use http::uri::Authority;

/// A scheme of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    Http,
    Https,
}

impl Scheme {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// A name, or an address without brackets.
    pub(super) host: String,
    pub(super) port: u16,
}

impl Target {
    /// The target of a CONNECT; none without a port: RFC 9110, 9.3.6.
    pub(super) fn of_connect(uri: &Uri) -> Option<Self> {
        let authority = uri.authority()?;
        Self::of(authority, authority.port_u16()?)
    }

    /// The target of a request with a whole address.
    pub(super) fn of_uri(uri: &Uri, scheme: Scheme) -> Option<Self> {
        let authority = uri.authority()?;
        let port = match authority.port() {
            Some(_) => authority.port_u16()?,
            None => scheme.port(),
        };
        Self::of(authority, port)
    }

    fn of(authority: &Authority, port: u16) -> Option<Self> {
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        let is_usable = !host.is_empty() && port != 0 && !authority.as_str().contains('@');
        is_usable.then(|| Self { host: host.to_owned(), port })
    }

    /// Host and port as an address has them: without the scheme's own port.
    pub(super) fn authority(&self, scheme: Scheme) -> String {
        let host = match self.host.contains(':') {
            true => format!("[{}]", self.host),
            false => self.host.clone(),
        };
        if self.port == scheme.port() { host } else { format!("{host}:{}", self.port) }
    }

    /// The whole address of a request for this path.
    pub(super) fn url(&self, scheme: Scheme, uri: &Uri) -> String {
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let path = if path.starts_with('/') { path } else { "/" };
        format!("{}://{}{path}", scheme.word(), self.authority(scheme))
    }
}

/// The scheme of an address that a proxy is asked for; none in the form that servers are asked.
pub(super) fn scheme_of(uri: &Uri) -> Option<Scheme> {
    match uri.scheme_str()? {
        "http" | "ws" => Some(Scheme::Http),
        "https" | "wss" => Some(Scheme::Https),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_connect_have_a_port() {
        for (text, expect) in [
            ("shop.example:443", Some(("shop.example", 443))),
            ("[::1]:8443", Some(("::1", 8443))),
            ("shop.example", None),
            ("shop.example:0", None),
            ("shop.example:99999", None),
            ("user@shop.example:443", None),
            ("/path", None),
        ] {
            let target = text.parse().ok().and_then(|uri| Target::of_connect(&uri));
            let pair = target.as_ref().map(|target| (&*target.host, target.port));
            assert_eq!(pair, expect, "{text}");
        }
    }

    #[test]
    fn addresses_have_the_port_where_it_is_not_the_schemes_own() {
        for (text, expect) in [
            ("http://a.test", "http://a.test/"),
            ("http://a.test:80/x?y=1", "http://a.test/x?y=1"),
            ("https://a.test:80/", "https://a.test:80/"),
            ("http://[::1]:3000/a", "http://[::1]:3000/a"),
            ("wss://a.test/cable", "https://a.test/cable"),
        ] {
            let uri: Uri = text.parse().unwrap();
            let scheme = scheme_of(&uri).unwrap();
            assert_eq!(Target::of_uri(&uri, scheme).unwrap().url(scheme, &uri), expect);
        }
        assert_eq!(scheme_of(&"ftp://a.test/".parse().unwrap()), None);
        assert_eq!(scheme_of(&"/".parse().unwrap()), None);
    }
}
