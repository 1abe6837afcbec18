//! What ab is asked to ask: its URL, cut as ab cuts it, and its proxy.

use super::flags::atoi;

/// A URL as ab reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// The URL as it was typed, which is what a proxy is asked for.
    pub(super) typed: String,
    pub(super) secure: bool,
    /// Name or address, without brackets.
    pub(super) hostname: String,
    pub(super) port: u16,
    /// Everything from the first slash on, a fragment included.
    pub(super) path: String,
}

impl Address {
    /// Reads `[http[s]://]hostname[:port]/path`; `None` where it is not one.
    pub(super) fn parse(typed: &str) -> Option<Self> {
        let (secure, rest) = match (typed.strip_prefix("http://"), typed.strip_prefix("https://")) {
            (Some(rest), _) => (false, rest),
            (None, Some(rest)) => (true, rest),
            (None, None) => (false, typed),
        };
        let (authority, path) = rest.split_at(rest.find('/')?);
        let (hostname, port) = split_port(authority)?;
        if hostname.is_empty() {
            return None;
        }
        Some(Self {
            typed: typed.to_owned(),
            secure,
            hostname: hostname.to_owned(),
            port: port.unwrap_or(default_port(secure)),
            path: path.to_owned(),
        })
    }

    /// The value of the `Host` field: with the port unless it is the scheme's default.
    pub(super) fn host_field(&self) -> String {
        let host = bracketed(&self.hostname);
        if self.port == default_port(self.secure) { host } else { format!("{host}:{}", self.port) }
    }

    /// A URL of the place that is connected to.
    pub(super) fn url(&self) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        format!("{scheme}://{}:{}/", bracketed(&self.hostname), self.port)
    }
}

/// A proxy as ab reads it: what is no port is port 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proxy {
    pub(super) host: String,
    pub(super) port: u16,
}

impl Proxy {
    pub(super) fn parse(text: &str) -> Self {
        let (host, port) = text.split_once(':').unwrap_or((text, ""));
        Self { host: host.to_owned(), port: u16::try_from(atoi(port)).unwrap_or(0) }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}:{}/", self.host, self.port)
    }
}

/// Cuts a port off. What follows the last colon is one only if it is all digits; `None` where no port has that number.
fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, digits)) if is_number(digits) => {
            (host, Some(digits.parse().ok().filter(|&port| port > 0)?))
        }
        _ => (authority, None),
    };
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    Some((bare.unwrap_or(host), port))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn bracketed(hostname: &str) -> String {
    if hostname.contains(':') { format!("[{hostname}]") } else { hostname.to_owned() }
}

const fn default_port(secure: bool) -> u16 {
    if secure { 443 } else { 80 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_cut_as_ab_cuts_them() {
        let cases = [
            ("http://h/", "h", 80, "/", "h"),
            ("h:8080//x?y#z", "h", 8080, "//x?y#z", "h:8080"),
            ("https://h/p", "h", 443, "/p", "h"),
            ("https://h:80/p", "h", 80, "/p", "h:80"),
            ("http://h:80/", "h", 80, "/", "h"),
            ("http://H:81/a b", "H", 81, "/a b", "H:81"),
            ("http://[::1]:81/", "::1", 81, "/", "[::1]:81"),
            ("http://h:abc/", "h:abc", 80, "/", "[h:abc]"),
            ("ftp://h/", "ftp:", 80, "//h/", "[ftp:]"),
        ];
        for (typed, hostname, port, path, field) in cases {
            let address = Address::parse(typed).expect(typed);
            let Address { hostname: h, port: p, path: t, .. } = &address;
            assert_eq!((h.as_str(), *p, t.as_str()), (hostname, port, path), "{typed}");
            assert_eq!(address.host_field(), field, "{typed}");
        }
    }

    #[test]
    fn malformed_urls_are_refused() {
        for typed in ["http://h", "h", "", "/", "http:///x", "http://h:99999/", "http://h:0/"] {
            assert_eq!(Address::parse(typed), None, "{typed}");
        }
    }

    #[test]
    fn proxies_are_taken_as_they_come() {
        assert_eq!(Proxy::parse("p:81"), Proxy { host: "p".to_owned(), port: 81 });
        assert_eq!(Proxy::parse("p").port, 0);
        assert_eq!(Proxy::parse("p:x").port, 0);
        assert_eq!(Proxy::parse("p:99999").port, 0);
    }
}
