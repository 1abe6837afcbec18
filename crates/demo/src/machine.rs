//! `ServerMachine`: the whole server without I/O, clock or threads. One queue stands before the workers of all connections.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use net::{Key, Output, Peer};
use stdx::{Nanos, NumberHash, Prng};

use crate::action::Action;
use crate::answer::{Site, Verdict};
use crate::connection::{CloseKind, Connection, ReadOutcome};
use crate::queue::{Offer, Queue};
use crate::route::Service;
use crate::sockets::Sockets;
use crate::upgrade::{Purpose, Upgrade};
use crate::{Config, ConfigError, ServiceTime, Stats};

/// The server as a state machine. Made by [`ServerMachine::new`], driven as a [`Peer`].
#[derive(Debug)]
pub struct ServerMachine {
    config: Config,
    site: Site,
    rng: Prng,
    conns: HashMap<Key, Connection, NumberHash>,
    /// Connections that became WebSockets.
    sockets: Sockets,
    queue: Queue<Ticket>,
    timers: BinaryHeap<Reverse<Timer>>,
    timers_set: u64,
    /// Connections with output, each once.
    listed: VecDeque<Key>,
    /// Connections whose answers became due in this turn.
    touched: Vec<Key>,
    stats: Stats,
}

/// A request's place: the slot of a connection that may be gone by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ticket {
    key: Key,
    serial: u64,
    slot: u64,
}

/// Something that becomes due; the earliest first, in the order of setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Timer {
    due: Nanos,
    set: u64,
    what: Due,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// A request's answer, after a delay.
    Answer(Ticket, Verdict),
    /// A connection's stream may go on.
    Stream(Ticket),
}

