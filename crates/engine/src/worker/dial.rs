//! Finding a connection for a hit: one that can take it (idle, or with room behind or beside its hits), a new one, or the queue; names, addresses, tunnels, TLS.

use std::net::IpAddr;
use std::sync::Arc;

use metrics::FailureKind;
use net::{Address, Dial, Io, IoFailure};
use stdx::Nanos;
use wire::tls::TlsSession;
use workload::FailureDetail;

use super::Worker;
use crate::conn::{Conn, State};
use crate::failure::Failure;
use crate::failure_reason::FailureReason;
use crate::host_policy::is_link_local;
use crate::ids::{ConnId, HitId, Id as _, OriginId};
use crate::named_by::NamedBy;
use crate::origin::address_of;
use crate::route::Route;
use crate::settings::{AddressFamily, DnsTtl, FirstAddress};

/// How long one address is tried before the next one is. RFC 8305, 5 gives 250 ms as the usual delay.
const FALLBACK_AFTER: Nanos = Nanos::from_millis(250);
/// With so many hits waiting for a name's addresses, users of a closed loop wait as well.
const AWAIT_MAX: usize = 64;

impl<I: Io> Worker<I> {
    /// Gives a hit a connection: one that can take it, or a new one, or a place in the queue.
    pub(super) fn dispatch(&mut self, hit: HitId) {
        let origin_id = self.hits[hit].origin;
        let origin = &mut self.origins.list[origin_id];
        if origin.waiting.len() == 0
            && let Some(conn) = self.take_ready(origin_id)
        {
            return self.send_on(conn, hit);
        }
        let origin = &mut self.origins.list[origin_id];
        origin.waiting.push(&mut self.hits, hit);
        self.serve(origin_id);
    }

    /// A connection that can take a hit, off its origin's list. Those that grew too old meanwhile are closed.
    fn take_ready(&mut self, origin_id: OriginId) -> Option<ConnId> {
        while let Some(conn_id) = self.origins.list[origin_id].ready.pop_last(&mut self.conns) {
            if !self.is_to_be_renewed(conn_id) {
                return Some(conn_id);
            }
            if self.conns[conn_id].state == State::Idle {
                self.drop_conn(conn_id);
            } else {
                self.retire(conn_id);
            }
        }
        None
    }

    /// Sends a hit on a connection that can take it: as the one it serves, or behind that.
    fn send_on(&mut self, conn_id: ConnId, hit: HitId) {
        let conn = &mut self.conns[conn_id];
        if conn.streams.is_some() {
            self.hits[hit].name_asked_at = Nanos::ZERO;
            return self.open_stream(conn_id, hit);
        }
        if conn.hit.is_none() {
            conn.hit = Some(hit);
        } else {
            conn.pipelined.push(&mut self.hits, hit);
        }
        let entry = &mut self.hits[hit];
        entry.conn = Some(conn_id);
        // What it waited for a name is over, and no part of a redirect's lookup later.
        entry.name_asked_at = Nanos::ZERO;
        self.send_request(conn_id, hit);
    }

    /// Lists a connection with its origin where it can take another hit beside those it serves.
    pub(super) fn mark_ready(&mut self, conn_id: ConnId) {
        let conn = &self.conns[conn_id];
        let room = match conn.state {
            State::Busy => {
                conn.unanswered() < self.pipeline
                    && conn.body.is_none()
                    && !self.is_to_be_renewed(conn_id)
            }
            State::Streaming => self.has_stream_left(conn_id),
            State::Dialing | State::Tunneling | State::Securing | State::Idle | State::Piped => {
                false
            }
        };
        let conn = &self.conns[conn_id];
        if !room || conn.is_ready() {
            return;
        }
        let origin = conn.origin;
        self.origins.list[origin].ready.push(&mut self.conns, conn_id);
        self.queue_service(origin);
    }

    /// Serves the origins where a waiting hit may find room.
    pub(super) fn run_service_queue(&mut self) {
        while let Some(origin_id) = self.service_queue.pop() {
            self.origin(origin_id).needs_service = false;
            self.serve(origin_id);
        }
    }

