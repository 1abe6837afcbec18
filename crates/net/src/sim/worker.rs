//! The worker's side of a simulated world: sockets, names and sleep, as [`Io`].

use std::net::IpAddr;

use stdx::Nanos;

use super::Faults;
use super::conn::{Conn, PeerEnd, Stage};
use super::event_queue::{ConnId, Fault, SimEvent};
use super::fault::end_of;
use super::link::{Link, Toward};
use super::world::{Notice, World, hash};
use crate::{Address, Dial, Event, Io, IoFailure, Key, Progress, Sock};

impl World {
    /// A call: it costs the worker its time, and meanwhile the world goes on.
    fn call(&mut self) -> Nanos {
        self.clock.spend(self.weather.faults.call_cost);
        self.pass(self.clock.now());
        self.clock.now()
    }

    /// Enters what will become of a connection attempt.
    fn attempt(&mut self, id: ConnId, conn: &mut Conn, has_host: bool) {
        let now = self.clock.now();
        let (refuse, unanswered) = (self.weather.faults.refuse, self.weather.faults.unanswered);
        if self.weather.strikes(unanswered) {
            let at = now.saturating_add(self.weather.faults.connect_timeout);
            conn.peer_end = PeerEnd::Closed;
            return self.event_queue.enter(at, SimEvent::Refused(id, Fault::TimedOut));
        }
        let there = self.weather.lost_for(Faults::RETRANSMIT_CONNECT);
        let there = now.saturating_add(there).saturating_add(self.weather.latency());
        let there = end_of(&self.weather.faults.link_stalls, there);
        let back = there.saturating_add(self.weather.latency());
        let back = end_of(&self.weather.faults.link_stalls, back);
        if !has_host || self.weather.strikes(refuse) {
            conn.peer_end = PeerEnd::Closed;
            return self.event_queue.enter(back, SimEvent::Refused(id, Fault::Refused));
        }
        // The kernel answers for a server that stands still; the server itself takes the connection later.
        let taken = end_of(&self.weather.faults.server_stalls, there);
        conn.up = Link::new(Toward::Peer, taken);
        self.event_queue.enter(taken, SimEvent::Accepted(id));
        self.event_queue.enter(back, SimEvent::Connected(id));
    }

    /// The worker lets go of a socket; `end` says how its direction of the connection ends.
    fn let_go(&mut self, sock: Sock, end: fn(&mut Self, &mut Conn)) {
        self.call();
        if !self.conns.get(&sock.0).is_some_and(Conn::is_held) {
            return;
        }
        let Some(mut conn) = self.conns.remove(&sock.0) else { return };
        self.descriptors_used -= 1;
        conn.stage = Stage::Closed;
        conn.inbox.clear();
        end(self, &mut conn);
        self.untold.retain(|notice| notice.conn() != Some(sock.0));
        self.note(11, sock.0, 0);
        self.conns.insert(sock.0, conn);
        self.pump_up(sock.0);
        self.pump_down(sock.0, self.clock.now());
    }

    /// What a name resolves to, this time.
    fn answer(&mut self, name: &str) -> Result<Vec<IpAddr>, String> {
        if let Ok(ip) = name.parse() {
            return Ok(vec![ip]);
        }
        let fails = self.weather.strikes(self.weather.faults.resolve_failure);
        match self.names.get(name) {
            Some(ips) if !ips.is_empty() && !fails => Ok(ips.clone()),
            _ => Err(format!("lookup {name}: no such host")),
        }
    }

    /// By how much the worker sleeps longer than it wants to, this time.
    fn oversleep(&mut self) -> Nanos {
        match self.weather.faults.oversleep.0 {
            0 => Nanos::ZERO,
            most => Nanos(self.weather.rng.below(most.saturating_add(1))),
        }
    }

    /// A notice as the worker's event; `None` if it is about a socket that the worker has closed.
    fn event_of(&mut self, notice: Notice) -> Option<Event> {
        match notice {
            Notice::Connected(id) => {
                Some(Event::Connected(self.conns.get(&id).filter(|conn| conn.is_held())?.key))
            }
            Notice::Refused(id, failure) => {
                let conn = self.conns.get_mut(&id).filter(|conn| conn.is_held())?;
                conn.stage = Stage::Closed;
                let key = conn.key;
                self.descriptors_used -= 1;
                self.forget(id);
                Some(Event::Refused(key, failure))
            }
            Notice::Ready(id) => {
                let conn = self.conns.get_mut(&id).filter(|conn| conn.is_held())?;
                conn.untold.take().map(|ready| Event::Ready(conn.key, ready))
            }
            Notice::Resolved(key, answer) => Some(Event::Resolved(key, answer)),
            Notice::Woken => Some(Event::Woken),
        }
    }
}

impl Io for World {
    fn now(&mut self) -> Nanos {
        self.call()
    }

