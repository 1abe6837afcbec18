//! `Sockets`: the WebSockets of the server without I/O: their messages, the cable's deliveries with their chosen defects,
//! pings and ends. A client that does not read is dropped and counted.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;

use net::Key;
use stdx::{Nanos, NumberHash, Prng};
use wire::cable::{Codec, Format, Kind, Reply};
use wire::ws::{Event, Limits, Role, WsSession};

use crate::action::Action;
use crate::cable::{CommandReply, Hub, Member, encode};
use crate::stats::SocketStats;
use crate::upgrade::{Purpose, Upgrade};
use crate::{Cable, ServiceTime};

/// The largest message taken: 16 MiB.
const MESSAGE_MAX: usize = 16 << 20;
/// A client that so many bytes of the cable's wait for is dropped: 256 KiB.
const WAITING_MAX: usize = 256 << 10;
/// Messages that may wait for their delay at once, over all clients; further ones are sent at once and counted.
const DELAYED_MAX: usize = 1 << 20;
/// How long a client may take to answer a close.
const CLOSE_WAIT: Nanos = Nanos::from_millis(2000);
/// Nanoseconds of a second: a ping's time is in seconds.
const NANOS_PER_S: u64 = 1_000_000_000;

/// All WebSockets.
#[derive(Debug)]
pub(crate) struct Sockets {
    cable: Cable,
    rng: Prng,
    sockets: HashMap<Key, Socket, NumberHash>,
    hub: Hub,
    timers: BinaryHeap<Reverse<Timer>>,
    timers_set: u64,
    delayed: usize,
    ping_due: Option<Nanos>,
    /// Sockets with output, each once.
    listed: VecDeque<Key>,
    counts: SocketStats,
}

/// One WebSocket.
#[derive(Debug)]
struct Socket {
    /// A number that earlier sockets of the same key did not have.
    serial: u64,
    session: WsSession,
    /// The cable's, if it is one.
    member: Option<Box<Member>>,
    out: Vec<u8>,
    unsent: usize,
    /// A message that the next one overtakes.
    held: Option<Arc<[u8]>>,
    /// When the last delayed message is due; those after it are not due before.
    due: Nanos,
    ending: Option<Action>,
    listed: bool,
}

/// Something that becomes due; the earliest first, in the order of setting.
#[derive(Debug)]
struct Timer {
    due: Nanos,
    set: u64,
    key: Key,
    serial: u64,
    what: Due,
}

#[derive(Debug)]
enum Due {
    Deliver(Arc<[u8]>),
    /// Action Cable asks the client to reconnect.
    Disconnect,
    /// The client had time enough to answer a close.
    Close,
}

impl Sockets {
    pub(crate) fn new(cable: Cable, seed: u64) -> Self {
        Self {
            cable,
            rng: Prng::new(stdx::mix(seed, 0x5eed)),
            sockets: HashMap::default(),
            hub: Hub::default(),
            timers: BinaryHeap::new(),
            timers_set: 0,
            delayed: 0,
            ping_due: None,
            listed: VecDeque::new(),
            counts: SocketStats::default(),
        }
    }

    /// What was counted so far.
    pub(crate) fn counts(&self) -> SocketStats {
        SocketStats { sockets: self.sockets.len() as u64, ..self.counts }
    }

