//! `Origin`: a server as connections see it: scheme, host and port, the way to it, and the connections there are.

use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::sync::Arc;

use net::{Address, machine};
use stdx::Nanos;
use wire::url::{Scheme, Url, without_zone};
use workload::ChannelTls;

use crate::dial_addresses::DialAddresses;
use crate::endpoint_rotation::EndpointRotation;
use crate::ids::{ConnId, HitId};
use crate::list::{List, READY, WAITING};
use crate::named_by::NamedBy;
use crate::request::Request;
use crate::route::{Endpoint, Purpose, Route, join_host_port, route};
use crate::settings::{Protocol, Settings};

/// What distinguishes origins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OriginKey {
    secure: bool,
    host: String,
    port: u16,
    /// Its connections leave HTTP/1.1, so that they serve nothing else and never speak HTTP/2.
    upgrades: bool,
    /// Its one connection is the channel of this number, and never speaks HTTP/1.1.
    channel: Option<u32>,
}

impl OriginKey {
    pub(crate) fn of(request: &Request) -> Self {
        let Url { scheme, host, port, .. } = &request.url;
        let secure = *scheme == Scheme::Https;
        let (upgrades, channel) = (request.upgrades, request.channel);
        Self { secure, host: host.clone(), port: *port, upgrades, channel }
    }
}

/// What an origin speaks, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownProtocol {
    Http1,
    Http2,
    /// Known from the first connection on.
    Unknown,
}

impl KnownProtocol {
    /// What is known of an origin before the first connection to it.
    fn at_first(secure: bool, route: &Route, protocol: Protocol) -> Self {
        match (protocol, secure) {
            (Protocol::Http1, _) | (Protocol::Alpn, false) => Self::Http1,
            (Protocol::Alpn | Protocol::PriorKnowledge, true) => Self::Unknown,
            // A proxy is asked in HTTP/1.1.
            (Protocol::PriorKnowledge, false) if matches!(route, Route::Forward(_)) => Self::Http1,
            (Protocol::PriorKnowledge, false) => Self::Http2,
        }
    }
}

/// One origin.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) key: OriginKey,
    /// The user that owns its connections, from 1; 0 where users share them.
    pub(crate) owner: u32,
    /// Who named its site.
    pub(crate) named: NamedBy,
    /// TLS of the channel that it is, where that has some of its own.
    pub(crate) tls: Option<Arc<ChannelTls>>,
    pub(crate) route: Route,
    /// What is dialled; several take turns (`-connect-to` repeated).
    endpoints: Vec<Endpoint>,
    /// The index of the endpoint for the next dial; after a dial, of the one that was dialled.
    endpoint: usize,
    /// The next dial's turn is taken.
    turn_taken: bool,
    pub(crate) addresses: Arc<[IpAddr]>,
    /// Until when `addresses` may be used.
    pub(crate) fresh_until: Nanos,
    pub(crate) resolving: bool,
    pub(crate) protocol: KnownProtocol,
    /// The fewest streams at once that any of its HTTP/2 connections was allowed so far.
    pub(crate) streams_max: usize,
    /// Connections being made: no request was sent on them yet.
    pub(crate) connecting: usize,
    /// Dials so far: they take the addresses in turn.
    dials: u32,
    /// Connections that can take a hit: idle ones, and those with room for another behind the hits they serve.
    pub(crate) ready: List<READY, ConnId>,
    pub(crate) waiting: List<WAITING, HitId>,
    /// Those of a channel that end with their last stream.
    pub(crate) leaving: usize,
    /// Connections there are, connecting ones included.
    pub(crate) open: usize,
    /// It is on the list of origins to be looked at.
    pub(crate) needs_service: bool,
    /// It is in the queue of origins with hits that wait for a dial.
    pub(crate) deferred: bool,
}