    fn open(&mut self, key: Key, dial: Dial<'_>) -> Result<Sock, IoFailure> {
        self.call();
        if self.descriptors_used >= self.weather.faults.descriptors {
            return Err(IoFailure::DescriptorsExhausted);
        }
        let host = self.hosts.iter().position(|host| host.address == *dial.to);
        if host.is_none() && matches!(dial.to, Address::Unix(_)) {
            return Err(IoFailure::Refused);
        }
        self.opened += 1;
        self.descriptors_used += 1;
        let id = self.opened;
        let mut conn = Conn::new(key, host.unwrap_or_default());
        self.attempt(id, &mut conn, host.is_some());
        self.conns.insert(id, conn);
        self.note(12, id, u64::from(key));
        Ok(Sock(id))
    }

    fn set_key(&mut self, sock: Sock, key: Key) {
        if let Some(conn) = self.conns.get_mut(&sock.0) {
            conn.key = key;
        }
    }

    fn recv(&mut self, sock: Sock, buf: &mut [u8]) -> Progress {
        self.call();
        let Some(conn) = self.conns.get_mut(&sock.0).filter(|conn| conn.stage == Stage::Open)
        else {
            return Progress::Failed(IoFailure::Other(NOT_CONNECTED));
        };
        let len = buf.len().min(conn.inbox.len());
        self.arrived = (len > 0 && self.weather.faults.stamps).then_some(conn.arrived);
        if len == 0 {
            return match conn.failure {
                _ if buf.is_empty() || conn.ended => Progress::Bytes(0),
                Some(failure) => Progress::Failed(failure),
                None => Progress::Later,
            };
        }
        for (to, from) in buf.iter_mut().zip(conn.inbox.drain(..len)) {
            *to = from;
        }
        self.note(13, sock.0, hash(&buf[..len]));
        // The peer learns of the room one way later.
        let arrival = self.clock.now().saturating_add(self.weather.faults.latency_min);
        self.pump_down(sock.0, arrival);
        Progress::Bytes(len)
    }

    fn arrived(&self) -> Option<Nanos> {
        self.arrived
    }

    fn sleep(&mut self, until: Nanos) -> Nanos {
        self.call();
        let late = self.oversleep();
        if until > self.clock.now() {
            self.clock.sleep_until(until.saturating_add(late));
            self.pass(self.clock.now());
        }
        self.clock.now()
    }

    fn send(&mut self, sock: Sock, bytes: &[u8]) -> Progress {
        self.call();
        let window = self.weather.faults.send_window;
        let Some(conn) = self.conns.get_mut(&sock.0).filter(|conn| conn.stage == Stage::Open)
        else {
            return Progress::Failed(IoFailure::Other(NOT_CONNECTED));
        };
        if let Some(failure) = conn.failure {
            return Progress::Failed(failure);
        }
        let mut len = bytes.len().min(conn.send_room(window));
        if len > 1 && self.weather.strikes(self.weather.faults.partial_send) {
            len = 1 + self.weather.rng.below(len as u64 - 1) as usize;
        }
        conn.wants_room |= len < bytes.len();
        if len == 0 && !bytes.is_empty() {
            return Progress::Later;
        }
        conn.up.put(&bytes[..len]);
        self.note(14, sock.0, hash(&bytes[..len]));
        self.pump_up(sock.0);
        Progress::Bytes(len)
    }

    fn close(&mut self, sock: Sock) {
        self.let_go(sock, |_, conn| conn.up.close());
    }

    fn reset(&mut self, sock: Sock) {
        self.let_go(sock, |world, conn| {
            conn.up.reset(world.clock.now(), &mut world.weather);
        });
    }

    fn resolve(&mut self, key: Key, name: &str) {
        let now = self.call();
        let answer = self.answer(name);
        let at = now.saturating_add(self.weather.faults.resolve);
        self.event_queue.enter(at, SimEvent::Resolved(key, answer));
    }

    /// # Panics
    /// `until` is `None` and nothing will ever happen: the worker would sleep for ever.
    fn wait(&mut self, until: Option<Nanos>) -> Nanos {
        self.call();
        while self.untold.is_empty() {
            let next = self.next_at().into_iter().chain(until).min();
            let next = next.expect("a worker of the simulated world sleeps for ever");
            if until.is_some_and(|until| until <= self.clock.now()) {
                break;
            }
            let late = self.oversleep();
            // What happens to others alone lets the worker sleep on; only what wakes it may be late.
            self.pass(next);
            if !self.untold.is_empty() || until.is_some_and(|until| until <= next) {
                self.clock.sleep_until(next.saturating_add(late));
                self.pass(self.clock.now());
            }
        }
        self.telling.append(&mut self.untold);
        self.clock.now()
    }

    fn next_event(&mut self) -> Option<Event> {
        loop {
            let notice = self.telling.pop_front()?;
            if let Some(event) = self.event_of(notice) {
                return Some(event);
            }
        }
    }
}

/// ENOTCONN on Linux: the caller used a socket before `Connected` or after closing it.
const NOT_CONNECTED: i32 = 107;