    /// Opens one. `before` is what its connection has still to send, `unsent` what is on its way.
    pub(crate) fn open(
        &mut self,
        now: Nanos,
        key: Key,
        upgrade: Upgrade,
        (before, unsent): (Vec<u8>, usize),
    ) {
        self.counts.sockets_total += 1;
        let limits = Limits { message_bytes_max: MESSAGE_MAX, ..Limits::default() };
        let session = WsSession::new(Role::Server, &upgrade.agreed, limits, 0);
        let (serial, mut out) = (self.counts.sockets_total, before);
        out.extend_from_slice(&upgrade.response);
        let mut socket = Socket {
            serial,
            session,
            member: None,
            out,
            unsent,
            held: None,
            due: now,
            ending: None,
            listed: false,
        };
        match upgrade.purpose {
            Purpose::Echo => (),
            Purpose::Close(code) => {
                socket.session.close(Some(code), "as asked", &mut socket.out);
                self.set_timer(now.saturating_add(CLOSE_WAIT), (key, serial), Due::Close);
            }
            Purpose::Cable(user) => {
                let protocol = upgrade.agreed.protocol.as_deref().and_then(Codec::of_subprotocol);
                let format = protocol.map_or(Format::Json, |codec| codec.format);
                socket.member = Some(Box::new(Member::new(format, user)));
                socket.send(&encode(format, &Reply { kind: Kind::Welcome, ..Reply::default() }));
                self.ping_due.get_or_insert(now.saturating_add(self.cable.ping));
                if let Some(after) = self.cable.disconnect_after {
                    self.set_timer(now.saturating_add(after), (key, serial), Due::Disconnect);
                }
            }
        }
        self.sockets.insert(key, socket);
        self.list(key);
    }

    /// Whether a socket of this key wants to be read; `None` if there is none.
    pub(crate) fn wants_bytes(&self, key: Key) -> Option<bool> {
        self.sockets.get(&key).map(|socket| socket.ending.is_none())
    }

    /// Takes bytes of a client.
    pub(crate) fn handle_bytes(&mut self, now: Nanos, key: Key, bytes: &[u8]) {
        let Some(socket) = self.sockets.get_mut(&key).filter(|one| one.ending.is_none()) else {
            return;
        };
        let (mut answers, mut messages) = (Vec::new(), Vec::new());
        let result = socket.session.handle_bytes(bytes, &mut answers, &mut |event| match event {
            Event::Text(text) => messages.push((Format::Json, text.as_bytes().to_vec())),
            Event::Binary(bytes) => messages.push((Format::Msgpack, bytes.to_vec())),
            Event::Ping(_) | Event::Pong(_) | Event::Close { .. } => (),
        });
        self.counts.ws_messages += messages.len() as u64;
        self.counts.ws_malformed += u64::from(result.is_err());
        // A pong goes before the answer to a message that ended after its ping.
        socket.out.append(&mut answers);
        for (format, message) in messages {
            self.take_message(now, key, format, &message);
        }
        let Some(socket) = self.sockets.get_mut(&key) else { return };
        if result.is_err() || socket.session.is_closed() {
            socket.ending = Some(Action::Close);
        }
        self.list(key);
    }

    /// A message: it is echoed, or it is a command of the cable's.
    fn take_message(&mut self, now: Nanos, key: Key, format: Format, bytes: &[u8]) {
        let Some(socket) = self.sockets.get_mut(&key) else { return };
        let Some(member) = &mut socket.member else {
            let text = std::str::from_utf8(bytes).ok().filter(|_| format == Format::Json);
            // After a close there is no client to echo to.
            match text {
                Some(text) => socket.session.send_text(text, &mut socket.out).ok(),
                None => socket.session.send_binary(bytes, &mut socket.out).ok(),
            };
            return;
        };
        let reply = self.hub.handle_command(
            (key, member),
            (&self.cable, &mut self.rng),
            bytes,
            &mut self.counts,
        );
        match reply {
            CommandReply::Nothing => (),
            CommandReply::Answer(bytes) => {
                socket.send(&bytes);
            }
            CommandReply::Echo(bytes) => self.deliver(now, key, &bytes),
            CommandReply::Broadcast(all) => {
                for (key, _, bytes) in all {
                    self.deliver(now, key, &bytes);
                }
            }
        }
    }

    /// Sends a message to a subscription, or what the defects leave of that.
    fn deliver(&mut self, now: Nanos, key: Key, bytes: &Arc<[u8]>) {
        let cable = &self.cable;
        if self.rng.next_f64() < cable.loss {
            self.counts.cable_lost += 1;
            return;
        }
        let copies = if self.rng.next_f64() < cable.duplicate { 2 } else { 1 };
        self.counts.cable_duplicated += copies - 1;
        for _ in 0..copies {
            self.deliver_one(now, key, bytes);
        }
    }

