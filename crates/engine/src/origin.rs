//! `Origin`: a server as connections see it: scheme, host and port, the way to it, and the connections there are.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use net::Address;
use stdx::Nanos;
use wire::proxy::NoProxy;
use wire::url::{Scheme, Url};

use crate::conn::{Conn, READY};
use crate::hit::WAITING;
use crate::list::List;
use crate::request::Request;
use crate::settings::{Protocol, Settings};

/// The most origins of one worker, each user's own counted; redirects and lazy targets beyond it fail.
pub(crate) const ORIGINS_MAX: usize = 1 << 18;

/// The most sites of one worker that only redirects named; beyond it the one not asked for longest goes, once it is idle.
pub(crate) const STRANGERS_MAX: usize = 1024;

/// Who named a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// The plan, a lazy target or a script.
    ByUser,
    /// A server, by a redirect.
    ByRedirect,
}

/// What tells one origin from another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OriginKey {
    secure: bool,
    host: String,
    port: u16,
    /// Its connections leave HTTP/1.1, so that they serve nothing else and never speak HTTP/2.
    upgrades: bool,
}

impl OriginKey {
    pub(crate) fn of(request: &Request) -> Self {
        let Url { scheme, host, port, .. } = &request.url;
        let secure = *scheme == Scheme::Https;
        Self { secure, host: host.clone(), port: *port, upgrades: request.upgrades }
    }
}

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

/// The addresses that one dial tries, one after the other. They are the dial's own: the origin may know others, or have
/// moved on to its next endpoint, before the dial has come to an end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tries {
    addresses: Arc<[IpAddr]>,
    port: u16,
    /// The first try's place among the addresses.
    first: u32,
}

/// What an origin speaks, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaks {
    Http1,
    Http2,
    /// The first connection will tell.
    Unknown,
}

impl Speaks {
    /// What is known of an origin before the first connection to it.
    fn at_first(secure: bool, route: &Route, protocol: Protocol) -> Self {
        match (protocol, secure) {
            (Protocol::Http1, _) | (Protocol::Alpn, false) => Self::Http1,
            (Protocol::Alpn | Protocol::PriorKnowledge, true) => Self::Unknown,
            // A proxy is asked in HTTP/1.1.
            (Protocol::PriorKnowledge, false) if matches!(route, Route::Forward { .. }) => {
                Self::Http1
            }
            (Protocol::PriorKnowledge, false) => Self::Http2,
        }
    }
}

/// One origin.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) key: OriginKey,
    /// Whose connections they are, where users have their own; else nobody's, 0.
    pub(crate) owner: u32,
    pub(crate) route: Route,
    /// What is dialled; several take turns (`-connect-to` repeated).
    endpoints: Vec<Endpoint>,
    /// Whose turn the next dial is; that of the last one once that was made.
    endpoint: usize,
    /// The next dial's turn is taken.
    turn_taken: bool,
    pub(crate) addresses: Arc<[IpAddr]>,
    /// Until when `addresses` may be used.
    pub(crate) fresh_until: Nanos,
    pub(crate) resolving: bool,
    pub(crate) speaks: Speaks,
    /// The fewest streams at once that any of its HTTP/2 connections was allowed so far.
    pub(crate) streams_max: usize,
    /// Connections being made: no request was sent on them yet.
    pub(crate) connecting: usize,
    /// Dials so far: they take the addresses in turn.
    dials: u32,
    /// Connections that can take a hit: idle ones, and those with room for another behind the hits they serve.
    pub(crate) ready: List<READY>,
    pub(crate) waiting: List<WAITING>,
    /// Connections there are, connecting ones included.
    pub(crate) open: usize,
    /// It is on the list of origins to be looked at.
    pub(crate) listed: bool,
    /// It is in the queue of those whose hits wait for a dial.
    pub(crate) deferred: bool,
}

impl Origin {
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

    pub(crate) fn host(&self) -> &str {
        &self.key.host
    }

    /// `host:port`, an IPv6 address in brackets.
    pub(crate) fn authority(&self) -> String {
        join_host_port(&self.key.host, self.key.port)
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoints[self.endpoint]
    }

    /// Whether the connections being made will have room for every hit that waits, as streams: at most `streams_max` on
    /// each, and no more than the server allowed before.
    pub(crate) fn expects_room(&self, streams_max: usize) -> bool {
        let beside = match self.speaks {
            Speaks::Http1 => 0,
            Speaks::Http2 => streams_max.min(self.streams_max).saturating_sub(1),
            Speaks::Unknown => usize::MAX,
        };
        self.waiting.len() <= self.connecting.saturating_mul(beside)
    }

