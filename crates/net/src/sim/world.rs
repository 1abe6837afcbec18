//! `World`: what is around the simulated machine: peers, names, and what happens to connections on their way.
//!
//! The worker's side of it, [`crate::Io`], is in `worker.rs`.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::net::IpAddr;

use stdx::{Nanos, Prng, mix};

use super::Faults;
use super::clock::Clock;
use super::conn::{Conn, PeerEnd, Stage};
use super::event_queue::{ConnId, EventQueue, SimEvent};
use super::fault::end_of;
use super::link::{Link, Piece, Weather};
use crate::{Address, IoFailure, Key, Output, Peer, Ready};

/// A simulated world: one worker's machine, its links, and the peers at their addresses.
///
/// A peer that said [`Output::Close`] or [`Output::Reset`] gets no more events of that connection, not even
/// [`Peer::handle_close`]; its number is used again. A name is known only by [`World::add_name`].
pub struct World {
    pub(super) clock: Clock,
    pub(super) weather: Weather,
    pub(super) event_queue: EventQueue,
    pub(super) conns: BTreeMap<ConnId, Conn>,
    pub(super) hosts: Vec<Host>,
    pub(super) names: BTreeMap<String, Vec<IpAddr>>,
    /// Events to be given after the next `wait`.
    pub(super) untold: VecDeque<Notice>,
    /// Events being given.
    pub(super) telling: VecDeque<Notice>,
    pub(super) opened: u64,
    /// Connections whose worker's end is open: descriptors in use.
    pub(super) descriptors_used: usize,
    /// When what was read last had arrived.
    pub(super) arrived: Option<Nanos>,
    /// The time of what happened last.
    time: Nanos,
    trace: u64,
}

/// A peer and the connections it knows.
pub(super) struct Host {
    pub(super) address: Address,
    peer: Box<dyn Peer>,
    /// The connection behind each number.
    conns: Vec<Option<ConnId>>,
    /// Numbers to use again, the last freed first.
    free: Vec<Key>,
}

/// An event for the worker.
#[derive(Debug)]
pub(super) enum Notice {
    Connected(ConnId),
    Refused(ConnId, IoFailure),
    Ready(ConnId),
    Resolved(Key, Result<Vec<IpAddr>, String>),
    Woken,
}

impl World {
    /// The most bytes that a connection keeps for a peer that gives more than the network takes; beyond them it is
    /// reset.
    pub const BACKLOG_MAX: usize = 64 << 20;
    /// The most things that may happen, and the most outputs of a peer, at one instant.
    pub const AT_ONCE_MAX: u64 = 1 << 20;

    /// An empty world whose every choice follows from `seed`. Faults beyond their limits are brought within them.
    #[must_use]
    pub fn new(seed: u64, faults: Faults) -> Self {
        let faults = faults.bounded();
        Self {
            clock: Clock::new(faults.worker_stalls.clone()),
            weather: Weather { faults, rng: Prng::new(seed) },
            event_queue: EventQueue::default(),
            conns: BTreeMap::new(),
            hosts: Vec::new(),
            names: BTreeMap::new(),
            untold: VecDeque::new(),
            telling: VecDeque::new(),
            opened: 0,
            descriptors_used: 0,
            arrived: None,
            time: Nanos::ZERO,
            trace: seed,
        }
    }

    /// Lets `peer` listen at `address`. Of several at one address the first answers.
    pub fn add_peer(&mut self, address: Address, peer: Box<dyn Peer>) {
        self.hosts.push(Host { address, peer, conns: Vec::new(), free: Vec::new() });
    }

    /// Makes `name` resolve to `ips`. Without any, as any other name, it does not resolve.
    pub fn add_name(&mut self, name: &str, ips: Vec<IpAddr>) {
        self.names.insert(name.to_owned(), ips);
    }

    /// Calls the waker at that time, as another thread would: [`crate::Event::Woken`] follows.
    pub fn wake_at(&mut self, at: Nanos) {
        self.event_queue.enter(at.max(self.clock.now()), SimEvent::Woken);
    }

