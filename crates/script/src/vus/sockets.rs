//! `Sockets`: the WebSockets of a worker's VUs. Bytes of their pipes become events that scripts are told, and what scripts
//! say becomes bytes.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use metrics::tally::MetricId;
use stdx::{Nanos, Prng};
use wire::cable::Kind;
use wire::ws::{self, DeflateOffer, Event, Limits, Offer, Role, Session};
use workload::{Backpressure, EngineResponse, Pipe, PipeEvent, RequestCommand, Target};

use super::exchange::Exchange;
use super::slot::Whose;
use super::system::{SystemTag, SystemTags};
use super::{Crew, Sent, cable};
use crate::api::masked;
use crate::host::action::{Answer, HttpAsk, Ticket};
use crate::host::response_head::fields;
use crate::host::socket::{Opened, SocketAsk, SocketDo, SocketEvent, SocketOrder, Speaker, Told};
use crate::host::traits::{Host as _, Level};

/// Events of a socket that wait for its VU, at most: the socket stalls beyond it.
const BACKLOG_MAX: usize = 2_048;
/// The bytes of such events, at most: 4 MiB, but for one message that is larger.
const BACKLOG_BYTES_MAX: usize = 4 << 20;
/// Unanswered pings of a socket that are remembered.
const PINGS_MAX: usize = 1_024;
/// A stalled socket goes on once so few are left.
const BACKLOG_LOW: usize = 1_024;
/// What k6 calls a connection that ended without a word. RFC 6455, 7.4.1.
const ABNORMAL: u16 = 1006;
/// The code of what is closed since its VU goes on without it.
const GOING_AWAY: u16 = 1001;

/// The WebSockets of a worker's VUs.
#[derive(Default)]
pub(super) struct Sockets {
    open: HashMap<Pipe, Socket>,
    /// Which pipe a VU's socket has, by the VU's place and the ticket.
    pipes: HashMap<(usize, Ticket), Pipe>,
    /// What came in one go; kept for its memory.
    heard: Vec<SocketEvent>,
    /// What goes out; kept for its memory.
    out: Vec<u8>,
    /// Keys of handshakes and of masks.
    random: Option<Prng>,
}

/// A socket on its way to be opened.
#[derive(Clone, Debug)]
pub(super) struct Opening {
    exchange: Exchange,
    offer: Offer,
    ask: Box<SocketAsk>,
}

/// An open socket.
struct Socket {
    whose: Whose,
    session: Session,
    labels: Rc<Labels>,
    since: Nanos,
    /// The numbers of pings whose pongs have not come, and when they were sent.
    pings: VecDeque<(u64, Nanos)>,
    /// Pings so far.
    pinged: u64,
    speaker: Speaker,
    /// Subscriptions whose messages are only counted.
    ignored: Vec<String>,
}

/// What the samples of a socket bear.
#[derive(Clone, Debug)]
pub(super) struct Labels {
    pub(super) http: Box<HttpAsk>,
    status: u16,
    protocol: String,
    url: String,
    ip: Option<IpAddr>,
}

impl Sockets {
    /// A number by chance, from 0 to 1.
    pub(super) fn chance(&mut self) -> f64 {
        self.random.as_mut().map_or(0.0, Prng::next_f64)
    }
}

impl Labels {
    /// A tag, if it is one of a socket's, and wanted.
    pub(super) fn tag(&self, name: &str, system: SystemTags) -> Option<Cow<'_, str>> {
        let (tag, value) = match name {
            "status" => (SystemTag::Status, Cow::Owned(self.status.to_string())),
            "subproto" => (SystemTag::Subproto, Cow::Borrowed(self.protocol.as_str())),
            "url" => (SystemTag::Url, Cow::Borrowed(self.url.as_str())),
            "ip" => (SystemTag::Ip, Cow::Owned(self.ip?.to_string())),
            _ => return None,
        };
        let answered = self.status != 0 || name == "url";
        (system.has(tag) && answered).then_some(value)
    }

    fn url(http: &HttpAsk, url: &str) -> String {
        let shown = || masked(url).unwrap_or_else(|| url.to_owned());
        http.name.clone().unwrap_or_else(shown)
    }
}

impl Socket {
    /// Sends a ping; its number is in it. Gives whether it could be sent.
    fn ping(&mut self, now: Nanos, out: &mut Vec<u8>) -> bool {
        let sent = self.session.ping(self.pinged.to_string().as_bytes(), out).is_ok();
        if sent {
            if self.pings.len() == PINGS_MAX {
                self.pings.pop_front();
            }
            self.pings.push_back((self.pinged, now));
            self.pinged += 1;
        }
        sent
    }