impl Origin {
    /// An origin without connections; its addresses are known where what is dialled is an address.
    pub(crate) fn new(key: OriginKey, owner: u32, url: &Url, settings: &Settings) -> Self {
        let tunnels = key.upgrades || key.channel.is_some();
        let purpose = if tunnels { Purpose::Upgrade } else { Purpose::Http };
        let (route, endpoints) = route(url, purpose, settings);
        let addresses: Arc<[IpAddr]> = endpoints
            .first()
            .filter(|_| endpoints.len() == 1)
            .and_then(|endpoint| address_of(&endpoint.host))
            .map_or_else(Arc::default, |(ip, _)| Arc::from([ip]));
        let protocol = match key.channel {
            Some(_) => Protocol::PriorKnowledge,
            None if key.upgrades => Protocol::Http1,
            None => settings.protocol,
        };
        let protocol = KnownProtocol::at_first(key.secure, &route, protocol);
        let literal = !addresses.is_empty() || matches!(route, Route::Unix(_));
        Self {
            key,
            owner,
            named: NamedBy::User,
            tls: None,
            route,
            endpoints,
            endpoint: 0,
            turn_taken: false,
            addresses,
            fresh_until: if literal { Nanos::MAX } else { Nanos::ZERO },
            resolving: false,
            protocol,
            streams_max: usize::MAX,
            connecting: 0,
            leaving: 0,
            dials: 0,
            ready: List::default(),
            waiting: List::default(),
            open: 0,
            needs_service: false,
            deferred: false,
        }
    }

    /// Whether users have origins of their own, and this is one.
    pub(crate) fn is_owned(&self) -> bool {
        self.owner != 0
    }

    pub(crate) fn secure(&self) -> bool {
        self.key.secure
    }

    /// Whether its connections are to leave HTTP.
    pub(crate) fn upgrades(&self) -> bool {
        self.key.upgrades
    }

    /// The channel that its connection is, if it is one.
    pub(crate) fn channel(&self) -> Option<u32> {
        self.key.channel
    }

    /// The name that the server has to prove.
    pub(crate) fn server_name(&self) -> &str {
        let given = self.tls.as_ref().and_then(|tls| tls.server_name.as_deref());
        given.unwrap_or(&self.key.host)
    }

    /// Whether it may have another connection, of at most so many.
    pub(crate) fn has_room(&self, conns_max: usize) -> bool {
        match self.key.channel {
            Some(_) => self.open == self.leaving,
            None => self.open < conns_max || self.key.upgrades,
        }
    }

    pub(crate) fn host(&self) -> &str {
        &self.key.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.key.port
    }

    /// `host:port`, an IPv6 address in brackets and without its zone.
    pub(crate) fn authority(&self) -> String {
        join_host_port(without_zone(&self.key.host), self.key.port)
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoints[self.endpoint]
    }

    /// Whether the connections being made will have room for every hit that waits, as streams: at most `streams_max` on
    /// each, and no more than the server allowed before.
    pub(crate) fn expects_room(&self, streams_max: usize) -> bool {
        let beside = match self.protocol {
            KnownProtocol::Http1 => 0,
            KnownProtocol::Http2 => streams_max.min(self.streams_max).saturating_sub(1),
            KnownProtocol::Unknown => usize::MAX,
        };
        self.waiting.len() <= self.connecting.saturating_mul(beside)
    }

    /// Whether no hit waits for it and each of its connections could take one.
    pub(crate) fn is_idle(&self) -> bool {
        let nobody_waits = self.waiting.len() == 0 && !self.needs_service && !self.deferred;
        nobody_waits && self.connecting == 0 && self.open == self.ready.len()
    }