    /// A hash of everything that happened so far: equal for the same seed and the same calls.
    #[must_use]
    pub const fn trace(&self) -> u64 {
        self.trace
    }

    /// Adds to the trace that `what` happened to `whom`, with a number that distinguishes it from others of its kind.
    pub(super) fn note(&mut self, what: u64, whom: u64, detail: u64) {
        for part in [self.time.0, what, whom, detail] {
            self.trace = mix(self.trace, part);
        }
    }

    /// When something happens next without the worker's doing, after `self.time` in any case.
    pub(super) fn next_at(&self) -> Option<Nanos> {
        let deadline = self.next_deadline().map(|(at, _)| at);
        let event_queue = self.event_queue.next_at();
        event_queue.into_iter().chain(deadline).min()
    }

    /// The next deadline of a peer that is awake then, and which peer's it is.
    fn next_deadline(&self) -> Option<(Nanos, usize)> {
        let stalls = &self.weather.faults.server_stalls;
        let deadline = |(index, host): (usize, &Host)| {
            let at = host.peer.next_deadline()?;
            Some((end_of(stalls, at.max(self.time)), index))
        };
        self.hosts.iter().enumerate().filter_map(deadline).min()
    }

    /// Lets everything happen that happens until `until`.
    ///
    /// # Panics
    /// Too much happens at one instant: a peer's deadline never passes.
    pub(super) fn pass(&mut self, until: Nanos) {
        let mut at_once = 0;
        while let Some(at) = self.next_at().filter(|at| *at <= until) {
            at_once = if at > self.time { 0 } else { at_once + 1 };
            assert!(at_once < Self::AT_ONCE_MAX, "the simulated world stands still at {at}");
            self.time = self.time.max(at);
            if self.event_queue.next_at() == Some(at) {
                if let Some((_, event)) = self.event_queue.take() {
                    self.happen(event);
                }
            } else if let Some((_, host)) = self.next_deadline() {
                self.note(1, host as u64, 0);
                self.hosts[host].peer.handle_deadline(self.time);
                self.poll(host);
            }
        }
        self.time = self.time.max(until);
    }

    fn happen(&mut self, event: SimEvent) {
        match event {
            SimEvent::Accepted(id) => self.accept(id),
            SimEvent::Connected(id) => {
                if let Some(conn) = self.conns.get_mut(&id).filter(|conn| conn.is_held()) {
                    conn.stage = Stage::Open;
                    self.untold.push_back(Notice::Connected(id));
                    self.note(2, id, 0);
                }
            }
            SimEvent::Refused(id, fault) => {
                if let Some(conn) = self.conns.get_mut(&id).filter(|conn| conn.is_held()) {
                    conn.stage = Stage::Refused;
                    self.untold.push_back(Notice::Refused(id, fault.into()));
                    self.note(3, id, fault as u64);
                }
            }
            SimEvent::ToPeer(id) => self.arrive_at_peer(id),
            SimEvent::ToWorker(id) => self.arrive_at_worker(id),
            SimEvent::Drained(id) => self.drained(id),
            SimEvent::PeerLost(id) => self.close_peer_end(id),
            SimEvent::Resolved(key, answer) => {
                self.note(4, u64::from(key), answer.is_ok().into());
                self.untold.push_back(Notice::Resolved(key, answer));
            }
            SimEvent::Woken => {
                self.note(5, 0, 0);
                self.untold.push_back(Notice::Woken);
            }
        }
    }

    /// The server takes the connection.
    fn accept(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        let host = conn.host;
        let key = self.hosts[host].number(id);
        conn.peer_end = PeerEnd::Open(key);
        self.note(6, id, u64::from(key));
        self.hosts[host].peer.handle_open(self.time, key);
        self.poll(host);
    }