    /// Whether no hit waits for it and each of its connections could take one.
    fn is_idle(&self) -> bool {
        let nobody_waits = self.waiting.len() == 0 && !self.listed && !self.deferred;
        nobody_waits && self.connecting == 0 && self.open == self.ready.len()
    }

    /// Takes the next dial's turn, where several endpoints have turns and it is not taken yet. What is no address has to be
    /// resolved.
    pub(crate) fn take_turn(&mut self, turns: &Turns) {
        if self.endpoints.len() <= 1 || self.turn_taken {
            return;
        }
        self.turn_taken = true;
        let turn = turns.next(&self.authority());
        self.endpoint = turn as usize % self.endpoints.len();
        let literal = self.endpoint().host.parse().ok();
        self.fresh_until = if literal.is_some() { Nanos::MAX } else { Nanos::ZERO };
        self.addresses = literal.map_or_else(Arc::default, |ip: IpAddr| Arc::from([ip]));
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
    pub(crate) fn next_tries(&mut self, turn: Option<u32>) -> Tries {
        let first = turn.unwrap_or(self.dials);
        self.dials = self.dials.wrapping_add(1);
        Tries { addresses: Arc::clone(&self.addresses), port: self.endpoint().port, first }
    }

    /// The address of a dial's `attempt`-th try; `None` when all have been tried.
    pub(crate) fn address(&self, tries: &Tries, attempt: u32) -> Option<Address> {
        if let Route::Unix(path) = &self.route {
            return (attempt == 0).then(|| Address::Unix(path.clone()));
        }
        let (addresses, attempt) = (&tries.addresses, attempt as usize);
        if attempt >= addresses.len() {
            return None;
        }
        let index = (tries.first as usize + attempt) % addresses.len();
        Some(Address::Ip(SocketAddr::new(addresses[index], tries.port)))
    }
}

/// The turns of what is dialled instead of something else (`-connect-to` repeated), over all workers: dials take them one by
/// one, whoever makes them.
#[derive(Debug)]
pub(crate) struct Turns(Vec<(String, AtomicU32)>);

impl Turns {
    /// The turns of each `host:port` that has others dialled instead, all at their beginning.
    pub(crate) fn of(settings: &Settings) -> Self {
        let mut names: Vec<&String> = settings.connect_to.iter().map(|(from, _)| from).collect();
        names.sort_unstable();
        names.dedup();
        Self(names.into_iter().map(|name| (name.clone(), AtomicU32::new(0))).collect())
    }

    /// The number of the next dial's turn; 0 for what has none.
    fn next(&self, authority: &str) -> u32 {
        let of = self.0.iter().find(|(name, _)| name == authority);
        of.map_or(0, |(_, turn)| turn.fetch_add(1, Ordering::Relaxed))
    }
}

/// All origins of one worker.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    pub(crate) list: Vec<Origin>,
    /// The numbers of what origins there are, whosever. They are never given twice.
    sites: HashMap<OriginKey, u64>,
    sites_made: u64,
    /// The sites that only redirects named.
    strangers: HashMap<u64, Stranger>,
    /// Redirects so far: the time by which strangers grow old.
    redirects: u64,
    /// The number of a site's origin of an owner.
    numbers: HashMap<(u64, u32), u32>,
    /// Places in the list that forgotten origins have left.
    free: Vec<u32>,
    /// What each user's own are, where users have their own.
    owned: HashMap<u32, Vec<u32>>,
    /// What names are resolved to, where many origins are of one name.
    pub(crate) names: HashMap<String, Name>,
}

/// A site that only redirects named.
#[derive(Debug)]
struct Stranger {
    key: OriginKey,
    /// Its origins, one for each owner.
    origins: Vec<u32>,
    /// When a redirect last led to it.
    used: u64,
}

/// A name that many origins share.
#[derive(Debug, Default)]
pub(crate) struct Name {
    pub(crate) addresses: Arc<[IpAddr]>,
    /// Until when they may be used.
    pub(crate) fresh_until: Nanos,
    /// The origins that wait for them.
    pub(crate) asked: Vec<u32>,
    /// Dials so far.
    pub(crate) dials: u32,
}