    /// When the ping was sent that a pong answers. RFC 6455, 5.5.3: those before it may never be answered.
    fn pong(&mut self, payload: &[u8]) -> Option<Nanos> {
        let number: u64 = std::str::from_utf8(payload).ok()?.parse().ok()?;
        let at = self.pings.iter().position(|(known, _)| *known == number)?;
        let sent = self.pings.get(at).map(|(_, sent)| *sent);
        self.pings.drain(..=at);
        sent
    }

    /// Whether an event is only counted.
    fn ignores(&self, event: &SocketEvent) -> bool {
        let SocketEvent::Cable(event) = event else { return false };
        event.kind == Kind::Message && self.ignored.contains(&event.identifier)
    }
}

impl Crew {
    /// Asks for a socket.
    pub(super) fn open_socket(&mut self, whose: Whose, mut ask: Box<SocketAsk>) {
        if let Some(reason) = ask.hopeless.take() {
            return self.give_up(whose, &ask, reason);
        }
        let seed = (self.plan.clock)().0 ^ (self.shard.first << 48);
        let random = self.sockets.random.get_or_insert_with(|| Prng::new(seed));
        let mut key = [0; 16];
        key[..8].copy_from_slice(&random.next_u64().to_le_bytes());
        key[8..].copy_from_slice(&random.next_u64().to_le_bytes());
        let deflate = if ask.deflates { DeflateOffer::NoTakeover } else { DeflateOffer::None };
        let offer = match Offer::new(key, ask.protocols.clone(), deflate) {
            Ok(offer) => offer,
            Err(error) => {
                let refused = SocketEvent::Refused(Box::default(), error.to_string());
                return self.answers.push_back((whose, Answer::Socket(refused)));
            }
        };
        for (name, value) in offer.fields() {
            ask.http.set_header(name, value);
        }
        let exchange = Exchange::new(ask.http.clone(), &self.plan);
        let wanted = exchange.wanted();
        let target = Arc::new(Target {
            method: "GET".to_owned(),
            url: wanted.url.to_owned(),
            headers: wanted.headers.to_vec(),
            body: Arc::from([]),
            weight: 1,
            name: String::new(),
        });
        let timeout = exchange.timeout();
        let user = self.note_sent(whose, Sent::Socket(Box::new(Opening { exchange, offer, ask })));
        let owner = whose.slot as u32;
        self.commands.requests.push(RequestCommand {
            user,
            target,
            timeout,
            owner,
            fresh_connection: false,
            upgrades: true,
            redirected: false,
        });
    }

    /// Tells that there is no such socket. As k6 has it, that was a session all the same.
    fn give_up(&mut self, whose: Whose, ask: &SocketAsk, reason: String) {
        let SocketAsk { http, url, .. } = ask;
        let labels = Labels {
            url: Labels::url(http, url),
            http: http.clone(),
            status: 0,
            protocol: String::new(),
            ip: None,
        };
        let values = [
            (MetricId::WS_SESSIONS, 1.0),
            (MetricId::WS_CONNECTING, 0.0),
            (MetricId::WS_SESSION_DURATION, 0.0),
        ];
        self.record_socket(whose.slot, &labels, &values);
        let refused = SocketEvent::Refused(Box::default(), reason);
        self.answers.push_back((whose, Answer::Socket(refused)));
    }