    fn deliver_one(&mut self, now: Nanos, key: Key, bytes: &Arc<[u8]>) {
        let Some(socket) = self.sockets.get_mut(&key) else { return };
        if self.cable.delay == ServiceTime::None {
            let held = self.rng.next_f64() < self.cable.reorder;
            return self.arrive(key, bytes, if held { Order::Later } else { Order::Kept });
        }
        let due = now.saturating_add(self.cable.delay.draw(&mut self.rng)).max(socket.due);
        (socket.due, self.delayed) = (due, self.delayed + 1);
        let serial = socket.serial;
        if self.delayed <= DELAYED_MAX {
            return self.set_timer(due, (key, serial), Due::Deliver(Arc::clone(bytes)));
        }
        self.delayed -= 1;
        self.counts.cable_undelayed += 1;
        self.arrive(key, bytes, Order::Kept);
    }

    /// The message's time has come.
    fn arrive(&mut self, key: Key, bytes: &Arc<[u8]>, order: Order) {
        let Some(socket) = self.sockets.get_mut(&key).filter(|one| one.ending.is_none()) else {
            return;
        };
        if order == Order::Later && socket.held.is_none() {
            self.counts.cable_reordered += 1;
            socket.held = Some(Arc::clone(bytes));
            return;
        }
        let held = socket.held.as_ref().map_or(0, |held| held.len());
        if socket.waiting() + bytes.len() + held > WAITING_MAX {
            self.counts.sockets_dropped += 1;
            socket.drop_it();
        } else {
            self.counts.cable_sent += socket.send_with_held(bytes);
        }
        self.list(key);
    }