    /// A segment arrives at the peer.
    fn arrive_at_peer(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        conn.up.is_armed = false;
        let piece = conn.up.take();
        let (host, peer_end) = (conn.host, conn.peer_end);
        if conn.wants_room && conn.failure.is_none() {
            conn.wants_room = false;
            self.ready(id, Ready { writable: true, ..Ready::default() });
        }
        self.arm(id);
        match (piece, peer_end) {
            (None, _) => {}
            (Some(Piece::Bytes(bytes)), PeerEnd::Open(key)) => {
                self.note(7, id, hash(&bytes));
                self.hosts[host].peer.handle_bytes(self.time, key, &bytes);
                self.poll(host);
            }
            // The server has closed the connection: its kernel answers bytes with a reset.
            (Some(Piece::Bytes(_)), _) => self.reset_down(id),
            (Some(Piece::End), _) => self.close_peer_end(id),
            (Some(Piece::Reset), _) => {
                self.close_peer_end(id);
                self.reset_down(id);
            }
        }
    }

    /// A segment arrives at the worker's machine.
    fn arrive_at_worker(&mut self, id: ConnId) {
        let stalls = &self.weather.faults.server_stalls;
        let Some(conn) = self.conns.get_mut(&id) else { return };
        conn.down.is_armed = false;
        let Some(piece) = conn.down.take() else { return };
        let mut ready = Ready { readable: true, ..Ready::default() };
        let detail = match piece {
            Piece::Bytes(bytes) => {
                let detail = hash(&bytes);
                if conn.is_held() {
                    conn.inbox.extend(bytes);
                    conn.arrived = self.time;
                }
                detail
            }
            Piece::End => {
                conn.ended = true;
                ready.closed = true;
                1
            }
            Piece::Reset => {
                // A reset after the peer's end fails a send with EPIPE.
                let broken = if conn.ended { IoFailure::BrokenPipe } else { IoFailure::Reset };
                conn.failure = Some(broken);
                ready = Ready { readable: true, writable: true, closed: true };
                self.event_queue.enter(end_of(stalls, self.time), SimEvent::PeerLost(id));
                2
            }
        };
        self.note(8, id, detail);
        self.ready(id, ready);
        self.pump_down(id, self.time);
    }

    /// The network has taken everything that the peer gave; it may have more.
    fn drained(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get(&id) else { return };
        let (host, PeerEnd::Open(key)) = (conn.host, conn.peer_end) else { return };
        self.hosts[host].peer.handle_drained(self.time, key);
        self.poll(host);
    }

    /// The peer learns that the worker closed or reset.
    fn close_peer_end(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        let (host, end) = (conn.host, conn.peer_end);
        conn.peer_end = PeerEnd::Closed;
        if let PeerEnd::Open(key) = end {
            self.note(9, id, 0);
            self.hosts[host].free_number(key);
            self.hosts[host].peer.handle_close(self.time, key);
            self.poll(host);
        }
        self.forget(id);
    }

    /// Does what the peer wants done.
    ///
    /// # Panics
    /// The peer wants too much at one instant: it does not wait for [`Peer::handle_drained`].
    fn poll(&mut self, host: usize) {
        let mut outputs = 0;
        while let Some((key, output)) = self.hosts[host].peer.poll_output() {
            outputs += 1;
            assert!(outputs < Self::AT_ONCE_MAX, "a peer speaks without end at {}", self.time);
            let slot = self.hosts[host].conns.get_mut(key as usize);
            let Some(id) = slot.as_ref().and_then(|slot| **slot) else { continue };
            let Some(conn) = self.conns.get_mut(&id) else { continue };
            match output {
                Output::Bytes(bytes)
                    if conn.down.bytes_unsent() + bytes.len() <= Self::BACKLOG_MAX =>
                {
                    conn.down.put(&bytes);
                }
                Output::Close => {
                    conn.down.close();
                    self.leave(host, key, id);
                }
                Output::Bytes(_) | Output::Reset => {
                    conn.down.reset(self.time, &mut self.weather);
                    self.leave(host, key, id);
                }
            }
            self.pump_down(id, self.time);
        }
    }

