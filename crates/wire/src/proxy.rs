//! `NoProxy`: which hosts are asked directly, by the rules of Go's `httpproxy`. It reads no environment and resolves no
//! name.

use std::net::IpAddr;

use crate::url::Url;

/// The hosts that are asked without a proxy, from `NO_PROXY`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoProxy {
    rules: Vec<Rule>,
}

/// One member of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Rule {
    /// `*`
    All,
    /// `10.0.0.0/8`, `2001:db8::/32`
    Network(IpAddr, u32),
    /// `10.1.2.3`, `[::2]:8080`
    Address(IpAddr, Option<u16>),
    /// `example.com` (with its subdomains), `.example.com` (only those), each with its leading dot here.
    Domain { suffix: String, apex: bool, port: Option<u16> },
}

impl NoProxy {
    /// Reads a comma-separated list: names, `.suffix`, addresses, CIDR blocks, `*`, each but the last two with or without
    /// a port. What cannot be read is skipped, as Go does.
    #[must_use]
    pub fn parse(list: &str) -> Self {
        let members = list.split(',').map(|member| member.trim().to_ascii_lowercase());
        Self { rules: members.filter_map(|member| Rule::parse(&member)).collect() }
    }

    /// Whether `url` is asked directly. `localhost` and loopback addresses always are.
    #[must_use]
    pub fn is_direct(&self, url: &Url) -> bool {
        let host = url.host.to_ascii_lowercase();
        let address = host.parse::<IpAddr>().ok().map(|address| address.to_canonical());
        let loopback = host == "localhost" || address.is_some_and(|address| address.is_loopback());
        loopback || self.rules.iter().any(|rule| rule.matches(&host, address, url.port))
    }
}

impl Rule {
    /// Reads one member, in lower case.
    fn parse(member: &str) -> Option<Self> {
        if member == "*" {
            return Some(Self::All);
        }
        if let Some((address, bits)) = member.split_once('/') {
            let address: IpAddr = address.parse().ok()?;
            let bits = bits.parse().ok()?;
            return (bits <= width(address)).then_some(Self::Network(address, bits));
        }
        if let Ok(address) = member.parse::<IpAddr>() {
            return Some(Self::Address(address.to_canonical(), None));
        }
        let (host, port) = match member.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().ok()?)),
            None => (member, None),
        };
        let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
        if let Ok(address) = host.parse::<IpAddr>() {
            return Some(Self::Address(address.to_canonical(), port));
        }
        let host = host.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(host);
        match host.strip_prefix('.') {
            _ if host.is_empty() => None,
            Some(_) => Some(Self::Domain { suffix: host.to_owned(), apex: false, port }),
            None => Some(Self::Domain { suffix: format!(".{host}"), apex: true, port }),
        }
    }

    fn matches(&self, host: &str, address: Option<IpAddr>, port: u16) -> bool {
        match self {
            Self::All => true,
            Self::Network(network, bits) => {
                address.is_some_and(|address| same_network(address, *network, *bits))
            }
            Self::Address(of, at) => address == Some(*of) && at.is_none_or(|at| at == port),
            Self::Domain { suffix, apex, port: at } => {
                let named = host.ends_with(suffix) || (*apex && host == &suffix[1..]);
                named && at.is_none_or(|at| at == port)
            }
        }
    }
}

/// Bits of an address.
const fn width(address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

/// Whether two addresses of one family agree in their first `bits` bits.
fn same_network(a: IpAddr, b: IpAddr, bits: u32) -> bool {
    match (a, b) {
        (IpAddr::V4(a), IpAddr::V4(b)) => {
            let differing = a.to_bits() ^ b.to_bits();
            differing.leading_zeros() >= bits
        }
        (IpAddr::V6(a), IpAddr::V6(b)) => {
            let differing = a.to_bits() ^ b.to_bits();
            differing.leading_zeros() >= bits
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_httpproxy() {
        let list = "example.com, .sub.org,*.wild.net ,10.0.0.0/8,192.168.1.1:8080,[2001:db8::1]:81,port.de:8443, , :80,x:y";
        let no_proxy = NoProxy::parse(list);
        let cases = [
            ("http://example.com/", true),
            ("http://EXAMPLE.com/", true),
            ("http://www.example.com/", true),
            ("http://notexample.com/", false),
            ("http://sub.org/", false),
            ("http://a.sub.org/", true),
            ("http://wild.net/", false),
            ("http://a.wild.net/", true),
            ("http://10.255.0.1/", true),
            ("http://11.0.0.1/", false),
            ("http://192.168.1.1:8080/", true),
            ("http://192.168.1.1/", false),
            ("http://[2001:db8::1]:81/", true),
            ("http://[2001:db8::1]/", false),
            ("https://port.de:8443/", true),
            ("https://port.de/", false),
            ("http://localhost:9/", true),
            ("http://127.1.2.3/", true),
            ("http://[::1]/", true),
        ];
        for (url, direct) in cases {
            assert_eq!(no_proxy.is_direct(&Url::parse(url).expect(url)), direct, "{url}");
        }
    }

    #[test]
    fn a_star_is_everything_and_nothing_is_nothing() {
        let url = Url::parse("http://example.com/").expect("a URL");
        assert!(NoProxy::parse("*").is_direct(&url));
        assert!(!NoProxy::parse("").is_direct(&url));
        assert!(!NoProxy::parse("10.0.0.0/33").is_direct(&url));
        let v6 = Url::parse("http://[2001:db8::7]/").expect("a URL");
        assert!(NoProxy::parse("2001:db8::/32").is_direct(&v6));
        assert!(NoProxy::parse("::/0").is_direct(&v6));
        assert!(!NoProxy::parse("0.0.0.0/0").is_direct(&v6));
    }
}
