//! A script's options of names, addresses, TLS and proxies, as settings of the engine.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use engine::{
    AddressFamily, AllProxy, ClientIdentity, DnsPick, DnsTtl, FirstAddress, HostPolicy, HostRule,
    IpRange, ProxySettings, Settings,
};
use script::{DnsOptions, HttpOptions, HttpPlan, HttpRules, Options, RateLimit, TlsIdentity};
use stdx::Nanos;
use wire::tls::rustls::CipherSuite;
use wire::tls::{Versions, suite_of_iana};
use wire::url::ascii_host;

use crate::flags::RunFlags;

/// The options of the network.
#[derive(Clone, Debug)]
pub(super) struct Network {
    host_policy: HostPolicy,
    dns_ttl: DnsTtl,
    dns_pick: DnsPick,
    local_addrs: Vec<IpAddr>,
    versions: Versions,
    suites: Vec<CipherSuite>,
    identities: Vec<ClientIdentity>,
    proxy: ProxySettings,
}

/// The most local addresses, whatever the ranges hold.
const LOCAL_MAX: usize = 65_536;

impl Network {
    /// Reads what the options of a run with these flags say. k6 does not know `ALL_PROXY`.
    ///
    /// # Errors
    /// A value is malformed; the text names the option.
    pub(super) fn of(flags: &RunFlags, options: &HttpOptions) -> Result<Self, String> {
        let all_proxy = if flags.compat { AllProxy::Ignored } else { AllProxy::Read };
        Self::read(options, all_proxy)
    }

    fn read(options: &HttpOptions, all_proxy: AllProxy) -> Result<Self, String> {
        let (dns_ttl, dns_pick) = dns(&options.dns)?;
        let hosts = options.hosts.iter().map(|(name, to)| host(name, to));
        let blocked = options.blocked_nets.iter().map(|text| {
            IpRange::parse(text)
                .ok_or_else(|| format!("blacklistIPs: \"{text}\" is no range such as 10.0.0.0/8"))
        });
        let host_policy = HostPolicy {
            hosts: hosts.collect::<Result<_, _>>()?,
            blocked_names: options.blocked_names.iter().map(|name| ascii_name(name)).collect(),
            blocked_nets: blocked.collect::<Result<_, _>>()?,
        };
        Ok(Self {
            host_policy,
            dns_ttl,
            dns_pick,
            local_addrs: options.local_ips.as_deref().map_or(Ok(Vec::new()), local_addresses)?,
            versions: versions(&options.tls_version)?,
            suites: suites(&options.tls_suites)?,
            identities: options.tls_auth.iter().map(identity).collect::<Result<_, _>>()?,
            proxy: ProxySettings::of_environment(all_proxy, |name| std::env::var(name).ok()),
        })
    }

    /// Writes them into the engine's settings.
    pub(super) fn set(&self, settings: &mut Settings) {
        settings.host_policy = self.host_policy.clone();
        (settings.dns_ttl, settings.dns_pick) = (self.dns_ttl, self.dns_pick);
        settings.local_addrs.clone_from(&self.local_addrs);
        settings.tls.versions = self.versions;
        settings.tls.suites.clone_from(&self.suites);
        settings.tls.identities.clone_from(&self.identities);
        settings.tls.log_keys = std::env::var_os("SSLKEYLOGFILE").is_some();
        settings.proxy = self.proxy.clone();
        settings.own_connections = true;
    }
}

/// The `User-Agent` of requests, unless the script sets one.
const USER_AGENT: &str = concat!("brunt/", env!("CARGO_PKG_VERSION"));

/// What requests of a stage have in common.
pub(super) fn http_plan(options: &Options) -> HttpPlan {
    let http = &options.http;
    let user_agent = options.user_agent.clone().unwrap_or_else(|| USER_AGENT.to_owned());
    HttpPlan {
        rules: HttpRules { throws: http.throws, keeps_cookies: http.keeps_cookies },
        max_redirects: options.max_redirects,
        discard_bodies: options.discard_bodies,
        default_headers: [("User-Agent".to_owned(), user_agent)].into(),
        batch: options.batch,
        warns_of_redirects: !http.says_redirects,
        closes_connections: http.closes_connections,
        debug: http.debug,
        pace: http.rps.map(|rps| Arc::new(RateLimit::new(rps))),
    }
}

