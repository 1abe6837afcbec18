//! `Route`: the way to an origin: straight, through a proxy, or a Unix socket; and what is dialled for it.

use std::path::PathBuf;

use wire::proxy::{NoProxy, Proxy, ProxyError, ProxyScheme};
use wire::url::{Scheme, Url};
use workload::{TargetList, TargetRef};

use crate::host_policy::{HostRule, is_same_host};
use crate::settings::Settings;

/// The way to an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// Straight to `name:port`.
    Direct,
    /// A Unix socket, whatever the URL says.
    Unix(PathBuf),
    /// Through a proxy that is asked with absolute addresses.
    Forward(HttpProxy),
    /// Through a tunnel that a proxy opens.
    Tunnel(HttpProxy),
    /// Through a tunnel that a SOCKS proxy opens; with user and password for it.
    Socks(Option<(String, String)>),
}

/// A proxy that speaks HTTP: its credentials, and its TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HttpProxy {
    pub(crate) authorization: Option<String>,
    /// The name that its certificate must have, where it is spoken to over TLS.
    pub(crate) tls_name: Option<String>,
}

impl Route {
    /// The name of the proxy that is spoken to over TLS, if one is.
    pub(crate) fn proxy_tls_name(&self) -> Option<&str> {
        match self {
            Self::Forward(proxy) | Self::Tunnel(proxy) => proxy.tls_name.as_deref(),
            Self::Direct | Self::Unix(_) | Self::Socks(_) => None,
        }
    }
}

/// What is dialled: a name or address, and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// What connections to an origin are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Requests.
    Http,
    /// They leave HTTP, as those of WebSockets do.
    Upgrade,
}

/// The way to an origin, the gate's names put in the place of what is dialled.
pub(crate) fn route(url: &Url, purpose: Purpose, settings: &Settings) -> (Route, Vec<Endpoint>) {
    let (route, endpoints) = way(url, purpose, settings);
    (route, endpoints.into_iter().flat_map(|endpoint| fixed(endpoint, settings)).collect())
}

/// An endpoint, or the fixed addresses that its name has.
fn fixed(endpoint: Endpoint, settings: &Settings) -> Vec<Endpoint> {
    let policy = &settings.host_policy;
    let rules = policy.hosts(&endpoint.host, endpoint.port);
    if rules.is_empty() || policy.blocks_name(&endpoint.host).is_some() {
        return vec![endpoint];
    }
    let of = |rule: &&HostRule| Endpoint {
        host: rule.ip.to_string(),
        port: rule.to_port.unwrap_or(endpoint.port),
    };
    rules.iter().map(of).collect()
}

/// The way to an origin: a Unix socket wins over everything, `-connect-to` over a proxy.
fn way(url: &Url, purpose: Purpose, settings: &Settings) -> (Route, Vec<Endpoint>) {
    let own = Endpoint { host: url.host.clone(), port: url.port };
    if let Some(path) = &settings.unix_socket {
        return (Route::Unix(path.clone()), vec![own]);
    }
    let mut instead: Vec<Endpoint> = settings
        .connect_to
        .iter()
        .filter(|(from, _)| names(from, &url.host, url.port))
        .filter_map(|(_, to)| split_host_port(to))
        .collect();
    if !instead.is_empty() {
        // As Vegeta does, the turns begin with the second.
        if instead.len() > 1 {
            instead.rotate_left(1);
        }
        return (Route::Direct, instead);
    }
    let Some(proxy) = proxy_of(url, settings) else { return (Route::Direct, vec![own]) };
    let route = match proxy.scheme {
        ProxyScheme::Socks5 => Route::Socks(proxy.credentials),
        ProxyScheme::Http | ProxyScheme::Https => {
            let tls_name = (proxy.scheme == ProxyScheme::Https).then(|| proxy.host.clone());
            let http = HttpProxy { authorization: proxy.authorization(), tls_name };
            // RFC 6455, 4.1: a WebSocket asks for a tunnel also where it is not secure. A proxy that forwards drops `Upgrade`.
            let tunnels = purpose == Purpose::Upgrade || url.scheme == Scheme::Https;
            if tunnels { Route::Tunnel(http) } else { Route::Forward(http) }
        }
    };
    (route, vec![Endpoint { host: proxy.host, port: proxy.port }])
}