    /// The peer has done with the connection.
    fn leave(&mut self, host: usize, key: Key, id: ConnId) {
        self.hosts[host].free_number(key);
        self.note(10, id, 0);
        if let Some(conn) = self.conns.get_mut(&id) {
            conn.peer_end = PeerEnd::Closed;
        }
    }

    /// Sends on what the peer gave, as far as the worker has room, and notifies the peer when all is gone.
    pub(super) fn pump_down(&mut self, id: ConnId, now: Nanos) {
        let faults = &self.weather.faults;
        let (window, awake) = (faults.receive_window, end_of(&faults.server_stalls, self.time));
        let Some(conn) = self.conns.get_mut(&id) else { return };
        let before = conn.down.bytes_unsent();
        let room = conn.receive_room(window);
        conn.down.pump(now, room, &mut self.weather);
        if before > 0 && conn.down.bytes_unsent() == 0 && !conn.down.is_over() {
            self.event_queue.enter(awake, SimEvent::Drained(id));
        }
        self.arm(id);
        self.forget(id);
    }

    /// Sends on what the worker gave; its window was looked at in `send`.
    pub(super) fn pump_up(&mut self, id: ConnId) {
        let now = self.time;
        let Some(conn) = self.conns.get_mut(&id) else { return };
        conn.up.pump(now, usize::MAX, &mut self.weather);
        self.arm(id);
    }

    fn reset_down(&mut self, id: ConnId) {
        if let Some(conn) = self.conns.get_mut(&id) {
            conn.down.reset(self.time, &mut self.weather);
            self.arm(id);
        }
    }

    /// Enters the arrival of each link's first segment, once.
    pub(super) fn arm(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        let arm = |link: &mut Link| {
            let at = link.next_at().filter(|_| !link.is_armed);
            link.is_armed |= at.is_some();
            at
        };
        if let Some(at) = arm(&mut conn.up) {
            self.event_queue.enter(at, SimEvent::ToPeer(id));
        }
        if let Some(at) = arm(&mut conn.down) {
            self.event_queue.enter(at, SimEvent::ToWorker(id));
        }
    }

    /// Reports readiness to the worker, if it still has the socket.
    fn ready(&mut self, id: ConnId, ready: Ready) {
        let Some(conn) = self.conns.get_mut(&id).filter(|conn| conn.stage == Stage::Open) else {
            return;
        };
        if conn.untold.is_none() {
            self.untold.push_back(Notice::Ready(id));
        }
        let known = conn.untold.get_or_insert_default();
        known.readable |= ready.readable;
        known.writable |= ready.writable;
        known.closed |= ready.closed;
    }

    /// Drops a connection that both ends have closed.
    pub(super) fn forget(&mut self, id: ConnId) {
        if self.conns.get(&id).is_some_and(Conn::is_forgotten) {
            self.conns.remove(&id);
        }
    }
}

impl Notice {
    /// The connection it is about.
    pub(super) const fn conn(&self) -> Option<ConnId> {
        match self {
            Self::Connected(id) | Self::Refused(id, _) | Self::Ready(id) => Some(*id),
            Self::Resolved(..) | Self::Woken => None,
        }
    }
}

impl Host {
    /// The number under which the peer knows a new connection.
    fn number(&mut self, id: ConnId) -> Key {
        if let Some(key) = self.free.pop() {
            self.conns[key as usize] = Some(id);
            return key;
        }
        self.conns.push(Some(id));
        Key::try_from(self.conns.len() - 1).expect("descriptors are limited far below 2^32")
    }

    fn free_number(&mut self, key: Key) {
        self.conns[key as usize] = None;
        self.free.push(key);
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("time", &self.time)
            .field("conns", &self.conns.len())
            .field("trace", &self.trace)
            .finish_non_exhaustive()
    }
}

/// A number that follows from the bytes (FNV-1a).
pub(super) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
