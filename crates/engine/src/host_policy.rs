//! `HostPolicy`: blocked names and addresses, and fixed addresses of names.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};
use wire::url::{ascii_host, without_zone};

/// Blocked names and addresses, and fixed addresses of names (k6: `blockHostnames`, `blacklistIPs`, `hosts`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostPolicy {
    /// Addresses of names; a rule with a port wins over one without, and a full name over a pattern.
    pub hosts: Vec<HostRule>,
    /// Blocked names: `name` or `*.name`.
    pub blocked_names: Vec<String>,
    /// Blocked addresses.
    pub blocked_nets: Vec<IpRange>,
}

/// A name's fixed address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRule {
    /// `name` or `*.name`, in lower case.
    pub name: String,
    /// The port it is for; every one where `None`.
    pub port: Option<u16>,
    /// The address.
    pub ip: IpAddr,
    /// Its port; the URL's where `None`.
    pub to_port: Option<u16>,
}

/// The addresses that begin with the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IpRange {
    ip: IpAddr,
    bits: u8,
}

impl IpRange {
    /// Reads `address/bits`. A range of IPv4 in its form of IPv6 (`::ffff:10.0.0.0/104`) is the one of IPv4.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (ip, bits) = text.split_once('/')?;
        let (ip, bits): (IpAddr, u8) = (ip.parse().ok()?, bits.parse().ok()?);
        let range = (bits <= if ip.is_ipv4() { 32 } else { 128 }).then_some(Self { ip, bits })?;
        Some(match (ip, ip.to_canonical()) {
            (IpAddr::V6(_), mapped @ IpAddr::V4(_)) if bits >= MAPPED_BITS => {
                Self { ip: mapped, bits: bits - MAPPED_BITS }
            }
            _ => range,
        })
    }

    /// Whether an address is one of these.
    #[must_use]
    pub fn contains(self, ip: IpAddr) -> bool {
        let shared = |a: u128, b: u128, width: u32| {
            let differ = (a ^ b) << (128 - width);
            differ.leading_zeros() >= u32::from(self.bits) || differ == 0
        };
        match (self.ip, ip) {
            (IpAddr::V4(a), IpAddr::V4(b)) => shared(a.to_bits().into(), b.to_bits().into(), 32),
            (IpAddr::V6(a), IpAddr::V6(b)) => shared(a.to_bits(), b.to_bits(), 128),
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl std::fmt::Display for IpRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.ip, self.bits)
    }
}

impl HostPolicy {
    /// The rules for a name at this port: one, or several alike, whose addresses are dialled in turn.
    pub(crate) fn hosts(&self, name: &str, port: u16) -> Vec<&HostRule> {
        let fits =
            |rule: &&HostRule| rule.port.is_none_or(|own| own == port) && is_of(&rule.name, name);
        let rank =
            |rule: &&HostRule| (!rule.name.starts_with('*'), rule.port.is_some(), rule.name.len());
        let best = self.hosts.iter().filter(fits).map(|rule| rank(&rule)).max();
        self.hosts.iter().filter(|rule| fits(rule) && Some(rank(rule)) == best).collect()
    }

    /// The pattern that forbids a name.
    pub(crate) fn blocks_name(&self, name: &str) -> Option<&str> {
        self.blocked_names.iter().find(|pattern| is_of(pattern, name)).map(String::as_str)
    }

    /// The range that forbids an address, in whatever form it is written.
    pub(crate) fn blocks_address(&self, ip: IpAddr) -> Option<IpRange> {
        let inner = match ip {
            IpAddr::V6(v6) if !v6.is_loopback() && !v6.is_unspecified() => embedded_v4(v6),
            _ => None,
        };
        let is_in = |net: &IpRange| {
            net.contains(ip) || inner.is_some_and(|v4| net.contains(IpAddr::V4(v4)))
        };
        self.blocked_nets.iter().copied().find(is_in)
    }
}