/// The proxy for an origin.
fn proxy_of(url: &Url, settings: &Settings) -> Option<Proxy> {
    let proxies = &settings.proxy;
    let proxy = match url.scheme {
        Scheme::Https => proxies.https.as_ref()?,
        Scheme::Http => proxies.http.as_ref()?,
    };
    if NoProxy::parse(&proxies.no_proxy).is_direct(url) {
        return None;
    }
    // What cannot be read has ended the run before its start, unless no target wanted it; then a redirect finds nothing there.
    Some(Proxy::parse(proxy).unwrap_or_else(|_| Proxy {
        scheme: ProxyScheme::Http,
        host: NOWHERE.to_owned(),
        port: 80,
        credentials: None,
    }))
}

/// A name that no address is ever found for. RFC 6761, 6.4.
const NOWHERE: &str = "proxy.invalid";

/// Refuses proxies that cannot be spoken to; gives whether one is spoken to over TLS. Where targets are known and all of them asked
/// directly, a proxy that cannot be read is left alone: desktops set `ALL_PROXY` for every program.
///
/// # Errors
/// A proxy's address, without its password, and what is wrong with it.
pub(crate) fn check_proxies(
    settings: &Settings,
    targets: &TargetList,
) -> Result<bool, (String, ProxyError)> {
    let no_proxy = NoProxy::parse(&settings.proxy.no_proxy);
    let is_direct =
        |target: TargetRef<'_>| Url::parse(target.url).is_ok_and(|url| no_proxy.is_direct(&url));
    let is_unused =
        settings.unix_socket.is_some() || (!targets.is_empty() && targets.iter().all(is_direct));
    let mut is_secure = false;
    for text in [&settings.proxy.http, &settings.proxy.https].into_iter().flatten() {
        match Proxy::parse(text) {
            Ok(proxy) => is_secure |= proxy.scheme == ProxyScheme::Https,
            Err(_) if is_unused => {}
            Err(error) => return Err((without_credentials(text), error)),
        }
    }
    Ok(is_secure)
}

/// A proxy's address as a message has it. What stands before the last `@` may be a password, also where the text is no URL.
fn without_credentials(text: &str) -> String {
    match text.rsplit_once('@') {
        Some((_, host)) => format!("***@{host}"),
        None => text.to_owned(),
    }
}

/// Whether `host:port` of a `-connect-to` is this host and port: names are compared whatever their case, addresses whatever their
/// spelling.
pub(crate) fn names(text: &str, host: &str, port: u16) -> bool {
    split_host_port(text).is_some_and(|of| of.port == port && is_same_host(&of.host, host))
}