/// A name of `hosts`, perhaps with a port, and the address it means.
fn host(name: &str, to: &str) -> Result<HostRule, String> {
    let wrong =
        || format!("hosts: \"{to}\" of \"{name}\" is neither an address nor an address and a port");
    let (ip, to_port) = match to.parse::<SocketAddr>() {
        Ok(address) => (address.ip(), Some(address.port())),
        Err(_) => (to.trim_matches(['[', ']']).parse().map_err(|_| wrong())?, None),
    };
    let (name, port) = match name.rsplit_once(':').map(|(name, port)| (name, port.parse::<u16>())) {
        Some((name, Ok(port))) => (name, Some(port)),
        _ => (name, None),
    };
    let name = ascii_name(name);
    Ok(HostRule { name: name.to_ascii_lowercase(), port, ip, to_port })
}

/// A name or pattern as hosts of URLs are: in punycode.
fn ascii_name(name: &str) -> String {
    ascii_host(name).map_or_else(|| name.to_owned(), Cow::into_owned)
}

fn dns(options: &DnsOptions) -> Result<(DnsTtl, DnsPick), String> {
    let ttl = match options.ttl.as_deref() {
        None | Some("") => DnsTtl::For(Nanos::from_secs(300)),
        Some("inf") => DnsTtl::Forever,
        Some(text) => {
            let bare = || text.parse().ok().map(Nanos::from_millis);
            let ttl = Nanos::parse(text).ok().or_else(bare);
            match ttl.ok_or_else(|| format!("dns.ttl: \"{text}\" is no time"))? {
                Nanos::ZERO => DnsTtl::Never,
                ttl => DnsTtl::For(ttl),
            }
        }
    };
    let first = match options.select.as_deref() {
        None | Some("" | "random") => FirstAddress::Random,
        Some("first") => FirstAddress::First,
        Some("roundRobin") => FirstAddress::InTurn,
        Some(other) => {
            return Err(format!("dns.select: \"{other}\" is none of first, random, roundRobin"));
        }
    };
    let family = match options.policy.as_deref() {
        None | Some("" | "preferIPv4") => AddressFamily::PreferV4,
        Some("preferIPv6") => AddressFamily::PreferV6,
        Some("onlyIPv4") => AddressFamily::OnlyV4,
        Some("onlyIPv6") => AddressFamily::OnlyV6,
        Some("any") => AddressFamily::Any,
        Some(other) => {
            return Err(format!(
                "dns.policy: \"{other}\" is none of preferIPv4, preferIPv6, onlyIPv4, onlyIPv6, any"
            ));
        }
    };
    Ok((ttl, DnsPick { first, family }))
}

/// `address`, `from-to` and `address/bits`, with commas between.
fn local_addresses(list: &str) -> Result<Vec<IpAddr>, String> {
    let mut addresses = Vec::new();
    for text in list.split(',').map(str::trim).filter(|text| !text.is_empty()) {
        let wrong = || format!("localIPs: \"{text}\" is no address, range or network");
        let (from, to) = match (text.split_once('-'), text.split_once('/')) {
            (Some((from, to)), _) => {
                (number(from).ok_or_else(wrong)?, number(to).ok_or_else(wrong)?)
            }
            (None, Some((ip, bits))) => {
                let (start, v4) = number(ip).ok_or_else(wrong)?;
                let width = if v4 { 32 } else { 128 };
                let bits: u32 =
                    bits.parse().ok().filter(|bits| *bits <= width).ok_or_else(wrong)?;
                let host = u128::MAX.checked_shr(128 - (width - bits)).unwrap_or(0);
                ((start & !host, v4), (start | host, v4))
            }
            (None, None) => {
                let one = number(text).ok_or_else(wrong)?;
                (one, one)
            }
        };
        if from.1 != to.1 || from.0 > to.0 {
            return Err(wrong());
        }
        for ip in from.0..=to.0 {
            if addresses.len() == LOCAL_MAX {
                return Err(format!("localIPs: more than {LOCAL_MAX} addresses"));
            }
            addresses.push(address(ip, from.1));
        }
    }
    Ok(addresses)
}

/// An address as a number, and whether it is one of IPv4.
fn number(text: &str) -> Option<(u128, bool)> {
    match text.trim().parse().ok()? {
        IpAddr::V4(ip) => Some((u128::from(ip.to_bits()), true)),
        IpAddr::V6(ip) => Some((ip.to_bits(), false)),
    }
}

fn address(number: u128, v4: bool) -> IpAddr {
    if v4 { IpAddr::V4((number as u32).into()) } else { IpAddr::V6(number.into()) }
}

