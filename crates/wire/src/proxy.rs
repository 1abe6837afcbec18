//! `Proxy`: a proxy's address and how it is spoken to. `ProxyVariables`: which proxy a URL has. `NoProxy`: which hosts are asked directly, by the rules of Go's
//! `httpproxy`. Neither reads the environment or resolves a name.

use std::net::IpAddr;

use thiserror::Error;

use crate::socks5;
use crate::url::{Scheme, Url, UrlError, ascii_host, decode_escapes, without_zone};

/// How a proxy is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyScheme {
    /// HTTP in the clear.
    Http,
    /// HTTP over TLS.
    Https,
    /// SOCKS 5 (RFC 1928). Names are the proxy's to resolve, with `socks5` as with `socks5h`, as Go's client has it.
    Socks5,
}

/// A proxy's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// How it is spoken to.
    pub scheme: ProxyScheme,
    /// Its name or address, without brackets.
    pub host: String,
    /// Its port, given or by default: 80, 443 or 1080.
    pub port: u16,
    /// User and password, decoded.
    pub credentials: Option<(String, String)>,
}

/// Why a text is no address of a proxy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProxyError {
    /// The scheme is not one that is spoken.
    #[error("its scheme \"{0}\" is none of http, https, socks5, socks5h")]
    Scheme(String),
    /// What stands before `://` is no scheme.
    #[error(
        "what stands before its \"://\" is no scheme (expected http, https, socks5 or socks5h)"
    )]
    NoScheme,
    /// It begins with a scheme without `//`, which would be read as a user.
    #[error("\"//\" is missing after its scheme")]
    NoSlashes,
    /// What follows the scheme is no host with, perhaps, a port.
    #[error("{0}")]
    Url(#[from] UrlError),
    /// The user is empty or longer than SOCKS can say, or the password is longer. RFC 1929, 2.
    #[error("a SOCKS proxy's user has 1 to 255 bytes, and its password at most 255")]
    Credentials,
}

/// The schemes that are spoken.
const SCHEMES: [&str; 4] = ["http", "https", "socks5", "socks5h"];

fn starts_with_scheme(text: &str, scheme: &str) -> bool {
    let (begin, rest) = text.split_at_checked(scheme.len()).unwrap_or_default();
    begin.eq_ignore_ascii_case(scheme) && rest.starts_with(':')
}

impl Proxy {
    /// Reads `scheme://user:password@host:port`, of which scheme, credentials and port may be left out. What follows the
    /// port means nothing.
    ///
    /// # Errors
    /// The text is no such address, or of a scheme that is not spoken: nothing may be sent there then, since it is not known what
    /// would hold for a password.
    pub fn parse(text: &str) -> Result<Self, ProxyError> {
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (scheme.to_ascii_lowercase(), rest),
            None => ("http".to_owned(), text),
        };
        if rest.contains('@') && SCHEMES.iter().any(|scheme| starts_with_scheme(rest, scheme)) {
            return Err(ProxyError::NoSlashes);
        }
        let (scheme, default_port) = match scheme.as_str() {
            "http" => (ProxyScheme::Http, 80),
            "https" => (ProxyScheme::Https, 443),
            "socks5" | "socks5h" => (ProxyScheme::Socks5, 1080),
            // What is no scheme may be a password.
            _ if !scheme
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) =>
            {
                return Err(ProxyError::NoScheme);
            }
            _ => return Err(ProxyError::Scheme(scheme)),
        };
        let url = Url::parse(&format!("http://{rest}"))?;
        let names_port = url.authority.contains(':') && !url.authority.ends_with(']');
        let credentials = credentials(rest)?;
        if let (ProxyScheme::Socks5, Some((user, password))) = (scheme, &credentials)
            && (!(1..=socks5::TEXT_MAX).contains(&user.len()) || password.len() > socks5::TEXT_MAX)
        {
            return Err(ProxyError::Credentials);
        }
        let port = if names_port { url.port } else { default_port };
        Ok(Self { scheme, host: url.host, port, credentials })
    }

    /// The value of the `Proxy-Authorization` field that its credentials make. RFC 9110, 11.7.2.
    #[must_use]
    pub fn authorization(&self) -> Option<String> {
        let (user, password) = self.credentials.as_ref()?;
        Some(crate::h1::request::basic_authorization(&format!("{user}:{password}")))
    }
}