impl Origins {
    /// The number of a request's origin for an owner, made where it is new; `None` when there are too many.
    pub(crate) fn number(
        &mut self,
        request: &Request,
        owner: u32,
        settings: &Settings,
        named: Named,
    ) -> Option<u32> {
        let site = self.site(request, named)?;
        self.at(site, owner, request, settings)
    }

    /// The number of what a request is sent to, whosever; `None` when there are too many.
    pub(crate) fn site(&mut self, request: &Request, named: Named) -> Option<u64> {
        let full = self.sites.len() >= ORIGINS_MAX;
        let key = OriginKey::of(request);
        let site = match self.sites.entry(key.clone()) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(_) if full => return None,
            Entry::Vacant(place) => {
                self.sites_made += 1;
                if named == Named::ByRedirect {
                    let stranger = Stranger { key, origins: Vec::new(), used: 0 };
                    self.strangers.insert(self.sites_made, stranger);
                }
                *place.insert(self.sites_made)
            }
        };
        match named {
            Named::ByUser => drop(self.strangers.remove(&site)),
            Named::ByRedirect => self.led_to(site),
        }
        Some(site)
    }

    /// A redirect leads to a site.
    fn led_to(&mut self, site: u64) {
        self.redirects += 1;
        if let Some(stranger) = self.strangers.get_mut(&site) {
            stranger.used = self.redirects;
        }
    }

    /// The number of a site's origin for an owner, made where it is new; `None` when there are too many.
    pub(crate) fn at(
        &mut self,
        site: u64,
        owner: u32,
        request: &Request,
        settings: &Settings,
    ) -> Option<u32> {
        if let Some(&number) = self.numbers.get(&(site, owner)) {
            return Some(number);
        }
        let origin = new_origin(OriginKey::of(request), owner, &request.url, settings);
        let number = match self.free.pop() {
            Some(number) => {
                self.list[number as usize] = origin;
                number
            }
            None if self.list.len() >= ORIGINS_MAX => return None,
            None => {
                self.list.push(origin);
                (self.list.len() - 1) as u32
            }
        };
        self.numbers.insert((site, owner), number);
        if let Some(stranger) = self.strangers.get_mut(&site) {
            stranger.origins.push(number);
        }
        if owner != 0 {
            self.owned.entry(owner).or_default().push(number);
        }
        Some(number)
    }

    /// Whether redirects alone named more sites than are to be remembered.
    pub(crate) fn has_too_many_strangers(&self) -> bool {
        self.strangers.len() > STRANGERS_MAX
    }

    /// The stranger not asked for longest of those where nothing is under way; `busy` are the origins of all hits. The one
    /// that a redirect led to last is about to be asked.
    pub(crate) fn oldest_idle_stranger(&self, busy: &HashSet<u32>) -> Option<u64> {
        let is_idle = |number: &u32| {
            let origin = &self.list[*number as usize];
            !busy.contains(number) && !origin.resolving && origin.is_idle()
        };
        let idle = self.strangers.iter().filter(|(_, stranger)| {
            stranger.used != self.redirects && stranger.origins.iter().all(is_idle)
        });
        idle.min_by_key(|(_, stranger)| stranger.used).map(|(site, _)| *site)
    }

    /// The origins of a stranger.
    pub(crate) fn of_stranger(&self, site: u64) -> Vec<u32> {
        self.strangers.get(&site).map(|stranger| stranger.origins.clone()).unwrap_or_default()
    }

    /// Forgets a stranger that has no connections left: its places are free for others.
    pub(crate) fn forget_stranger(&mut self, site: u64) {
        let Some(stranger) = self.strangers.remove(&site) else { return };
        self.sites.remove(&stranger.key);
        for number in stranger.origins {
            let origin = &mut self.list[number as usize];
            debug_assert_eq!(origin.open, 0, "what is forgotten has no connections");
            let owner = origin.owner;
            self.numbers.remove(&(site, owner));
            if let Some(owned) = self.owned.get_mut(&owner) {
                owned.retain(|own| *own != number);
            }
            let name = std::mem::take(&mut origin.endpoints[origin.endpoint].host);
            if self.names.get(&name).is_some_and(|known| known.asked.is_empty()) {
                self.names.remove(&name);
            }
            self.free.push(number);
        }
    }

    /// Who is at the other end of a connection; nobody where it is a Unix socket.
    pub(crate) fn remote(&self, conn: &Conn) -> Option<SocketAddr> {
        match self.list[conn.origin as usize].address(&conn.tries, conn.attempt)? {
            Address::Ip(address) => Some(address),
            Address::Unix(_) => None,
        }
    }

    /// The origins that are an owner's own.
    pub(crate) fn owned_by(&self, owner: u32) -> Vec<u32> {
        self.owned.get(&owner).cloned().unwrap_or_default()
    }
}

