//! Finding a connection for a hit: one that can take it (idle, or with room behind or beside its hits), a new one, or the queue; names, addresses, tunnels, TLS.

use std::net::IpAddr;
use std::sync::Arc;

use metrics::FailureKind;
use net::{Address, Dial, Io, IoFailure};
use stdx::Nanos;
use wire::h1::response::RequestMethod;
use wire::tls::TlsSession;
use workload::FailureDetail;

use super::Worker;
use crate::conn::{Conn, State};
use crate::failure::Failure;
use crate::route::Route;
use crate::settings::{AddressFamily, DnsTtl, FirstAddress};

/// How long one address is tried before the next one is. RFC 8305, 5 gives 250 ms as the usual delay.
const FALLBACK_AFTER: Nanos = Nanos::from_millis(250);
/// With so many hits waiting for a name's addresses, users of a closed loop wait as well.
const AWAIT_MAX: usize = 64;

impl<I: Io> Worker<I> {
    /// Gives a hit a connection: one that can take it, or a new one, or a place in the queue.
    pub(super) fn dispatch(&mut self, hit: u32) {
        let number = self.hits[hit as usize].origin;
        let origin = &mut self.origins.list[number as usize];
        if origin.waiting.len() == 0
            && let Some(conn) = origin.ready.pop_last(&mut self.conns)
        {
            return self.send_on(conn, hit);
        }
        let origin = &mut self.origins.list[number as usize];
        origin.waiting.push(&mut self.hits, hit);
        self.serve(number);
    }

    /// Sends a hit on a connection that can take it: as the one it serves, or behind that.
    fn send_on(&mut self, number: u32, hit: u32) {
        let conn = &mut self.conns[number as usize];
        if conn.streams.is_some() {
            self.hits[hit as usize].name_asked_at = Nanos::ZERO;
            return self.open_stream(number, hit);
        }
        if conn.hit.is_none() {
            conn.hit = Some(hit);
        } else {
            conn.pipelined.push(&mut self.hits, hit);
        }
        let entry = &mut self.hits[hit as usize];
        entry.conn = Some(number);
        // What it waited for a name is over, and no part of a redirect's lookup later.
        entry.name_asked_at = Nanos::ZERO;
        self.send_request(number, hit);
    }

    /// Lists a connection with its origin where it can take another hit beside those it serves.
    pub(super) fn mark_ready(&mut self, number: u32) {
        let conn = &self.conns[number as usize];
        let room = match conn.state {
            State::Busy => conn.unanswered() < self.pipeline && conn.body.is_none(),
            State::Streaming => self.has_stream_left(number),
            State::Dialing | State::Tunneling | State::Securing | State::Idle | State::Piped => {
                false
            }
        };
        let conn = &self.conns[number as usize];
        if !room || conn.is_ready() {
            return;
        }
        let origin = conn.origin;
        self.origins.list[origin as usize].ready.push(&mut self.conns, number);
        self.queue_service(origin);
    }

    /// Serves the origins where a waiting hit may find room.
    pub(super) fn run_service_queue(&mut self) {
        while let Some(number) = self.service_queue.pop() {
            self.origin(number).needs_service = false;
            self.serve(number);
        }
    }

    /// Gives waiting hits what connections there are, or can be.
    pub(super) fn serve(&mut self, number: u32) {
        loop {
            let origin = &mut self.origins.list[number as usize];
            let Some(hit) = origin.waiting.first() else { return };
            if let Some(conn) = origin.ready.pop_last(&mut self.conns) {
                origin.waiting.remove(&mut self.hits, hit);
                self.send_on(conn, hit);
                continue;
            }
            if (origin.open >= self.conns_max && !origin.upgrades())
                || origin.expects_room(self.streams_max)
                || !self.has_addresses(number, hit)
            {
                return;
            }
            if !self.may_dial() {
                return self.defer(number);
            }
            let origin = &mut self.origins.list[number as usize];
            origin.waiting.remove(&mut self.hits, hit);
            origin.open += 1;
            origin.connecting += 1;
            self.dial(number, hit);
            if self.origin(number).needs_service {
                // The dial failed at once, and the origin is listed again: the next one has its own turn.
                return;
            }
        }
    }