    /// The server has answered who wanted a socket, or there was none to answer.
    pub(super) fn opened(
        &mut self,
        mut whose: Whose,
        opening: Opening,
        reply: &EngineResponse<'_>,
    ) {
        let Opening { exchange, offer, ask } = opening;
        exchange.keep_cookies(reply, &self.plan);
        let lines = fields(reply.head.as_deref().unwrap_or_default());
        let lines: Vec<(String, String)> =
            lines.map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        let agreed = offer.check(
            reply.status,
            lines.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())),
        );
        let SocketAsk { http, url, speaker, .. } = *ask;
        let mut labels = Labels {
            url: Labels::url(&http, &url),
            http,
            status: reply.status,
            protocol: String::new(),
            ip: reply.remote.map(|remote| remote.ip()),
        };
        let mut opened = Box::new(opened_by(reply));
        if let Ok(agreed) = &agreed {
            opened.protocol = agreed.protocol.clone().unwrap_or_default();
            labels.protocol.clone_from(&opened.protocol);
            opened.extensions.clone_from(&agreed.extensions);
        }
        let took = reply.done.saturating_sub(reply.due).0 as f64 / 1e6;
        let labels = Rc::new(labels);
        let values = [(MetricId::WS_SESSIONS, 1.0), (MetricId::WS_CONNECTING, took)];
        self.record_socket(whose.slot, &labels, &values);
        let event = match (agreed, reply.pipe) {
            (Ok(agreed), Some(pipe)) => {
                self.slots[whose.slot].refusals = 0;
                whose.lasts = matches!(speaker, Speaker::Cable(_));
                let seed = self.sockets.random.as_mut().map_or(0, Prng::next_u64);
                let session = Session::new(Role::Client, &agreed, Limits::default(), seed);
                let (pings, since) = (VecDeque::new(), reply.done);
                let socket = Socket {
                    whose,
                    session,
                    labels,
                    since,
                    pings,
                    pinged: 0,
                    speaker,
                    ignored: Vec::new(),
                };
                self.slots[whose.slot].sockets.push(pipe);
                self.sockets.pipes.insert((whose.slot, whose.ticket), pipe);
                self.sockets.open.insert(pipe, socket);
                SocketEvent::Opened(opened)
            }
            (agreed, pipe) => {
                pipe.into_iter().for_each(|pipe| self.commands.close(pipe));
                if speaker == Speaker::Blocking {
                    let values = [(MetricId::WS_SESSION_DURATION, took)];
                    self.record_socket(whose.slot, &labels, &values);
                }
                self.note_refused(whose.slot);
                SocketEvent::Refused(opened, refusal(reply, agreed.err().as_ref()))
            }
        };
        self.answers.push_back((whose, Answer::Socket(event)));
    }

    /// Something came through a pipe.
    pub(super) fn heard(&mut self, pipe: Pipe, now: Nanos, what: PipeEvent<'_>) -> Backpressure {
        let Some(socket) = self.sockets.open.get_mut(&pipe) else { return Backpressure::Continue };
        let whose = socket.whose;
        let mut heard = std::mem::take(&mut self.sockets.heard);
        let over = match what {
            PipeEvent::Bytes(bytes) => {
                let slot = &mut self.slots[whose.slot];
                slot.bytes.1 += bytes.len() as u64;
                let out = &mut self.sockets.out;
                out.clear();
                let (speaker, at) = (socket.speaker, self.plan.unix_time());
                let outcome = socket.session.handle_bytes(bytes, out, &mut |event| match speaker {
                    Speaker::Cable(codec) => cable::tell(codec, event, at, &mut heard),
                    Speaker::Blocking | Speaker::Events => heard.extend(told(event)),
                });
                if let Speaker::Cable(codec) = speaker {
                    cable::answer(codec, &mut heard, &mut socket.session, out);
                }
                if !out.is_empty() {
                    slot.bytes.0 += out.len() as u64;
                    self.commands.send(pipe, out);
                }
                if let Err(error) = outcome {
                    heard.push(SocketEvent::Failed(format!("websocket: {error}")));
                    heard.push(SocketEvent::Closed(error.close_code(), String::new()));
                }
                matches!(heard.last(), Some(SocketEvent::Closed(..)))
            }
            PipeEvent::End => {
                heard.push(SocketEvent::Failed(ABNORMAL_TEXT.to_owned()));
                heard.push(SocketEvent::Closed(ABNORMAL, "unexpected EOF".to_owned()));
                true
            }
            PipeEvent::Lost(_, text) => {
                heard.push(SocketEvent::Failed(text.to_owned()));
                heard.push(SocketEvent::Closed(ABNORMAL, String::new()));
                true
            }
        };
        self.count_heard(pipe, now, &heard);
        if let Some(socket) =
            self.sockets.open.get(&pipe).filter(|socket| !socket.ignored.is_empty())
        {
            heard.retain(|event| !socket.ignores(event));
        }
        if over {
            self.end_socket(pipe, now);
        }
        let (mut count, mut bytes) = self.slots[whose.slot].vu.backlog(whose.ticket);
        for event in heard.drain(..) {
            (count, bytes) = (count + 1, bytes + event.bytes());
            self.answers.push_back((whose, Answer::Socket(event)));
        }
        self.sockets.heard = heard;
        if over || (count < BACKLOG_MAX && bytes < BACKLOG_BYTES_MAX) {
            return Backpressure::Continue;
        }
        self.stall(pipe)
    }

    fn stall(&mut self, pipe: Pipe) -> Backpressure {
        let Some(socket) = self.sockets.open.get(&pipe) else { return Backpressure::Continue };
        self.slots[socket.whose.slot].stalled.push(pipe);
        Backpressure::Pause
    }

    /// Has stalled sockets of a VU go on, where it has caught up.
    pub(super) fn resume_sockets(&mut self, slot: usize) {
        if self.slots[slot].stalled.is_empty() {
            return;
        }
        for pipe in std::mem::take(&mut self.slots[slot].stalled) {
            let Some(socket) = self.sockets.open.get_mut(&pipe) else { continue };
            let (count, bytes) = self.slots[slot].vu.backlog(socket.whose.ticket);
            if count > BACKLOG_LOW || bytes > BACKLOG_BYTES_MAX / 2 {
                self.slots[slot].stalled.push(pipe);
                continue;
            }
            self.commands.resume(pipe);
        }
    }

    fn count_heard(&mut self, pipe: Pipe, now: Nanos, heard: &[SocketEvent]) {
        let Some(socket) = self.sockets.open.get_mut(&pipe) else { return };
        let is_message = |event: &&SocketEvent| match event {
            SocketEvent::Text(_) | SocketEvent::Binary(_) => true,
            SocketEvent::Cable(event) => event.kind != Kind::Welcome,
            _ => false,
        };
        let messages = heard.iter().filter(is_message).count();
        let mut values = Vec::new();
        for event in heard {
            if let SocketEvent::Pong(payload) = event
                && let Some(sent) = socket.pong(payload)
            {
                values.push((MetricId::WS_PING, now.saturating_sub(sent).0 as f64 / 1e6));
            }
        }
        values.extend((0..messages).map(|_| (MetricId::WS_MSGS_RECEIVED, 1.0)));
        if !values.is_empty() {
            let (slot, labels) = (socket.whose.slot, Rc::clone(&socket.labels));
            self.record_socket(slot, &labels, &values);
        }
    }

    /// Does what a script wants of its socket.
    pub(super) fn order_socket(&mut self, slot: usize, wanted: SocketDo, now: Nanos) {
        let SocketDo { socket: ticket, order } = wanted;
        let Some(&pipe) = self.sockets.pipes.get(&(slot, ticket)) else { return };
        let Some(socket) = self.sockets.open.get_mut(&pipe) else { return };
        let out = &mut self.sockets.out;
        out.clear();
        let counts = match &order {
            SocketOrder::Text(text) => socket.session.send_text(text, out).is_ok(),
            SocketOrder::Binary(bytes) => socket.session.send_binary(bytes, out).is_ok(),
            SocketOrder::Command(command) => match socket.speaker {
                Speaker::Cable(codec) => cable::send(codec, command, &mut socket.session, out),
                Speaker::Blocking | Speaker::Events => false,
            },
            SocketOrder::Ping => socket.ping(now, out) && socket.speaker == Speaker::Events,
            SocketOrder::Ignore(identifier, told) => {
                socket.ignored.retain(|known| known != identifier);
                if *told == Told::No {
                    socket.ignored.push(identifier.clone());
                }
                false
            }
            SocketOrder::Close(code, reason) => {
                socket.session.close(Some(*code), reason, out);
                socket.speaker == Speaker::Events
            }
            SocketOrder::Drop(code) => {
                socket.session.close(Some(*code), "", out);
                false
            }
        };
        self.slots[slot].bytes.0 += out.len() as u64;
        self.commands.send(pipe, out);
        if matches!(order, SocketOrder::Command(_)) && !counts {
            let text = "the command cannot be said in this codec, or the connection is closing";
            let failed = Answer::Socket(SocketEvent::Failed(text.to_owned()));
            self.answers.push_back((socket.whose, failed));
        } else if counts {
            let labels = Rc::clone(&socket.labels);
            self.record_socket(slot, &labels, &[(MetricId::WS_MSGS_SENT, 1.0)]);
        }
        if matches!(order, SocketOrder::Drop(_)) {
            self.end_socket(pipe, now);
        }
    }

    /// A socket is over: it is counted, and its pipe closed.
    fn end_socket(&mut self, pipe: Pipe, now: Nanos) {
        let Some(socket) = self.sockets.open.remove(&pipe) else { return };
        let Socket { whose, labels, since, speaker, .. } = socket;
        self.sockets.pipes.remove(&(whose.slot, whose.ticket));
        self.commands.close(pipe);
        let slot = &mut self.slots[whose.slot];
        slot.sockets.retain(|known| *known != pipe);
        // xk6-cable has no such sample.
        if !matches!(speaker, Speaker::Cable(_)) {
            let lasted = now.saturating_sub(since).0 as f64 / 1e6;
            self.record_socket(whose.slot, &labels, &[(MetricId::WS_SESSION_DURATION, lasted)]);
        }
    }

    /// An iteration is over: its sockets are closed. Those that last stay, unless it failed and opened them itself: a script
    /// that threw has lost them as a rule.
    pub(super) fn close_sockets(&mut self, slot: usize, now: Nanos, failed: bool) {
        let iteration = self.slots[slot].iterations;
        self.close_some(slot, now, |whose| !whose.lasts || failed && whose.iteration == iteration);
    }

    /// A VU has no more work: all its sockets are closed.
    pub(super) fn close_all_sockets(&mut self, slot: usize, now: Nanos) {
        self.close_some(slot, now, |_| true);
    }

    fn close_some(&mut self, slot: usize, now: Nanos, which: impl Fn(Whose) -> bool) {
        for pipe in self.slots[slot].sockets.clone() {
            let Some(socket) =
                self.sockets.open.get_mut(&pipe).filter(|socket| which(socket.whose))
            else {
                continue;
            };
            let out = &mut self.sockets.out;
            out.clear();
            socket.session.close(Some(GOING_AWAY), "", out);
            self.commands.send(pipe, out);
            self.end_socket(pipe, now);
        }
    }

    fn record_socket(&mut self, slot: usize, labels: &Labels, values: &[(MetricId, f64)]) {
        let (sampled, at) = (self.slots[slot].sampled(), self.world.sampled_at());
        self.recorder.socket(&mut self.seen.tally, sampled, (labels, at), values);
    }

    /// A VU's socket was refused: its next iterations wait, the longer the more often.
    fn note_refused(&mut self, slot: usize) {
        let refused = &mut self.slots[slot];
        if !std::mem::replace(&mut refused.is_refused, true) {
            refused.refusals = refused.refusals.saturating_add(1);
        }
        let waits = self.plan.backs_off && !self.is_arrival(self.slots[slot].scenario);
        if waits && self.plan.control.is_first_refusal() {
            let text = "a WebSocket was refused: VUs wait after such an iteration, up to 5 s; --no-backoff has them go on at once";
            (self.plan.log)(Level::Warn, text, &[("source", "websocket")]);
        }
    }
}