impl ServerMachine {
    /// A server without clients.
    ///
    /// # Errors
    /// The first field of the configuration that cannot be as it is.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            site: Site::new(config.body),
            rng: Prng::new(config.seed),
            conns: HashMap::default(),
            sockets: Sockets::new(config.cable.clone().unwrap_or_default(), config.seed),
            queue: Queue::new(config.workers, config.queue_limit),
            timers: BinaryHeap::new(),
            timers_set: 0,
            listed: VecDeque::new(),
            touched: Vec::new(),
            stats: Stats::default(),
            config,
        })
    }

    /// What was counted so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats {
            queue: self.queue.waiting() as u64,
            queue_max: self.queue.waiting_max() as u64,
            in_service: self.queue.in_service() as u64,
            connections: self.conns.len() as u64 + self.sockets.counts().sockets,
            sockets: self.sockets.counts(),
            ..self.stats
        }
    }

    /// Whether bytes of this connection should be read at all: not while earlier ones wait in the machine.
    #[must_use]
    pub fn wants_bytes(&self, conn: Key) -> bool {
        let socket = self.sockets.wants_bytes(conn);
        socket.unwrap_or_else(|| self.conns.get(&conn).is_some_and(|conn| conn.backlog.is_empty()))
    }

    /// As `poll_output`, but swaps the bytes into `buf`, so that buffers are used again and again.
    pub(crate) fn poll_into(&mut self, buf: &mut Vec<u8>) -> Option<(Key, Action)> {
        loop {
            let Some(&key) = self.listed.front() else { return self.sockets.poll_into(buf) };
            let Some(conn) = self.conns.get_mut(&key).filter(|conn| conn.has_output()) else {
                self.unlist(key);
                continue;
            };
            if !conn.out.is_empty() {
                buf.clear();
                std::mem::swap(buf, &mut conn.out);
                conn.unsent += buf.len();
                if conn.ending.is_none() {
                    self.unlist(key);
                }
                return Some((key, Action::Send));
            }
            let ending = conn.ending;
            self.unlist(key);
            self.conns.remove(&key);
            return Some((key, ending_action(ending)));
        }
    }

    fn unlist(&mut self, key: Key) {
        self.listed.pop_front();
        if let Some(conn) = self.conns.get_mut(&key) {
            conn.listed = false;
        }
    }

    /// Takes out all that became due by `now`: first everything is decided, then the connections go on, since those
    /// may offer new requests to the queue.
    fn settle(&mut self, now: Nanos) {
        while let Some((end, ticket)) = self.queue.poll_done(now) {
            self.serve(end, ticket);
            self.touched.push(ticket.key);
        }
        while let Some(Reverse(timer)) = self.timers.peek().copied().filter(|t| t.0.due <= now) {
            self.timers.pop();
            self.fire(timer.what);
        }
        let mut touched = std::mem::take(&mut self.touched);
        for key in touched.drain(..) {
            self.go_on(now, key);
        }
        self.touched = touched;
    }

    fn fire(&mut self, what: Due) {
        let (Due::Answer(ticket, _) | Due::Stream(ticket)) = what;
        let Some(conn) = self.find(ticket) else { return };
        match what {
            Due::Answer(ticket, verdict) => conn.decide(ticket.slot, verdict),
            Due::Stream(_) => conn.resume(),
        }
        self.touched.push(ticket.key);
    }

    fn find(&mut self, ticket: Ticket) -> Option<&mut Connection> {
        self.conns.get_mut(&ticket.key).filter(|conn| conn.serial == ticket.serial)
    }

    /// Sends a whole request on its way.
    fn dispatch(&mut self, now: Nanos, ticket: Ticket, service: Service) {
        self.stats.requests += 1;
        if service == Service::AtOnce {
            self.answer_after(now, Nanos::ZERO, ticket, Verdict::Served);
        } else if self.config.service == ServiceTime::None {
            self.serve(now, ticket);
        } else {
            // A nanosecond at least, so that a job never ends in the turn that began it.
            let time = self.config.service.draw(&mut self.rng).at_least(Nanos(1));
            if self.queue.offer(now, time, ticket) == Offer::Full {
                self.stats.refused += 1;
                self.answer_after(now, Nanos::ZERO, ticket, Verdict::Refused);
            }
        }
    }

    /// A worker is done with a request, at `at`; its answer may be delayed still.
    fn serve(&mut self, at: Nanos, ticket: Ticket) {
        let rate = self.config.error_rate;
        let fails = rate > 0.0 && self.rng.next_f64() < rate;
        self.stats.errors += u64::from(fails);
        let verdict = if fails { Verdict::Failed } else { Verdict::Served };
        self.answer_after(at, self.config.delay, ticket, verdict);
    }

    fn answer_after(&mut self, at: Nanos, delay: Nanos, ticket: Ticket, verdict: Verdict) {
        let Some(conn) = self.find(ticket) else { return };
        let delay = delay.saturating_add(conn.delay_of(ticket.slot));
        if delay == Nanos::ZERO || verdict == Verdict::Refused {
            conn.decide(ticket.slot, verdict);
        } else {
            self.set_timer(at.saturating_add(delay), Due::Answer(ticket, verdict));
        }
    }

    fn set_timer(&mut self, due: Nanos, what: Due) {
        self.timers_set += 1;
        self.timers.push(Reverse(Timer { due, set: self.timers_set, what }));
    }

    /// Writes what there is room for now, and reads what was left unread for want of room.
    fn go_on(&mut self, now: Nanos, key: Key) {
        self.write(now, key);
        let Some(conn) = self.conns.get_mut(&key) else { return };
        if conn.backlog.is_empty() {
            return;
        }
        let mut backlog = std::mem::take(&mut conn.backlog);
        let used = self.read(now, key, &backlog);
        backlog.drain(..used);
        if let Some(conn) = self.conns.get_mut(&key) {
            conn.backlog = backlog;
        }
    }

    /// Writes what is due and has room, and lists the connection if that is something.
    fn write(&mut self, now: Nanos, key: Key) {
        self.stats = self.stats();
        let Some(conn) = self.conns.get_mut(&key) else { return };
        let pause = conn.pump(&self.site, &mut self.stats);
        if conn.has_output() && !conn.listed {
            conn.listed = true;
            self.listed.push_back(key);
        }
        let ticket = Ticket { key, serial: conn.serial, slot: 0 };
        if let Some(pause) = pause {
            self.set_timer(now.saturating_add(pause), Due::Stream(ticket));
        }
    }

    /// Reads requests until the input ends or no more may be read, and gives how many bytes that used.
    fn read(&mut self, now: Nanos, key: Key, input: &[u8]) -> usize {
        let mut rest = input;
        while let Some(conn) = self.conns.get_mut(&key) {
            let serial = conn.serial;
            match conn.read(&mut rest, self.config.keep_alive) {
                ReadOutcome::Request(slot, service) => {
                    self.dispatch(now, Ticket { key, serial, slot }, service);
                }
                ReadOutcome::Upgrade(upgrade) => {
                    self.upgrade(now, key, *upgrade);
                    self.sockets.handle_bytes(now, key, rest);
                    return input.len();
                }
                ReadOutcome::Malformed => self.stats.malformed += 1,
                ReadOutcome::Nothing if conn.is_read_closed() => return input.len(),
                ReadOutcome::Nothing => {
                    // An invitation to send a body may have been written.
                    self.write(now, key);
                    break;
                }
            }
            self.write(now, key);
        }
        input.len() - rest.len()
    }
}