/// User and password of what follows a scheme. They are taken apart before they are decoded: a user may have an escaped colon.
fn credentials(rest: &str) -> Result<Option<(String, String)>, ProxyError> {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((info, _)) = authority.rsplit_once('@') else { return Ok(None) };
    let (user, password) = info.split_once(':').unwrap_or((info, ""));
    Ok(Some((decode_escapes(user)?, decode_escapes(password)?)))
}

/// The proxies that environment variables name, as they are written there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyVariables {
    /// For `http` URLs: `HTTP_PROXY`, or `ALL_PROXY`.
    pub http: Option<String>,
    /// For `https` URLs: `HTTPS_PROXY`, or `ALL_PROXY`.
    pub https: Option<String>,
    /// Hosts that are asked directly: `NO_PROXY`.
    pub no_proxy: String,
}

impl ProxyVariables {
    /// Reads them; names in capital letters come first, and empty values name nothing.
    #[must_use]
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let named = |name: &str| {
            let upper = variable(name).filter(|value| !value.is_empty());
            upper.or_else(|| variable(&name.to_lowercase())).filter(|value| !value.is_empty())
        };
        let of_all = named("ALL_PROXY");
        Self {
            http: named("HTTP_PROXY").or_else(|| of_all.clone()),
            https: named("HTTPS_PROXY").or(of_all),
            no_proxy: named("NO_PROXY").unwrap_or_default(),
        }
    }

    /// The proxy of a URL's requests; `None` if it is asked directly.
    ///
    /// # Errors
    /// The variable for its scheme names no proxy that is spoken: nothing may be sent then.
    pub fn proxy_of(&self, url: &Url) -> Result<Option<Proxy>, ProxyError> {
        let named = match url.scheme {
            Scheme::Https => &self.https,
            _ => &self.http,
        };
        match named {
            Some(named) if !NoProxy::parse(&self.no_proxy).is_direct(url) => {
                Proxy::parse(named).map(Some)
            }
            _ => Ok(None),
        }
    }
}

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
        let host = without_zone(&url.host).to_ascii_lowercase();
        // The dot of the root makes no other host of a name. RFC 1034, 3.1.
        let host = host.strip_suffix('.').unwrap_or(&host);
        let address = host.parse::<IpAddr>().ok().map(|address| address.to_canonical());
        let loopback = host == "localhost" || address.is_some_and(|address| address.is_loopback());
        loopback || self.rules.iter().any(|rule| rule.matches(host, address, url.port))
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
            return Self::network(address, bits);
        }
        if let Ok(address) = member.parse::<IpAddr>() {
            return Some(Self::Address(address.to_canonical(), None));
        }
        let (host, port) = match member.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().ok()?)),
            None => (member, None),
        };
        let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
        let host = host.strip_suffix('.').unwrap_or(host);
        if let Ok(address) = host.parse::<IpAddr>() {
            return Some(Self::Address(address.to_canonical(), port));
        }
        let host = host.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(host);
        let host = &*ascii_host(host)?;
        match host.strip_prefix('.') {
            _ if host.is_empty() => None,
            Some(_) => Some(Self::Domain { suffix: host.to_owned(), apex: false, port }),
            None => Some(Self::Domain { suffix: format!(".{host}"), apex: true, port }),
        }
    }

    /// A range of IPv4 in its form of IPv6 is the one of IPv4. RFC 4291, 2.5.5.2.
    fn network(address: IpAddr, bits: u32) -> Option<Self> {
        let (canonical, before) = (address.to_canonical(), width(address).checked_sub(bits)?);
        match width(canonical).checked_sub(before) {
            Some(bits) => Some(Self::Network(canonical, bits)),
            None => Some(Self::Network(address, bits)),
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
    fn a_url_has_the_proxy_of_its_scheme() {
        let variables = ProxyVariables::read(|name| {
            let value = match name {
                "http_proxy" => "http://lower:1",
                "HTTP_PROXY" => "",
                "ALL_PROXY" => "socks5://all:2",
                "NO_PROXY" => "10.0.0.0/8,direct.test",
                _ => return None,
            };
            Some(value.to_owned())
        });
        let of = |url: &str| {
            let proxy = variables.proxy_of(&Url::parse(url).unwrap()).unwrap();
            proxy.map(|proxy| (proxy.host, proxy.port))
        };
        assert_eq!(of("http://a.test/"), Some(("lower".to_owned(), 1)));
        assert_eq!(of("https://a.test/"), Some(("all".to_owned(), 2)));
        for direct in ["http://10.1.2.3/", "https://x.direct.test/", "http://localhost:8086/"] {
            assert_eq!(of(direct), None, "{direct}");
        }
        let strange = ProxyVariables { http: Some("ftp://p".to_owned()), ..Default::default() };
        let url = Url::parse("http://a.test/").unwrap();
        assert_eq!(strange.proxy_of(&url), Err(ProxyError::Scheme("ftp".to_owned())));
    }

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
            ("https://port.de.:8443/", true),
            ("http://localhost:9/", true),
            ("http://127.1.2.3/", true),
            ("http://[::1]/", true),
            ("http://[::1%25lo]/", true),
        ];
        for (url, direct) in cases {
            assert_eq!(no_proxy.is_direct(&Url::parse(url).expect(url)), direct, "{url}");
        }
    }

    #[test]
    fn a_proxy_is_spoken_to_by_its_scheme() {
        use ProxyScheme::{Http, Https, Socks5};
        for (text, scheme, host, port) in [
            ("proxy", Http, "proxy", 80),
            ("proxy:3128", Http, "proxy", 3128),
            ("us:pw@proxy:3128/", Http, "proxy", 3128),
            ("HTTP://proxy", Http, "proxy", 80),
            ("https://proxy", Https, "proxy", 443),
            ("https://[::1]", Https, "::1", 443),
            ("https://[::1]:80", Https, "::1", 80),
            ("socks5://proxy", Socks5, "proxy", 1080),
            ("socks5h://us:p%40w@proxy:9050", Socks5, "proxy", 9050),
        ] {
            let proxy = Proxy::parse(text).expect(text);
            assert_eq!((proxy.scheme, proxy.host.as_str(), proxy.port), (scheme, host, port));
        }
        let us = Proxy::parse("socks5h://us:p%40w@proxy:9050").expect("a proxy");
        assert_eq!(us.credentials, Some(("us".to_owned(), "p@w".to_owned())));
        let colon = Proxy::parse("socks5://us%3Aer:p:w@proxy").expect("a proxy");
        assert_eq!(colon.credentials, Some(("us:er".to_owned(), "p:w".to_owned())));
        let alone = Proxy::parse("http://us@proxy/?a=b:c@d").expect("a proxy");
        assert_eq!(alone.credentials, Some(("us".to_owned(), String::new())));
        let long = format!("socks5://{}:pw@proxy", "u".repeat(256));
        for text in ["socks4://p", "socks4a://p:1", "ftp://p", "://p", "socks://p", "quic://us:p@h"]
        {
            assert!(matches!(Proxy::parse(text), Err(ProxyError::Scheme(_))), "{text}");
        }
        for text in ["http://", "socks5:127.0.0.1:1080", "https:proxy:3128", "", "http://a b"] {
            assert!(matches!(Proxy::parse(text), Err(ProxyError::Url(_))), "{text}");
        }
        assert_eq!(Proxy::parse(&long), Err(ProxyError::Credentials));
        assert_eq!(Proxy::parse("socks5://:pw@h"), Err(ProxyError::Credentials));
    }

    #[test]
    fn names_that_are_not_ascii_are_known() {
        let url = Url::parse("http://www.b\u{fc}cher.example/").expect("a URL");
        assert!(NoProxy::parse("b\u{fc}cher.example").is_direct(&url));
        assert!(NoProxy::parse(".b\u{dc}cher.example").is_direct(&url));
        assert!(!NoProxy::parse("bucher.example").is_direct(&url));
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
        let mapped = Url::parse("http://[::ffff:10.0.0.1]/").expect("a URL");
        for (list, direct) in
            [("10.0.0.0/8", true), ("::ffff:10.0.0.0/104", true), ("::ffff:11.0.0.0/104", false)]
        {
            assert_eq!(NoProxy::parse(list).is_direct(&mapped), direct, "{list}");
        }
    }

    /// Neither a password that stands where a scheme should, nor a scheme that would be read as a user.
    #[test]
    fn what_is_no_scheme_is_refused_without_being_repeated() {
        let error = Proxy::parse("us:secret@x://h").expect_err("no scheme");
        assert!(error == ProxyError::NoScheme && !error.to_string().contains("secret"), "{error}");
        for text in ["https:us:secret@h:8443", "SOCKS5:us:secret@h", "http:us@h"] {
            assert_eq!(Proxy::parse(text), Err(ProxyError::NoSlashes), "{text}");
        }
        assert_eq!(Proxy::parse("https:8080").map(|proxy| proxy.host), Ok("https".to_owned()));
    }
}