    /// Whether no connection to it is being made, no name looked up, no hit waits for it, and none of its answers can be joined
    /// with another one on a connection of HTTP/2.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.connecting == 0
            && !self.resolving
            && self.waiting.len() == 0
            && self.protocol != KnownProtocol::Http2
    }

    /// Takes the next dial's turn, where several endpoints have turns and it is not taken yet. What is no address has to be
    /// resolved.
    pub(crate) fn take_turn(&mut self, rotation: &EndpointRotation) {
        if self.endpoints.len() <= 1 || self.turn_taken {
            return;
        }
        self.turn_taken = true;
        let turn = rotation.next(&self.key.host, self.key.port);
        self.endpoint = turn as usize % self.endpoints.len();
        let literal = address_of(&self.endpoint().host).map(|(ip, _)| ip);
        self.fresh_until = if literal.is_some() { Nanos::MAX } else { Nanos::ZERO };
        self.addresses = literal.map_or_else(Arc::default, |ip| Arc::from([ip]));
    }

    /// A dial has had its turn: the next one takes its own.
    pub(crate) fn end_turn(&mut self) {
        if self.endpoints.len() > 1 {
            self.turn_taken = false;
            self.addresses = Arc::default();
            self.fresh_until = Nanos::ZERO;
        }
    }

    /// What the next dial tries: each dial begins with another address.
    /// `turn` stands in for the count of dials where others share the name.
    pub(crate) fn next_addresses(&mut self, turn: Option<u32>) -> DialAddresses {
        let first = turn.unwrap_or(self.dials);
        self.dials = self.dials.wrapping_add(1);
        let Endpoint { host, port } = self.endpoint();
        let zone = address_of(host).map_or(0, |(_, zone)| zone);
        DialAddresses { addresses: Arc::clone(&self.addresses), port: *port, zone, first }
    }

    /// The address of a dial's `attempt`-th try; `None` when all have been tried.
    pub(crate) fn address(&self, dial: &DialAddresses, attempt: u32) -> Option<Address> {
        if let Route::Unix(path) = &self.route {
            return (attempt == 0).then(|| Address::Unix(path.clone()));
        }
        let (addresses, attempt) = (&dial.addresses, attempt as usize);
        if attempt >= addresses.len() {
            return None;
        }
        let index = (dial.first as usize + attempt) % addresses.len();
        Some(Address::Ip(match addresses[index] {
            IpAddr::V6(ip) => SocketAddrV6::new(ip, dial.port, 0, dial.zone).into(),
            ip @ IpAddr::V4(_) => SocketAddr::new(ip, dial.port),
        }))
    }
}

/// The address that a host is, with the number of the interface that its zone names (0 without a zone); `None` for a name, and
/// where this machine has no such interface.
pub(crate) fn address_of(host: &str) -> Option<(IpAddr, u32)> {
    match host.split_once('%') {
        None => Some((host.parse().ok()?, 0)),
        Some((address, zone)) => Some((address.parse().ok()?, machine::zone_index(zone)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_issue_41_a_zone_is_an_interface() {
        let one = IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(address_of("::1"), Some((one, 0)));
        assert_eq!(address_of("::1%7"), Some((one, 7)));
        assert_eq!(address_of("::1%no-such-interface"), None);
        assert_eq!(address_of("a.test"), None);
        let url = Url::parse("http://[fe80::1%257]:81/").expect("a URL");
        let (settings, key) = (Settings::default(), "fe80::1%7".to_owned());
        let key = OriginKey { secure: false, host: key, port: 81, upgrades: false, channel: None };
        let mut origin = Origin::new(key, 0, &url, &settings);
        let dial = origin.next_addresses(None);
        let expect = SocketAddrV6::new("fe80::1".parse().expect("an address"), 81, 0, 7);
        assert_eq!(origin.address(&dial, 0), Some(Address::Ip(expect.into())));
        assert_eq!(origin.authority(), "[fe80::1]:81");
    }
    use crate::hit::{Hit, Hits};

    #[test]
    fn a_server_that_allows_few_streams_gets_more_connections() {
        let url = Url::parse("http://h/").expect("a URL");
        let settings = Settings { protocol: Protocol::PriorKnowledge, ..Settings::default() };
        let key = OriginKey {
            secure: false,
            host: "h".to_owned(),
            port: 80,
            upgrades: false,
            channel: None,
        };
        let mut origin = Origin::new(key, 0, &url, &settings);
        let mut hits = Hits::with_capacity(200);
        for seq in 0..200 {
            let hit = hits.insert(Hit::new(seq, Nanos::ZERO));
            origin.waiting.push(&mut hits, hit);
        }
        origin.connecting = 1;
        assert!(origin.expects_room(1000), "nothing is known yet");
        origin.streams_max = 100;
        assert!(!origin.expects_room(1000));
        origin.connecting = 3;
        assert!(origin.expects_room(1000));
        assert!(!origin.expects_room(50), "the user's limit holds too");
    }
}