    /// Gives waiting hits what connections there are, or can be.
    pub(super) fn serve(&mut self, origin_id: OriginId) {
        loop {
            let origin = &mut self.origins.list[origin_id];
            let Some(hit) = origin.waiting.first() else { return };
            if let Some(conn) = self.take_ready(origin_id) {
                self.origins.list[origin_id].waiting.remove(&mut self.hits, hit);
                self.send_on(conn, hit);
                continue;
            }
            let origin = &mut self.origins.list[origin_id];
            if !origin.has_room(self.conns_max)
                || origin.expects_room(self.streams_max)
                || !self.has_addresses(origin_id, hit)
            {
                return;
            }
            if !self.may_dial() {
                return self.defer(origin_id);
            }
            let origin = &mut self.origins.list[origin_id];
            origin.waiting.remove(&mut self.hits, hit);
            origin.open += 1;
            origin.connecting += 1;
            self.dial(origin_id, hit);
            if self.origin(origin_id).needs_service {
                // The dial failed at once, and the origin is listed again: the next one has its own turn.
                return;
            }
        }
    }

    /// Whether an origin's addresses are known; asks for them where not.
    fn has_addresses(&mut self, origin_id: OriginId, hit: HitId) -> bool {
        let now = self.now;
        let origin = &mut self.origins.list[origin_id];
        origin.take_turn(&self.prepared.rotation);
        if now < origin.fresh_until && !origin.addresses.is_empty()
            || matches!(origin.route, Route::Unix(_))
        {
            return true;
        }
        if self.hits[hit].name_asked_at == Nanos::ZERO {
            self.hits[hit].name_asked_at = now;
        }
        if self.refuses_name(origin_id) {
            return false;
        }
        let origin = &mut self.origins.list[origin_id];
        if origin.resolving {
            if origin.waiting.len() >= AWAIT_MAX {
                self.unresolved = Some(origin_id);
            }
            return false;
        }
        let name = origin.endpoint().host.clone();
        if origin.is_owned() {
            // One query answers all origins of this name.
            let known = self.origins.names.entry(name.clone()).or_default();
            if now < known.fresh_until && !known.addresses.is_empty() {
                origin.addresses = Arc::clone(&known.addresses);
                origin.fresh_until = known.fresh_until;
                return true;
            }
            origin.resolving = true;
            known.asked.push(origin_id);
            if known.asked.len() > 1 {
                if known.asked.len() >= AWAIT_MAX {
                    self.unresolved = Some(origin_id);
                }
                return false;
            }
        }
        origin.resolving = true;
        self.io.resolve(origin_id.index(), &name);
        false
    }

    /// Fails the hits that wait for an origin whose name must not be asked.
    fn refuses_name(&mut self, origin_id: OriginId) -> bool {
        let host_policy = &self.prepared.settings.host_policy;
        let name = &self.origins.list[origin_id].endpoint().host;
        let Some(pattern) = host_policy.blocks_name(name) else { return false };
        let text = format!("hostname ({name}) is in a blocked pattern ({pattern})");
        let failure = Failure::other(FailureKind::Dial, text);
        self.origin(origin_id).end_turn();
        self.fail_all(origin_id, &Failure { detail: FailureDetail::ForbiddenName, ..failure });
        true
    }

    /// A name is resolved, or cannot be.
    pub(super) fn handle_resolved(
        &mut self,
        origin_id: OriginId,
        answer: Result<Vec<IpAddr>, String>,
    ) {
        let family = self.prepared.settings.dns_pick.family;
        let answer = answer.map(|addresses| Arc::from(of_family(addresses, family)));
        if !self.origin(origin_id).is_owned() {
            return self.set_addresses(origin_id, &answer);
        }
        let name = self.origin(origin_id).endpoint().host.clone();
        let asked = self.origins.names.get_mut(&name).map(|known| std::mem::take(&mut known.asked));
        for waiting in asked.unwrap_or_default() {
            self.set_addresses(waiting, &answer);
        }
        let origin = &self.origins.list[origin_id];
        if let (Ok(addresses), Some(known)) = (answer, self.origins.names.get_mut(&name)) {
            known.addresses = addresses;
            known.fresh_until = match self.prepared.settings.dns_ttl {
                DnsTtl::Never => Nanos::ZERO,
                DnsTtl::Forever | DnsTtl::For(_) => origin.fresh_until,
            };
        }
    }