fn new_origin(key: OriginKey, owner: u32, url: &Url, settings: &Settings) -> Origin {
    let (route, endpoints) = route(url, settings);
    let addresses: Arc<[IpAddr]> = endpoints
        .first()
        .filter(|_| endpoints.len() == 1)
        .and_then(|endpoint| endpoint.host.parse().ok())
        .map_or_else(Arc::default, |ip: IpAddr| Arc::from([ip]));
    let protocol = if key.upgrades { Protocol::Http1 } else { settings.protocol };
    let speaks = Speaks::at_first(key.secure, &route, protocol);
    let literal = !addresses.is_empty() || matches!(route, Route::Unix(_));
    Origin {
        key,
        owner,
        route,
        endpoints,
        endpoint: 0,
        turn_taken: false,
        addresses,
        fresh_until: if literal { Nanos::MAX } else { Nanos::ZERO },
        resolving: false,
        speaks,
        streams_max: usize::MAX,
        connecting: 0,
        dials: 0,
        ready: List::default(),
        waiting: List::default(),
        open: 0,
        listed: false,
        deferred: false,
    }
}

/// The way to an origin, the gate's names put in the place of what is dialled.
pub(crate) fn route(url: &Url, settings: &Settings) -> (Route, Vec<Endpoint>) {
    let (route, mut endpoints) = way(url, settings);
    for endpoint in &mut endpoints {
        if let Some(rule) = settings.gate.host(&endpoint.host, endpoint.port)
            && settings.gate.forbids_name(&endpoint.host).is_none()
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

#[cfg(test)]
mod tests {
    use slab::Slab;

    use super::*;
    use crate::hit::Hit;
    use crate::request::Addressing;

    fn request(host: &str) -> Request {
        let target = workload::Target {
            method: "GET".to_owned(),
            url: format!("http://{host}/"),
            headers: Vec::new(),
            body: Arc::from([]),
            weight: 1,
            name: String::new(),
        };
        let common = crate::request::Common::of("", &Settings::default());
        Request::new(&target, &common, |_| Addressing::default()).expect("a request")
    }

    #[test]
    fn few_sites_that_only_redirects_named_are_remembered() {
        let (settings, mut origins) = (Settings::default(), Origins::default());
        // A hit is on its way to the first that a redirect names.
        let busy = HashSet::from([STRANGERS_MAX as u32]);
        let number = |origins: &mut Origins, host: &str, named| {
            let number = origins.number(&request(host), 0, &settings, named).expect("room");
            while origins.has_too_many_strangers() {
                let oldest = origins.oldest_idle_stranger(&busy).expect("most are idle");
                origins.forget_stranger(oldest);
            }
            number
        };
        for host in 0..STRANGERS_MAX {
            number(&mut origins, &format!("early-{host}"), Named::ByUser);
        }
        for host in 0..10_000 {
            number(&mut origins, &format!("r{host}"), Named::ByRedirect);
            // A user asks for the second.
            number(&mut origins, "r1", Named::ByUser);
        }
        let places = 2 * STRANGERS_MAX + 2;
        assert!(origins.list.len() <= places, "{} origins", origins.list.len());
        assert_eq!(origins.sites.len(), origins.numbers.len());
        assert!(origins.sites.len() <= places && origins.owned.is_empty());
        let again = number(&mut origins, "early-7", Named::ByUser);
        assert_eq!(again, 7, "what a user named stays where it is");
        assert_eq!(number(&mut origins, "r0", Named::ByRedirect), STRANGERS_MAX as u32);
        let known = number(&mut origins, "r9500", Named::ByRedirect);
        assert_eq!(origins.list[known as usize].host(), "r9500");
    }

    #[test]
    fn a_server_that_allows_few_streams_gets_more_connections() {
        let url = Url::parse("http://h/").expect("a URL");
        let settings = Settings { protocol: Protocol::PriorKnowledge, ..Settings::default() };
        let key = OriginKey { secure: false, host: "h".to_owned(), port: 80, upgrades: false };
        let mut origin = new_origin(key, 0, &url, &settings);
        let mut hits = Slab::new();
        for seq in 0..200 {
            let hit = hits.insert(Hit::new(seq, Nanos::ZERO)) as u32;
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