pub(crate) fn join_host_port(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// `host:port` or `[v6]:port`, taken apart.
fn split_host_port(text: &str) -> Option<Endpoint> {
    let (host, port) = text.rsplit_once(':')?;
    let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
    Some(Endpoint { host: host.to_owned(), port: port.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route_to(url: &str, purpose: Purpose, settings: &Settings) -> Route {
        route(&Url::parse(url).expect("a URL"), purpose, settings).0
    }

    #[test]
    fn regression_issue_41_a_name_may_have_several_addresses() {
        let rule = |name: &str, ip: &str, to_port: Option<u16>| HostRule {
            name: name.to_owned(),
            port: None,
            ip: ip.parse().expect("an address"),
            to_port,
        };
        let mut settings = Settings::default();
        settings.host_policy.hosts = vec![
            rule("*.test", "192.0.2.9", None),
            rule("a.test", "192.0.2.1", None),
            rule("a.test", "192.0.2.2", Some(81)),
        ];
        let dialled = |url: &str| {
            let endpoints = route(&Url::parse(url).expect("a URL"), Purpose::Http, &settings).1;
            endpoints.into_iter().map(|one| join_host_port(&one.host, one.port)).collect::<Vec<_>>()
        };
        assert_eq!(dialled("http://a.test/"), ["192.0.2.1:80", "192.0.2.2:81"]);
        assert_eq!(dialled("http://b.test/"), ["192.0.2.9:80"]);
        assert_eq!(dialled("http://c/"), ["c:80"]);
        let rotation = crate::endpoint_rotation::EndpointRotation::of(&settings);
        assert_ne!(rotation.next("a.test", 80), rotation.next("a.test", 80));
    }

    #[test]
    fn regression_issue_41_a_proxy_is_spoken_to_by_its_scheme() {
        let with = |proxy: &str| {
            let mut settings = Settings::default();
            (settings.proxy.http, settings.proxy.https) =
                (Some(proxy.to_owned()), Some(proxy.to_owned()));
            settings
        };
        let http = |name: Option<&str>| HttpProxy {
            authorization: Some("Basic dTpw".to_owned()),
            tls_name: name.map(str::to_owned),
        };
        let plain = with("http://u:p@proxy.test:1");
        let secure = with("https://u:p@proxy.test:1");
        let socks = with("socks5h://u:p@proxy.test:1");
        assert_eq!(route_to("http://a.test/", Purpose::Http, &plain), Route::Forward(http(None)));
        assert_eq!(route_to("https://a.test/", Purpose::Http, &plain), Route::Tunnel(http(None)));
        assert_eq!(route_to("http://a.test/", Purpose::Upgrade, &plain), Route::Tunnel(http(None)));
        let named = Some("proxy.test");
        assert_eq!(route_to("http://a.test/", Purpose::Http, &secure), Route::Forward(http(named)));
        assert_eq!(route_to("https://a.test/", Purpose::Http, &secure), Route::Tunnel(http(named)));
        let user = Some(("u".to_owned(), "p".to_owned()));
        assert_eq!(route_to("http://a.test/", Purpose::Http, &socks), Route::Socks(user));
        assert_eq!(route_to("http://[::ffff:127.0.0.1]/", Purpose::Upgrade, &socks), Route::Direct);
        assert_eq!(check_proxies(&secure, &TargetList::default()), Ok(true));
        assert_eq!(check_proxies(&socks, &TargetList::default()), Ok(false));
        let (shown, error) =
            check_proxies(&with("socks4://u:p@proxy.test:1"), &TargetList::default()).unwrap_err();
        assert!(!shown.contains("u:p@"), "{shown}");
        assert_eq!(error, ProxyError::Scheme("socks4".to_owned()));
    }

    #[test]
    fn regression_issue_41_a_proxy_that_cannot_be_read_is_named_without_its_password() {
        for text in ["us:secret@h:x1", "us:sec/ret@h:x1", "us:secret@x://h", "ftp://us:secret@h"] {
            let mut settings = Settings::default();
            settings.proxy.http = Some(text.to_owned());
            let (shown, error) =
                check_proxies(&settings, &TargetList::default()).expect_err("no proxy");
            let words = format!("{shown}: {error}");
            assert!(!words.contains("sec"), "{words}");
        }
    }

    #[test]
    fn regression_issue_41_a_proxy_that_no_target_wants_is_left_alone() {
        let mut settings = Settings::default();
        settings.proxy.http = Some("socks://127.0.0.1:1080/".to_owned());
        let target = |url: &str| workload::Target {
            method: "GET".to_owned(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: [].into(),
            weight: 1,
            name: String::new(),
        };
        let here = target("http://127.0.0.1:8080/");
        assert_eq!(check_proxies(&settings, &vec![here.clone()].into()), Ok(false));
        let away = target("http://a.test/");
        assert!(check_proxies(&settings, &vec![here, away].into()).is_err());
        // A redirect away from here does not go there directly.
        assert_ne!(route_to("http://a.test/", Purpose::Http, &settings), Route::Direct);
    }

    #[test]
    fn regression_issue_41_hosts_are_compared_as_what_they_are() {
        for (text, host, port, expect) in [
            ("A.TEST:80", "a.test", 80, true),
            ("a.test:80", "a.test", 81, false),
            ("[::1]:80", "0:0::1", 80, true),
            ("[::ffff:10.0.0.1]:80", "10.0.0.1", 80, true),
            ("10.0.0.1:80", "::ffff:a00:1", 80, true),
            ("10.0.0.1:80", "10.0.0.2", 80, false),
        ] {
            assert_eq!(names(text, host, port), expect, "{text} {host}");
        }
    }
}