impl ServerMachine {
    /// The connection becomes a WebSocket; without Action Cable a request for it is refused, and the connection closed.
    fn upgrade(&mut self, now: Nanos, key: Key, mut upgrade: Upgrade) {
        if self.config.cable.is_none() && matches!(upgrade.purpose, Purpose::Cable(_)) {
            upgrade.purpose = Purpose::Close(NO_CABLE);
        }
        let Some(mut conn) = self.conns.remove(&key) else { return };
        self.stats.requests += 1;
        let rest = (std::mem::take(&mut conn.out), conn.unsent);
        self.sockets.open(now, key, upgrade, rest);
    }
}

/// The close code where Action Cable was not asked for. RFC 6455, 7.4.1: it breaks a policy.
const NO_CABLE: u16 = 1008;

impl Peer for ServerMachine {
    fn handle_open(&mut self, _now: Nanos, conn: Key) {
        self.stats.connections_total += 1;
        self.conns.insert(conn, Connection::new(self.stats.connections_total));
    }

    fn handle_bytes(&mut self, now: Nanos, conn: Key, bytes: &[u8]) {
        self.settle(now);
        let Some(client) = self.conns.get_mut(&conn) else {
            return self.sockets.handle_bytes(now, conn, bytes);
        };
        if !client.backlog.is_empty() {
            client.backlog.extend_from_slice(bytes);
            return self.go_on(now, conn);
        }
        let used = self.read(now, conn, bytes);
        if let Some(client) = self.conns.get_mut(&conn) {
            client.backlog.extend_from_slice(&bytes[used..]);
        }
    }

    fn handle_close(&mut self, _now: Nanos, conn: Key) {
        // Its requests keep their workers: a server does not know that the client will not read the response.
        self.conns.remove(&conn);
        self.sockets.handle_close(conn);
    }

    fn next_deadline(&self) -> Option<Nanos> {
        let timer = self.timers.peek().map(|Reverse(timer)| timer.due);
        [self.queue.next_end(), timer, self.sockets.next_deadline()].into_iter().flatten().min()
    }

    fn handle_deadline(&mut self, now: Nanos) {
        self.settle(now);
        self.sockets.handle_deadline(now);
    }

    fn poll_output(&mut self) -> Option<(Key, Output)> {
        let mut bytes = Vec::new();
        let (key, action) = self.poll_into(&mut bytes)?;
        let output = match action {
            Action::Send => Output::Bytes(bytes),
            Action::Close => Output::Close,
            Action::Reset => Output::Reset,
        };
        Some((key, output))
    }

    fn handle_drained(&mut self, now: Nanos, conn: Key) {
        let Some(client) = self.conns.get_mut(&conn) else {
            return self.sockets.handle_drained(conn);
        };
        client.unsent = 0;
        self.settle(now);
        self.go_on(now, conn);
    }
}

fn ending_action(ending: Option<CloseKind>) -> Action {
    if ending == Some(CloseKind::Reset) { Action::Reset } else { Action::Close }
}