/// gorilla's words for an end without a close frame.
const ABNORMAL_TEXT: &str = "websocket: close 1006 (abnormal closure): unexpected EOF";

/// What a script is told of what came.
pub(super) fn told(event: Event<'_>) -> impl Iterator<Item = SocketEvent> {
    let (failed, event) = match event {
        Event::Text(text) => (None, SocketEvent::Text(text.to_owned())),
        Event::Binary(bytes) => (None, SocketEvent::Binary(bytes.to_vec())),
        Event::Ping(_) => (None, SocketEvent::Ping),
        Event::Pong(payload) => (None, SocketEvent::Pong(payload.to_vec())),
        Event::Close { code, reason } => {
            // 1005: there was none. RFC 6455, 7.4.1.
            let code = code.unwrap_or(1005);
            let expected = matches!(code, 1000 | 1001);
            let reason_of = if reason.is_empty() { "" } else { ": " };
            let text = || {
                let text = format!("websocket: close {code}{}{reason_of}{reason}", name_of(code));
                SocketEvent::Failed(text)
            };
            ((!expected).then(text), SocketEvent::Closed(code, reason.to_owned()))
        }
    };
    failed.into_iter().chain([event])
}

/// What a close code means, in brackets. RFC 6455, 7.4.1.
fn name_of(code: u16) -> &'static str {
    match code {
        1002 => " (protocol error)",
        1003 => " (unsupported data)",
        1005 => " (no status)",
        1007 => " (invalid payload data)",
        1008 => " (policy violation)",
        1009 => " (message too big)",
        1010 => " (mandatory extension missing)",
        1011 => " (internal server error)",
        1012 => " (service restart)",
        1013 => " (try again later)",
        1015 => " (TLS handshake error)",
        _ => "",
    }
}

/// What of a response an opened socket shows.
fn opened_by(reply: &EngineResponse<'_>) -> Opened {
    Opened {
        status: reply.status,
        head: reply.head.clone(),
        body: reply.body.to_vec(),
        remote: reply.remote,
        ..Opened::default()
    }
}

/// Why there is no socket.
fn refusal(reply: &EngineResponse<'_>, error: Option<&ws::HandshakeError>) -> String {
    match (&reply.failure, error) {
        (Some((_, text)), _) => {
            // Without `Get "URL": `, which nobody asked for.
            let text = text.split_once("\": ").map_or(text.as_str(), |(_, rest)| rest);
            // Nor does k6 name the side that is ours.
            text.replace("0.0.0.0:0->", "")
        }
        (None, Some(ws::HandshakeError::Status(_))) | (None, None) => {
            "websocket: bad handshake".to_owned()
        }
        (None, Some(error)) => format!("websocket: bad handshake: {error}"),
    }
}