    /// When something is due next.
    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        let timer = self.timers.peek().map(|Reverse(timer)| timer.due);
        [timer, self.ping_due].into_iter().flatten().min()
    }

    /// Does what became due by `now`.
    pub(crate) fn handle_deadline(&mut self, now: Nanos) {
        while self.timers.peek().is_some_and(|Reverse(timer)| timer.due <= now) {
            let Some(Reverse(timer)) = self.timers.pop() else { return };
            self.fire(now, timer);
        }
        if self.ping_due.is_some_and(|due| due <= now) {
            self.ping(now);
        }
    }

    fn fire(&mut self, now: Nanos, timer: Timer) {
        let Timer { key, serial, what, .. } = timer;
        self.delayed -= usize::from(matches!(what, Due::Deliver(_)));
        let Some(socket) = self.sockets.get_mut(&key).filter(|one| one.serial == serial) else {
            return;
        };
        match what {
            Due::Deliver(bytes) => {
                let held = self.rng.next_f64() < self.cable.reorder;
                self.arrive(key, &bytes, if held { Order::Later } else { Order::Kept });
            }
            Due::Disconnect => {
                self.counts.cable_disconnected += 1;
                let format = socket.member.as_ref().map_or(Format::Json, |member| member.format);
                let (reason, reconnect) = ("server_restart", Some(true));
                socket.send(&encode(
                    format,
                    &Reply { kind: Kind::Disconnect, reason, reconnect, ..Reply::default() },
                ));
                socket.session.close(Some(1000), "", &mut socket.out);
                if let Some(member) = socket.member.take() {
                    self.hub.leave(key, &member);
                }
                self.set_timer(now.saturating_add(CLOSE_WAIT), (key, serial), Due::Close);
                self.list(key);
            }
            Due::Close => {
                socket.ending.get_or_insert(Action::Close);
                self.list(key);
            }
        }
    }

    /// Pings all clients of the cable, as Rails does with one timer, and lets what was held go.
    fn ping(&mut self, now: Nanos) {
        self.ping_due = None;
        let time = (now.0 / NANOS_PER_S).to_string();
        let frames = [Format::Json, Format::Msgpack, Format::Protobuf].map(|format| {
            let reply = Reply { kind: Kind::Ping, message: Some(&time), ..Reply::default() };
            (format, encode(format, &reply))
        });
        for (key, socket) in &mut self.sockets {
            let Some(member) = &socket.member else { continue };
            self.ping_due = Some(now.saturating_add(self.cable.ping));
            let format = member.format;
            if let Some(held) = socket.held.take() {
                self.counts.cable_sent += socket.send(&held);
            }
            for (_, frame) in frames.iter().filter(|frame| frame.0 == format) {
                socket.send(frame);
            }
            if socket.waiting() > WAITING_MAX && socket.ending.is_none() {
                self.counts.sockets_dropped += 1;
                socket.drop_it();
            }
            if !socket.listed {
                socket.listed = true;
                self.listed.push_back(*key);
            }
        }
    }

    /// The next thing to do to a connection; its bytes are put into `buf`. A socket without output keeps no buffer.
    pub(crate) fn poll_into(&mut self, buf: &mut Vec<u8>) -> Option<(Key, Action)> {
        while let Some(key) = self.listed.pop_front() {
            let Some(socket) = self.sockets.get_mut(&key) else { continue };
            socket.listed = false;
            if !socket.out.is_empty() {
                buf.clear();
                buf.append(&mut std::mem::take(&mut socket.out));
                socket.unsent += buf.len();
                if socket.ending.is_some() {
                    self.list(key);
                }
                return Some((key, Action::Send));
            }
            if let Some(action) = socket.ending {
                self.handle_close(key);
                return Some((key, action));
            }
        }
        None
    }

    /// All that was given has been taken by the network.
    pub(crate) fn handle_drained(&mut self, key: Key) {
        if let Some(socket) = self.sockets.get_mut(&key) {
            socket.unsent = 0;
        }
    }

    /// A connection is gone.
    pub(crate) fn handle_close(&mut self, key: Key) {
        let Some(socket) = self.sockets.remove(&key) else { return };
        if let Some(member) = &socket.member {
            self.hub.leave(key, member);
        }
    }

    fn list(&mut self, key: Key) {
        let Some(socket) = self.sockets.get_mut(&key) else { return };
        let output = !socket.out.is_empty() || socket.ending.is_some();
        if output && !std::mem::replace(&mut socket.listed, true) {
            self.listed.push_back(key);
        }
    }

    fn set_timer(&mut self, due: Nanos, (key, serial): (Key, u64), what: Due) {
        self.timers_set += 1;
        self.timers.push(Reverse(Timer { due, set: self.timers_set, key, serial, what }));
    }
}

/// Whether a message goes before the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Kept,
    Later,
}

impl Socket {
    /// Bytes that the client has not read.
    fn waiting(&self) -> usize {
        self.out.len() + self.unsent
    }

    /// It is reset, and what it waits for is gone.
    fn drop_it(&mut self) {
        self.out = Vec::new();
        self.ending = Some(Action::Reset);
    }

    /// Sends a message of the cable's in the client's kind of frame; how many that were: none after a close.
    fn send(&mut self, bytes: &[u8]) -> u64 {
        let json = self.member.as_ref().is_none_or(|member| member.format == Format::Json);
        let text = std::str::from_utf8(bytes).ok().filter(|_| json);
        // After a close the client does not read.
        let sent = match text {
            Some(text) => self.session.send_text(text, &mut self.out),
            None => self.session.send_binary(bytes, &mut self.out),
        };
        u64::from(sent.is_ok())
    }

    /// Sends a message, then the one that it has overtaken; how many that were.
    fn send_with_held(&mut self, bytes: &[u8]) -> u64 {
        let sent = self.send(bytes);
        let Some(held) = self.held.take() else { return sent };
        sent + self.send(&held)
    }
}

impl Ord for Timer {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due, self.set).cmp(&(other.due, other.set))
    }
}

impl PartialOrd for Timer {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Timer {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Timer {}
