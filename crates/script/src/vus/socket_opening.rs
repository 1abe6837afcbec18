//! WebSockets are opened, or refused.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use metrics::tally::MetricId;
use stdx::Prng;
use wire::ws::{self, Agreed, DeflateOffer, Limits, Offer, Role, Session};
use workload::{EngineResponse, Pipe, Target};

use super::exchange::Exchange;
use super::pool::Crew;
use super::slot::Whose;
use super::socket_state::{Labels, Opening, Socket};
use crate::host::action::Answer;
use crate::host::response_head::fields;
use crate::host::socket::{Opened, SocketAsk, SocketEvent, Speaker};
use crate::host::traits::{Host as _, Level};

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
        let SocketAsk { http, url, speaker, .. } = *ask;
        let opening = Box::new(Opening { offer, url, speaker });
        let call = Exchange { socket: Some(opening), ..Exchange::new(whose, http, &self.plan) };
        let (method, body) = ("GET".to_owned(), Arc::from([]));
        let target = Target { method, body, name: String::new(), ..call.target() };
        self.ask(Arc::new(target), false, call);
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

    /// The server has answered the request for a socket, or there was no answer.
    pub(super) fn opened(&mut self, call: Exchange, opening: Opening, reply: &EngineResponse<'_>) {
        call.keep_cookies(reply, &self.plan);
        let Opening { offer, url, speaker } = opening;
        let agreed = agreed(&offer, reply);
        let opened = Box::new(opened(reply, agreed.as_ref().ok()));
        let whose = call.owner;
        let http = call.into_ask();
        let labels = Rc::new(Labels {
            url: Labels::url(&http, &url),
            http,
            status: reply.status,
            protocol: opened.protocol.clone(),
            ip: reply.remote.map(|remote| remote.ip()),
        });
        let took = reply.done.saturating_sub(reply.due).0 as f64 / 1e6;
        let values = [(MetricId::WS_SESSIONS, 1.0), (MetricId::WS_CONNECTING, took)];
        self.record_socket(whose.slot, &labels, &values);
        let event = match (agreed, reply.pipe) {
            (Ok(agreed), Some(pipe)) => {
                let lasts = matches!(speaker, Speaker::Cable(_));
                let seed = self.sockets.random.as_mut().map_or(0, Prng::next_u64);
                let socket = Socket {
                    whose: Whose { lasts, ..whose },
                    session: Session::new(Role::Client, &agreed, Limits::default(), seed),
                    labels,
                    since: reply.done,
                    pings: VecDeque::new(),
                    pinged: 0,
                    speaker,
                    ignored: Vec::new(),
                };
                self.add_socket(pipe, socket);
                return self.answers.push_back((
                    Whose { lasts, ..whose },
                    Answer::Socket(SocketEvent::Opened(opened)),
                ));
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

    /// A VU has one more open socket.
    fn add_socket(&mut self, pipe: Pipe, socket: Socket) {
        let Whose { slot, ticket, .. } = socket.whose;
        self.slots[slot].refusals = 0;
        self.slots[slot].sockets.push(pipe);
        self.sockets.pipes.insert((slot, ticket), pipe);
        self.sockets.open.insert(pipe, socket);
    }

    pub(super) fn record_socket(
        &mut self,
        slot: usize,
        labels: &Labels,
        values: &[(MetricId, f64)],
    ) {
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

/// What client and server have agreed on, or why there is no socket.
fn agreed(offer: &Offer, reply: &EngineResponse<'_>) -> Result<Agreed, ws::HandshakeError> {
    let lines: Vec<_> = fields(reply.head.as_deref().unwrap_or_default()).collect();
    let lines = lines.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    offer.check(reply.status, lines)
}

/// How the server answered, as scripts see it.
fn opened(reply: &EngineResponse<'_>, agreed: Option<&Agreed>) -> Opened {
    Opened {
        status: reply.status,
        head: reply.head.clone(),
        body: reply.body.to_vec(),
        protocol: agreed.and_then(|agreed| agreed.protocol.clone()).unwrap_or_default(),
        extensions: agreed.map(|agreed| agreed.extensions.clone()).unwrap_or_default(),
        remote: reply.remote,
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