/// Whether an address is good within one network segment alone (RFC 3927, RFC 4291 2.5.6), or one of those at which clouds serve a
/// machine's metadata and credentials: no server has a reason to send a client there. IPv4 counts in each form in which IPv6 has it.
pub(crate) fn is_link_local(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_link_local() || METADATA_V4.contains(&ip.octets()),
        IpAddr::V6(ip) if ip.is_unicast_link_local() => true,
        IpAddr::V6(ip) => {
            let inner = embedded_v4(ip).map(IpAddr::V4);
            METADATA_V6.contains(&ip.segments()) || inner.is_some_and(is_link_local)
        }
    }
}

/// The address of IPv4 that one of IPv6 leads to: mapped or compatible (RFC 4291, 2.5.5), translated (NAT64: RFC 6052, 2.1, and
/// RFC 8215, whose last 32 bits are taken; RFC 2765, 2.1), or of a 6to4 network (RFC 3056, 2).
fn embedded_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let segments = ip.segments();
    let of = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match segments {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x64, 0xff9b, 1, _, _, _, high, low]
        | [0x2002, high, low, ..] => Some(of(high, low)),
        _ => None,
    }
}

/// The bits before an address of IPv4 in its form of IPv6. RFC 4291, 2.5.5.2.
const MAPPED_BITS: u8 = 96;
/// Where the clouds of Alibaba, Azure and Oracle serve metadata; that of others is link-local.
const METADATA_V4: [[u8; 4]; 3] = [[100, 100, 100, 200], [168, 63, 129, 16], [192, 0, 0, 192]];
/// Where those of Amazon (`fd00:ec2::254`) and Google (`fd20:ce::254`) do by IPv6.
const METADATA_V6: [[u16; 8]; 2] =
    [[0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254]];

/// Whether a name matches a pattern: it is the same, or a name below `*.`.
pub(crate) fn is_of(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (without_root(pattern), without_root(name));
    match pattern.strip_prefix('*') {
        Some(end) => {
            name.len() > end.len()
                && name.is_char_boundary(name.len() - end.len())
                && name[name.len() - end.len()..].eq_ignore_ascii_case(end)
        }
        None => is_same_host(pattern, name),
    }
}

/// Whether two hosts are the same name, in any case, or the same address, in any spelling. IPv4 in its form of IPv6 is IPv4.
pub(crate) fn is_same_host(a: &str, b: &str) -> bool {
    let address_of = |host: &str| Some(without_zone(host).parse::<IpAddr>().ok()?.to_canonical());
    match (address_of(a), address_of(b)) {
        (Some(a), Some(b)) => a == b,
        _ => is_same_name(without_root(a), without_root(b)),
    }
}