    /// Whether an origin's addresses are known; asks for them where not.
    fn has_addresses(&mut self, number: u32, hit: u32) -> bool {
        let now = self.now;
        let origin = &mut self.origins.list[number as usize];
        origin.take_turn(&self.prepared.rotation);
        if now < origin.fresh_until && !origin.addresses.is_empty()
            || matches!(origin.route, Route::Unix(_))
        {
            return true;
        }
        if self.hits[hit as usize].name_asked_at == Nanos::ZERO {
            self.hits[hit as usize].name_asked_at = now;
        }
        if self.refuses_name(number) {
            return false;
        }
        let origin = &mut self.origins.list[number as usize];
        if origin.resolving {
            if origin.waiting.len() >= AWAIT_MAX {
                self.unresolved = Some(number);
            }
            return false;
        }
        let name = origin.endpoint().host.clone();
        if origin.is_owned() {
            // The name is asked for once, whoever wants it.
            let known = self.origins.names.entry(name.clone()).or_default();
            if now < known.fresh_until && !known.addresses.is_empty() {
                origin.addresses = Arc::clone(&known.addresses);
                origin.fresh_until = known.fresh_until;
                return true;
            }
            origin.resolving = true;
            known.asked.push(number);
            if known.asked.len() > 1 {
                if known.asked.len() >= AWAIT_MAX {
                    self.unresolved = Some(number);
                }
                return false;
            }
        }
        origin.resolving = true;
        self.io.resolve(number, &name);
        false
    }

    /// Fails the hits that wait for an origin whose name must not be asked.
    fn refuses_name(&mut self, number: u32) -> bool {
        let host_policy = &self.prepared.settings.host_policy;
        let name = &self.origins.list[number as usize].endpoint().host;
        let Some(pattern) = host_policy.blocks_name(name) else { return false };
        let text = format!("hostname ({name}) is in a blocked pattern ({pattern})");
        let failure = Failure::new(FailureKind::Dial, text);
        self.origin(number).end_turn();
        self.fail_all(number, &Failure { detail: FailureDetail::ForbiddenName, ..failure });
        true
    }

    /// A name is resolved, or cannot be.
    pub(super) fn handle_resolved(&mut self, number: u32, answer: Result<Vec<IpAddr>, String>) {
        let family = self.prepared.settings.dns_pick.family;
        let answer = answer.map(|addresses| Arc::from(of_family(addresses, family)));
        if !self.origin(number).is_owned() {
            return self.set_addresses(number, &answer);
        }
        let name = self.origin(number).endpoint().host.clone();
        let asked = self.origins.names.get_mut(&name).map(|known| std::mem::take(&mut known.asked));
        for waiting in asked.unwrap_or_default() {
            self.set_addresses(waiting, &answer);
        }
        let origin = &self.origins.list[number as usize];
        if let (Ok(addresses), Some(known)) = (answer, self.origins.names.get_mut(&name)) {
            known.addresses = addresses;
            known.fresh_until = match self.prepared.settings.dns_ttl {
                DnsTtl::Never => Nanos::ZERO,
                DnsTtl::Forever | DnsTtl::For(_) => origin.fresh_until,
            };
        }
    }

    /// An origin's addresses are known, or cannot be.
    fn set_addresses(&mut self, number: u32, answer: &Result<Arc<[IpAddr]>, String>) {
        let ttl = self.prepared.settings.dns_ttl;
        let now = self.now;
        let origin = self.origin(number);
        origin.resolving = false;
        match answer {
            Ok(addresses) if !addresses.is_empty() => {
                origin.addresses = Arc::clone(addresses);
                origin.fresh_until = match ttl {
                    DnsTtl::Forever => Nanos::MAX,
                    DnsTtl::For(ttl) => now.saturating_add(ttl),
                    // Good for the one dial that waits for it.
                    DnsTtl::Never => Nanos::MAX,
                };
                self.queue_service(number);
            }
            Ok(_) => {
                let name = origin.endpoint().host.clone();
                self.fail_waiting(number, &format!("lookup {name}: no such host"));
            }
            Err(reason) => self.fail_waiting(number, reason),
        }
    }

    fn fail_waiting(&mut self, number: u32, reason: &str) {
        self.origin(number).end_turn();
        let failure = Failure::new(FailureKind::Dns, format!("dial tcp: {reason}"));
        self.fail_all(number, &failure);
    }

    /// Fails every hit that waits for an origin.
    fn fail_all(&mut self, number: u32, failure: &Failure) {
        while let Some(hit) = self.origins.list[number as usize].waiting.pop_first(&mut self.hits) {
            self.fail(hit, failure);
        }
    }

