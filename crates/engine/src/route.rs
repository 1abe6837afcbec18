//! `Route`: the way to an origin: straight, through a proxy, or a Unix socket; and what is dialled for it.

use std::path::PathBuf;

use wire::proxy::NoProxy;
use wire::url::{Scheme, Url};

use crate::settings::Settings;

/// The way to an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// Straight to `name:port`.
    Direct,
    /// A Unix socket, whatever the URL says.
    Unix(PathBuf),
    /// Through a proxy that is asked with absolute addresses.
    Forward { authorization: Option<String> },
    /// Through a tunnel that a proxy opens.
    Tunnel { authorization: Option<String> },
}

/// What is dialled: a name or address, and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// The way to an origin, the gate's names put in the place of what is dialled.
pub(crate) fn route(url: &Url, settings: &Settings) -> (Route, Vec<Endpoint>) {
    let (route, mut endpoints) = way(url, settings);
    for endpoint in &mut endpoints {
        if let Some(rule) = settings.host_policy.host(&endpoint.host, endpoint.port)
            && settings.host_policy.blocks_name(&endpoint.host).is_none()
        {
            endpoint.host = rule.ip.to_string();
            endpoint.port = rule.to_port.unwrap_or(endpoint.port);
        }
    }
    (route, endpoints)
}

/// The way to an origin: a Unix socket wins over everything, `-connect-to` over a proxy.
fn way(url: &Url, settings: &Settings) -> (Route, Vec<Endpoint>) {
    let own = Endpoint { host: url.host.clone(), port: url.port };
    if let Some(path) = &settings.unix_socket {
        return (Route::Unix(path.clone()), vec![own]);
    }
    let authority = join_host_port(&url.host, url.port);
    let mut instead: Vec<Endpoint> = settings
        .connect_to
        .iter()
        .filter(|(from, _)| *from == authority)
        .filter_map(|(_, to)| split_host_port(to))
        .collect();
    if !instead.is_empty() {
        // As Vegeta does, the turns begin with the second.
        if instead.len() > 1 {
            instead.rotate_left(1);
        }
        return (Route::Direct, instead);
    }
    let secure = url.scheme == Scheme::Https;
    match proxy_of(url, settings) {
        Some((proxy, authorization)) if secure => (Route::Tunnel { authorization }, vec![proxy]),
        Some((proxy, authorization)) => (Route::Forward { authorization }, vec![proxy]),
        None => (Route::Direct, vec![own]),
    }
}

/// The proxy for an origin and the `Proxy-Authorization` it wants.
fn proxy_of(url: &Url, settings: &Settings) -> Option<(Endpoint, Option<String>)> {
    let proxies = &settings.proxy;
    let proxy = match url.scheme {
        Scheme::Https => proxies.https.as_ref()?,
        Scheme::Http => proxies.http.as_ref()?,
    };
    if NoProxy::parse(&proxies.no_proxy).is_direct(url) {
        return None;
    }
    let url = parse_proxy(proxy)?;
    let authorization = url.userinfo.as_deref().map(wire::h1::request::basic_authorization);
    Some((Endpoint { host: url.host, port: url.port }, authorization))
}

/// A proxy's address; the scheme may be left out.
pub(crate) fn parse_proxy(text: &str) -> Option<Url> {
    Url::parse(text).or_else(|_| Url::parse(&format!("http://{text}"))).ok()
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