/// A name without the dot of the root at its end: both are of one host. RFC 1034, 3.1.
fn without_root(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

fn is_same_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || ascii_host(a).is_some_and(|a| a.eq_ignore_ascii_case(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_a_segment_and_of_metadata_are_link_local() {
        let is = |text: &str| is_link_local(text.parse().unwrap());
        for text in ["169.254.169.254", "169.254.0.1", "100.100.100.200", "::ffff:169.254.1.1"] {
            assert!(is(text), "{text}");
        }
        for text in ["fe80::1", "fd00:ec2::254", "fd20:ce::254"] {
            assert!(is(text), "{text}");
        }
        for text in ["127.0.0.1", "10.0.0.1", "169.253.1.1", "100.100.100.201", "::1", "fd00::1"] {
            assert!(!is(text), "{text}");
        }
    }

    #[test]
    fn issue_19_metadata_in_every_form_of_its_address() {
        for octets in
            [[169, 254, 169, 254], [168, 63, 129, 16], [192, 0, 0, 192], [100, 100, 100, 200]]
        {
            let v4 = Ipv4Addr::from(octets);
            assert!(is_link_local(v4.into()), "{v4}");
            let [a, b, c, d] = octets;
            let to_4 = format!("2002:{a:x}{b:02x}:{c:x}{d:02x}::1");
            let forms = ["::ffff:", "::", "64:ff9b::", "64:ff9b:1::", "::ffff:0:"];
            for text in forms.map(|prefix| format!("{prefix}{v4}")).into_iter().chain([to_4]) {
                assert!(is_link_local(text.parse().unwrap()), "{text}");
            }
        }
        for text in ["64:ff9b::7f00:1", "64:ff9b::a9fd:1", "2002:7f00:1::1", "168.63.129.17"] {
            assert!(!is_link_local(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn regression_issue_41_a_blocked_address_is_blocked_in_each_of_its_forms() {
        let blocks = |net: &str, ip: &str| {
            let blocked_nets = vec![IpRange::parse(net).expect("a net")];
            let policy = HostPolicy { blocked_nets, ..HostPolicy::default() };
            policy.blocks_address(ip.parse().expect("an address")).is_some()
        };
        for (net, ip, expect) in [
            ("127.0.0.0/8", "::ffff:127.0.0.1", true),
            ("127.0.0.0/8", "::ffff:7f00:1", true),
            ("127.0.0.0/8", "64:ff9b::7f00:1", true),
            ("127.0.0.0/8", "::ffff:128.0.0.1", false),
            ("::ffff:127.0.0.0/104", "127.0.0.1", true),
            ("::ffff:127.0.0.0/104", "::ffff:127.0.0.1", true),
            ("::ffff:127.0.0.0/104", "128.0.0.1", false),
            ("::ffff:0:0/95", "::ffff:1.2.3.4", true),
            ("0.0.0.0/8", "::1", false),
            ("::1/128", "::1", true),
        ] {
            assert_eq!(blocks(net, ip), expect, "{net} {ip}");
        }
        for (pattern, name, expect) in [
            ("127.0.0.1", "::ffff:127.0.0.1", true),
            ("0:0:0:0:0:0:0:1", "::1", true),
            ("A.test", "a.TEST", true),
            ("a.test", "a.test.", true),
            ("*.a.test.", "b.a.test", true),
            ("*.a.test", "b.a.test.", true),
            ("b\u{fc}cher.example", "xn--bcher-kva.example", true),
            ("127.0.0.1", "127.0.0.2", false),
        ] {
            assert_eq!(is_of(pattern, name), expect, "{pattern} {name}");
        }
    }

    #[test]
    fn nets_hold_their_addresses() {
        for (net, ip, expect) in [
            ("127.0.0.0/8", "127.1.2.3", true),
            ("127.0.0.0/8", "128.0.0.1", false),
            ("10.0.0.1/32", "10.0.0.1", true),
            ("10.0.0.1/32", "10.0.0.2", false),
            ("0.0.0.0/0", "8.8.8.8", true),
            ("::1/128", "::1", true),
            ("fe80::/10", "fe80::9", true),
            ("fe80::/10", "10.0.0.1", false),
        ] {
            let net = IpRange::parse(net).expect("a net");
            assert_eq!(net.contains(ip.parse().expect("an address")), expect, "{net} {ip}");
        }
        assert_eq!(
            [IpRange::parse("1.2.3.4/33"), IpRange::parse("1.2.3.4"), IpRange::parse("x/8")],
            [None; 3]
        );
    }

    #[test]
    fn the_closest_rule_holds() {
        let rule = |name: &str, port, last| HostRule {
            name: name.to_owned(),
            port,
            ip: IpAddr::from([127, 0, 0, last]),
            to_port: None,
        };
        let host_policy = HostPolicy {
            hosts: vec![
                rule("*.b.test", None, 1),
                rule("a.b.test", None, 2),
                rule("a.b.test", Some(81), 3),
                rule("*.a.b.test", None, 4),
            ],
            blocked_names: vec!["*.bad.test".to_owned()],
            ..HostPolicy::default()
        };
        let last = |name: &str, port| {
            host_policy.hosts(name, port).first().map(|rule| rule.ip.to_string())
        };
        for (name, port, expect) in [
            ("x.b.test", 80, Some("127.0.0.1")),
            ("A.b.test", 80, Some("127.0.0.2")),
            ("a.b.test", 81, Some("127.0.0.3")),
            ("y.a.b.test", 80, Some("127.0.0.4")),
            ("b.test", 80, None),
        ] {
            assert_eq!(last(name, port).as_deref(), expect, "{name}:{port}");
        }
        assert_eq!(host_policy.blocks_name("x.bad.test"), Some("*.bad.test"));
        assert_eq!(host_policy.blocks_name("bad.test"), None);
    }
}