    /// Makes a new connection for a hit.
    fn dial(&mut self, number: u32, hit: u32) {
        let now = self.now;
        let once = self.prepared.settings.dns_ttl == DnsTtl::Never;
        let entry = &mut self.hits[hit as usize];
        if entry.name_asked_at != Nanos::ZERO {
            entry.dns += now.saturating_sub(entry.name_asked_at);
            entry.name_asked_at = Nanos::ZERO;
        }
        let mut conn = Conn::new(number, hit, now);
        conn.serial = self.serials.next();
        let turn = self.dial_turn(number);
        let origin = &mut self.origins.list[number as usize];
        conn.addresses = origin.next_addresses(turn);
        let conn = self.conns.insert(conn) as u32;
        self.hits[hit as usize].conn = Some(conn);
        self.try_address(conn, None);
        let origin = &mut self.origins.list[number as usize];
        origin.end_turn();
        if once && origin.endpoint().host.parse::<IpAddr>().is_err() {
            origin.fresh_until = Nanos::ZERO;
        }
    }

    /// With which of a name's addresses a dial begins, where the origin alone does not say.
    fn dial_turn(&mut self, number: u32) -> Option<u32> {
        let first = self.prepared.settings.dns_pick.first;
        let origin = &self.origins.list[number as usize];
        if first == FirstAddress::First {
            return Some(0);
        }
        let known = self.origins.names.get_mut(&origin.endpoint().host)?;
        known.dials = known.dials.wrapping_add(1);
        match first {
            // 2^32 over the golden ratio: neighbours end far from each other.
            FirstAddress::Random => Some((known.dials ^ number).wrapping_mul(0x9e37_79b9) >> 16),
            FirstAddress::First | FirstAddress::InTurn => Some(known.dials.wrapping_sub(1)),
        }
    }

    /// Closes the connections of an owner on which nothing is under way.
    pub(super) fn close_idle(&mut self, owner: u32) {
        for number in self.origins.owned_by(owner) {
            while let Some(conn) =
                self.origins.list[number as usize].ready.pop_last(&mut self.conns)
            {
                let (state, hit) = (self.conns[conn as usize].state, self.conns[conn as usize].hit);
                let streams = self.conns[conn as usize].streams.as_ref();
                let under_way = streams.is_some_and(|streams| streams.session.streams_open() > 0);
                if state != State::Dialing && hit.is_none() && !under_way {
                    self.drop_conn(conn);
                }
            }
        }
    }

    /// Connects to the next of the origin's addresses; with none left, the hit fails with what the last one said.
    fn try_address(&mut self, number: u32, mut last: Option<Failure>) {
        loop {
            let conn = &self.conns[number as usize];
            let origin = &self.origins.list[conn.origin as usize];
            let Some(address) = origin.address(&conn.addresses, conn.attempt) else {
                let failure = last.unwrap_or_else(|| {
                    Failure::new(FailureKind::Dial, "dial tcp: no address to connect to")
                });
                if let Some(hit) = self.drop_conn(number) {
                    self.fail_dial(hit, &failure);
                }
                return;
            };
            if let Some(failure) = self.refuses_address(&address) {
                last = Some(failure);
                self.conns[number as usize].attempt += 1;
                continue;
            }
            let more = origin.address(&conn.addresses, conn.attempt + 1).is_some();
            let from = self.local_address(number);
            match self.io.open(number, Dial { to: &address, from }) {
                Ok(sock) => {
                    self.conns[number as usize].sock = Some(sock);
                    if more {
                        self.fallbacks.push_back((self.now + FALLBACK_AFTER, number, sock));
                    }
                    return;
                }
                Err(failure) => {
                    last = Some(Failure::dial(failure, Some(&address)));
                    self.conns[number as usize].attempt += 1;
                }
            }
        }
    }

    /// Why an address must not be asked, if it must not.
    fn refuses_address(&self, address: &Address) -> Option<Failure> {
        let Address::Ip(address) = address else { return None };
        let net = self.prepared.settings.host_policy.blocks_address(address.ip())?;
        let text = format!("IP ({}) is in a blacklisted range ({net})", address.ip());
        let failure = Failure::new(FailureKind::Dial, text);
        Some(Failure { detail: FailureDetail::ForbiddenAddress, ..failure })
    }

    /// The local address that a connection dials from: the run's connections take turns, and where users have connections
    /// of their own, the users do.
    fn local_address(&self, number: u32) -> Option<IpAddr> {
        let list = &self.prepared.settings.local_addrs;
        let conn = &self.conns[number as usize];
        let turn = match self.origins.list[conn.origin as usize].owner {
            0 => conn.serial.wrapping_sub(1),
            owner => self.serials.of_owner(owner),
        };
        (!list.is_empty()).then(|| list[turn as usize % list.len()])
    }