    /// An origin's addresses are known, or cannot be.
    fn set_addresses(&mut self, origin_id: OriginId, answer: &Result<Arc<[IpAddr]>, String>) {
        let ttl = self.prepared.settings.dns_ttl;
        let now = self.now;
        let origin = self.origin(origin_id);
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
                self.queue_service(origin_id);
            }
            Ok(_) => {
                let name = origin.endpoint().host.clone();
                self.fail_waiting(origin_id, &format!("lookup {name}: no such host"));
            }
            Err(reason) => self.fail_waiting(origin_id, reason),
        }
    }

    fn fail_waiting(&mut self, origin_id: OriginId, reason: &str) {
        self.origin(origin_id).end_turn();
        let failure = Failure::new(FailureKind::Dns, FailureReason::Lookup(reason.to_owned()));
        self.fail_all(origin_id, &failure);
    }

    /// Fails every hit that waits for an origin.
    fn fail_all(&mut self, origin_id: OriginId, failure: &Failure) {
        while let Some(hit) = self.origins.list[origin_id].waiting.pop_first(&mut self.hits) {
            self.fail(hit, failure);
        }
    }

    /// Makes a new connection for a hit.
    fn dial(&mut self, origin_id: OriginId, hit: HitId) {
        let now = self.now;
        let once = self.prepared.settings.dns_ttl == DnsTtl::Never;
        let entry = &mut self.hits[hit];
        if entry.name_asked_at != Nanos::ZERO {
            entry.dns += now.saturating_sub(entry.name_asked_at);
            entry.name_asked_at = Nanos::ZERO;
        }
        let mut conn = Conn::new(origin_id, hit, now);
        conn.serial = self.serials.next();
        let turn = self.dial_turn(origin_id);
        let origin = &mut self.origins.list[origin_id];
        conn.addresses = origin.next_addresses(turn);
        let conn = self.conns.insert(conn);
        self.hits[hit].conn = Some(conn);
        self.try_address(conn, None);
        let origin = &mut self.origins.list[origin_id];
        origin.end_turn();
        if once && address_of(&origin.endpoint().host).is_none() {
            origin.fresh_until = Nanos::ZERO;
        }
    }

    /// With which of a name's addresses a dial begins, where the origin alone does not say.
    fn dial_turn(&mut self, origin_id: OriginId) -> Option<u32> {
        let first = self.prepared.settings.dns_pick.first;
        let origin = &self.origins.list[origin_id];
        if first == FirstAddress::First {
            return Some(0);
        }
        let known = self.origins.names.get_mut(&origin.endpoint().host)?;
        known.dials = known.dials.wrapping_add(1);
        match first {
            // 2^32 over the golden ratio: neighbours end far from each other.
            FirstAddress::Random => {
                Some((known.dials ^ origin_id.index()).wrapping_mul(0x9e37_79b9) >> 16)
            }
            FirstAddress::First | FirstAddress::InTurn => Some(known.dials.wrapping_sub(1)),
        }
    }

    /// Closes the connections of an owner on which nothing is under way, but for its channels: those it ends itself.
    pub(super) fn close_idle(&mut self, owner: u32) {
        for origin_id in self.origins.owned_by(owner) {
            if self.origins.list[origin_id].channel().is_some() {
                continue;
            }
            while let Some(conn) = self.origins.list[origin_id].ready.pop_last(&mut self.conns) {
                let (state, hit) = (self.conns[conn].state, self.conns[conn].hit);
                let streams = self.conns[conn].streams.as_ref();
                let under_way = streams.is_some_and(|streams| streams.session.streams_open() > 0);
                if state != State::Dialing && hit.is_none() && !under_way {
                    self.drop_conn(conn);
                }
            }
        }
    }

    /// Connects to the next of the origin's addresses; with none left, the hit fails with what the last one said.
    fn try_address(&mut self, conn_id: ConnId, mut last: Option<Failure>) {
        loop {
            let conn = &self.conns[conn_id];
            let origin = &self.origins.list[conn.origin];
            let Some(address) = origin.address(&conn.addresses, conn.attempt) else {
                let failure = last
                    .unwrap_or_else(|| Failure::new(FailureKind::Dial, FailureReason::NoAddress));
                if let Some(hit) = self.drop_conn(conn_id) {
                    self.fail_dial(hit, &failure);
                }
                return;
            };
            if let Some(failure) = self.refuses_address(conn.origin, &address) {
                last = Some(failure);
                self.conns[conn_id].attempt += 1;
                continue;
            }
            let more = origin.address(&conn.addresses, conn.attempt + 1).is_some();
            let from = self.local_address(conn_id);
            match self.io.open(conn_id.index(), Dial { to: &address, from }) {
                Ok(sock) => {
                    self.conns[conn_id].sock = Some(sock);
                    if more {
                        self.fallbacks.push_back((self.now + FALLBACK_AFTER, conn_id, sock));
                    }
                    return;
                }
                Err(failure) => {
                    last = Some(Failure::dial(failure, Some(address)));
                    self.conns[conn_id].attempt += 1;
                }
            }
        }
    }

    /// Why an address must not be asked, if it must not.
    fn refuses_address(&self, origin: OriginId, address: &Address) -> Option<Failure> {
        let Address::Ip(address) = address else { return None };
        let origin = &self.origins.list[origin];
        let is_stranger =
            origin.named == NamedBy::Redirect && matches!(origin.route, Route::Direct);
        if is_stranger && is_link_local(address.ip()) {
            let text =
                format!("{} is a link-local address that only a redirect named", address.ip());
            return Some(Failure::other(FailureKind::Dial, text));
        }
        let net = self.prepared.settings.host_policy.blocks_address(address.ip())?;
        let text = format!("IP ({}) is in a blacklisted range ({net})", address.ip());
        let failure = Failure::other(FailureKind::Dial, text);
        Some(Failure { detail: FailureDetail::ForbiddenAddress, ..failure })
    }

    /// The local address that a connection dials from: the run's connections take turns, and where users have connections
    /// of their own, the users do.
    fn local_address(&self, conn_id: ConnId) -> Option<IpAddr> {
        let list = &self.prepared.settings.local_addrs;
        let conn = &self.conns[conn_id];
        let turn = match self.origins.list[conn.origin].owner {
            0 => conn.serial.wrapping_sub(1),
            owner => self.serials.of_owner(owner),
        };
        (!list.is_empty()).then(|| list[turn as usize % list.len()])
    }

    /// The system refused a connection that was under way.
    pub(super) fn handle_refused(&mut self, conn_id: ConnId, failure: IoFailure) {
        let Some(conn) = self.conns.get_mut(conn_id) else { return };
        conn.sock = None;
        let origin = &self.origins.list[conn.origin];
        let address = origin.address(&conn.addresses, conn.attempt);
        conn.attempt += 1;
        self.try_address(conn_id, Some(Failure::dial(failure, address)));
    }

    /// Tries the next address where one takes too long to answer.
    pub(super) fn fall_back(&mut self) {
        while let Some(&(at, conn_id, sock)) = self.fallbacks.front() {
            if at > self.now || !self.has_budget() {
                return;
            }
            self.fallbacks.pop_front();
            let Some(conn) = self.conns.get_mut(conn_id) else { continue };
            if conn.sock == Some(sock) && conn.state == State::Dialing {
                conn.sock = None;
                conn.attempt += 1;
                self.io.close(sock);
                self.try_address(conn_id, None);
            }
        }
    }

    /// A connection is made: next comes the tunnel, the TLS handshake, or the request.
    pub(super) fn handle_connected(&mut self, conn_id: ConnId) {
        let Some(conn) = self.conns.get(conn_id) else { return };
        let origin = &self.origins.list[conn.origin];
        self.self_metrics.connections += 1;
        if let Some(hit) = conn.hit {
            self.hits[hit].dial += self.now.saturating_sub(conn.since);
        }
        match &origin.route {
            route if route.proxy_tls_name().is_some() => self.secure(conn_id),
            Route::Tunnel(_) => self.ask_for_tunnel(conn_id),
            Route::Socks(_) => self.greet_socks(conn_id),
            Route::Direct | Route::Unix(_) | Route::Forward(_) => self.begin_with_server(conn_id),
        }
    }

    /// Begins the TLS handshake, or has it wait for its turn.
    pub(super) fn secure(&mut self, conn_id: ConnId) {
        self.conns[conn_id].state = State::Securing;
        if self.has_budget() {
            self.begin_handshake(conn_id);
        } else {
            self.defer_handshake(conn_id);
        }
    }

    /// Sends the first message of the TLS handshake.
    pub(super) fn begin_handshake(&mut self, conn_id: ConnId) {
        let conn = &mut self.conns[conn_id];
        let origin = &self.origins.list[conn.origin];
        let with_proxy = origin.route.proxy_tls_name().filter(|_| conn.proxy_tls.is_none());
        let (set_up, name) = match with_proxy {
            Some(name) => (self.prepared.tls_for_proxy(), name),
            None => (self.prepared.tls_for(origin), origin.server_name()),
        };
        let session =
            set_up.map_err(|error| FailureReason::TlsSetup(error.into())).and_then(|cfg| {
                TlsSession::client(&cfg, name).map_err(|error| FailureReason::Tls(error.into()))
            });
        match session {
            Ok(session) if with_proxy.is_some() => {
                conn.proxy_tls = Some(Box::new(session));
                conn.since = self.now;
                self.put_through_proxy(conn_id, &[]);
            }
            Ok(session) => {
                conn.tls = Some(Box::new(session));
                conn.since = self.now;
                self.transmit_records(conn_id);
            }
            Err(reason) => self.fail_connection(conn_id, &Failure::new(FailureKind::Tls, reason)),
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