fn versions((min, max): &(Option<String>, Option<String>)) -> Result<Versions, String> {
    let rank = |version: &Option<String>, default: u8| match version.as_deref() {
        None | Some("") => Ok(default),
        Some("tls1.0") => Ok(0),
        Some("tls1.1") => Ok(1),
        Some("tls1.2") => Ok(2),
        Some("tls1.3") => Ok(3),
        Some(other) => Err(format!("tlsVersion: unknown TLS version '{other}'")),
    };
    match (rank(min, 2)?, rank(max, 3)?) {
        (min, max) if min > max => Err("tlsVersion: min is greater than max".to_owned()),
        (_, 0 | 1) => Err("tlsVersion: TLS 1.0 and 1.1 are not spoken, 1.2 and 1.3 are".to_owned()),
        (_, 2) => Ok(Versions::Only12),
        (3, _) => Ok(Versions::Only13),
        _ => Ok(Versions::Both),
    }
}

/// Suites that we have not are left out; there must be one that we have.
fn suites(names: &[String]) -> Result<Vec<CipherSuite>, String> {
    if let Some(wrong) = names.iter().find(|name| !name.starts_with("TLS_")) {
        return Err(format!("tlsCipherSuites: unknown cipher suite '{wrong}'"));
    }
    let known: Vec<CipherSuite> = names.iter().filter_map(|name| suite_of_iana(name)).collect();
    if known.is_empty() && !names.is_empty() {
        return Err("tlsCipherSuites: none of these is a suite that we have".to_owned());
    }
    Ok(known)
}

fn identity(given: &TlsIdentity) -> Result<ClientIdentity, String> {
    if given.password.is_some() && given.key.contains("ENCRYPTED") {
        return Err("tlsAuth: encrypted keys are not read; decrypt it first".to_owned());
    }
    for (name, pem) in [("cert", &given.cert), ("key", &given.key)] {
        if !pem.contains("-----BEGIN ") {
            return Err(format!("tlsAuth: {name} is no PEM"));
        }
    }
    Ok(ClientIdentity {
        domains: given.domains.clone(),
        cert_pem: given.cert.clone().into_bytes(),
        key_pem: given.key.clone().into_bytes(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_addresses() {
        for (name, to, expect) in [
            ("A.test", "1.2.3.4", Some(("a.test", None, "1.2.3.4", None))),
            ("a.test:81", "1.2.3.4:82", Some(("a.test", Some(81), "1.2.3.4", Some(82)))),
            ("*.a", "[::1]:82", Some(("*.a", None, "::1", Some(82)))),
            ("a", "::1", Some(("a", None, "::1", None))),
            ("a", "b", None),
        ] {
            let rule = host(name, to).ok();
            let shown =
                rule.as_ref().map(|r| (r.name.as_str(), r.port, r.ip.to_string(), r.to_port));
            let shown = shown.as_ref().map(|(n, p, ip, t)| (*n, *p, ip.as_str(), *t));
            assert_eq!(shown, expect, "{name} {to}");
        }
    }

    #[test]
    fn local_addresses_are_listed() {
        for (list, expect) in [
            ("10.0.0.1", Some("10.0.0.1")),
            ("10.0.0.1-10.0.0.3", Some("10.0.0.1 10.0.0.2 10.0.0.3")),
            ("10.0.0.0/31, ::1", Some("10.0.0.0 10.0.0.1 ::1")),
            ("10.0.0.2-10.0.0.1", None),
            ("10.0.0.0/8", None),
            ("x", None),
        ] {
            let shown = local_addresses(list).ok();
            let shown =
                shown.map(|list| list.iter().map(IpAddr::to_string).collect::<Vec<_>>().join(" "));
            assert_eq!(shown.as_deref(), expect, "{list}");
        }
    }

    #[test]
    fn versions_are_a_range() {
        let read = |min: &str, max: &str| {
            let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            versions(&(some(min), some(max))).ok()
        };
        for (min, max, expect) in [
            ("", "", Some(Versions::Both)),
            ("tls1.0", "tls1.3", Some(Versions::Both)),
            ("tls1.2", "tls1.2", Some(Versions::Only12)),
            ("tls1.3", "", Some(Versions::Only13)),
            ("tls1.0", "tls1.1", None),
            ("tls1.3", "tls1.2", None),
            ("ssl3", "", None),
        ] {
            assert_eq!(read(min, max), expect, "{min} {max}");
        }
    }
}