    /// The system refused a connection that was under way.
    pub(super) fn handle_refused(&mut self, number: u32, failure: IoFailure) {
        let Some(conn) = self.conns.get_mut(number as usize) else { return };
        conn.sock = None;
        let origin = &self.origins.list[conn.origin as usize];
        let address = origin.address(&conn.addresses, conn.attempt);
        conn.attempt += 1;
        self.try_address(number, Some(Failure::dial(failure, address.as_ref())));
    }

    /// Tries the next address where one takes too long to answer.
    pub(super) fn fall_back(&mut self) {
        while let Some(&(at, number, sock)) = self.fallbacks.front() {
            if at > self.now || !self.has_budget() {
                return;
            }
            self.fallbacks.pop_front();
            let Some(conn) = self.conns.get_mut(number as usize) else { continue };
            if conn.sock == Some(sock) && conn.state == State::Dialing {
                conn.sock = None;
                conn.attempt += 1;
                self.io.close(sock);
                self.try_address(number, None);
            }
        }
    }

    /// A connection is made: next comes the tunnel, the TLS handshake, or the request.
    pub(super) fn handle_connected(&mut self, number: u32) {
        let Some(conn) = self.conns.get(number as usize) else { return };
        let origin = &self.origins.list[conn.origin as usize];
        self.self_metrics.connections += 1;
        if let Some(hit) = conn.hit {
            self.hits[hit as usize].dial += self.now.saturating_sub(conn.since);
        }
        match (&origin.route, origin.secure()) {
            (Route::Tunnel { .. }, _) => self.ask_for_tunnel(number),
            (_, true) => self.secure(number),
            (_, false) => self.send_first(number),
        }
    }

    /// Asks the proxy for a tunnel to the origin.
    fn ask_for_tunnel(&mut self, number: u32) {
        let conn = &mut self.conns[number as usize];
        let origin = &self.origins.list[conn.origin as usize];
        let mut headers = self.prepared.settings.proxy.headers.as_ref().clone();
        if let Route::Tunnel { authorization: Some(authorization) } = &origin.route {
            headers.push(("Proxy-Authorization".to_owned(), authorization.clone()));
        }
        conn.state = State::Tunneling;
        conn.since = self.now;
        conn.decoder.begin(RequestMethod::Connect);
        match wire::h1::request::connect_request(&origin.authority(), &headers) {
            Ok(head) => self.transmit(number, &head),
            Err(error) => {
                self.fail_connection(number, &Failure::new(FailureKind::Proxy, error.to_string()))
            }
        }
    }

    /// Begins the TLS handshake, or has it wait for its turn.
    pub(super) fn secure(&mut self, number: u32) {
        self.conns[number as usize].state = State::Securing;
        if self.has_budget() { self.begin_handshake(number) } else { self.defer_handshake(number) }
    }

    /// Says the first word of the TLS handshake.
    pub(super) fn begin_handshake(&mut self, number: u32) {
        let conn = &mut self.conns[number as usize];
        let origin = &self.origins.list[conn.origin as usize];
        let session = self
            .prepared
            .tls_for(origin)
            .and_then(|cfg| TlsSession::client(&cfg, origin.host()).map_err(|e| e.to_string()));
        match session {
            Ok(session) => {
                conn.tls = Some(Box::new(session));
                conn.since = self.now;
                self.transmit_records(number);
            }
            Err(reason) => self.fail_connection(number, &Failure::new(FailureKind::Tls, reason)),
        }
    }
}

/// The addresses of the families that are wanted, in their order.
fn of_family(addresses: Vec<IpAddr>, family: AddressFamily) -> Vec<IpAddr> {
    let of = |v4: bool| addresses.iter().copied().filter(move |ip| ip.is_ipv4() == v4);
    let of = |v4: bool| of(v4).collect::<Vec<_>>();
    let (wanted, others) = match family {
        AddressFamily::Any => return addresses,
        AddressFamily::PreferV4 => (of(true), of(false)),
        AddressFamily::PreferV6 => (of(false), of(true)),
        AddressFamily::OnlyV4 => (of(true), Vec::new()),
        AddressFamily::OnlyV6 => (of(false), Vec::new()),
    };
    if wanted.is_empty() { others } else { wanted }
}
