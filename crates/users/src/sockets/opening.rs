//! WebSockets are opened, or refused.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use metrics::tally::MetricId;
use stdx::Prng;
use wire::ws::{self, Agreed, DeflateOffer, Limits, Offer, Role, WsSession};
use workload::{EngineResponse, FailureDetail, Pipe, Target};

use crate::host::action::ActionResult;
use crate::host::socket::{HandshakeResponse, SocketApi, SocketEvent, SocketRequest};
use crate::host::traits::{Host as _, Level};
use crate::host::virtual_user::UserProgram;
use crate::http::call::HttpCall;
use crate::pool::slot::{RequestOwner, VuSlot};
use crate::pool::vu_pool::VuPool;
use crate::record::recorder::SocketSample;
use crate::sockets::state::{PendingSocket, Socket, SocketLabels};

impl<P: UserProgram> VuPool<P> {
    /// Asks for a socket.
    pub(crate) fn open_socket(&mut self, owner: RequestOwner, mut request: Box<SocketRequest>) {
        if let Some(reason) = request.hopeless.take() {
            return self.give_up(owner, &request, reason);
        }
        let seed = (self.plan.clock)().0 ^ (self.shard.first << 48);
        let random = self.sockets.random.get_or_insert_with(|| Prng::new(seed));
        let mut key = [0; 16];
        key[..8].copy_from_slice(&random.next_u64().to_le_bytes());
        key[8..].copy_from_slice(&random.next_u64().to_le_bytes());
        let deflate = if request.deflates { DeflateOffer::NoTakeover } else { DeflateOffer::None };
        let offer = match Offer::new(key, request.protocols.clone(), deflate) {
            Ok(offer) => offer,
            Err(error) => {
                let refused = SocketEvent::Refused(Box::default(), error.to_string());
                return self.answers.push_back((owner, ActionResult::Socket(refused)));
            }
        };
        for (name, value) in offer.fields() {
            request.http.set_header(name, value);
        }
        let SocketRequest { http, url, api, .. } = *request;
        let opening = Box::new(PendingSocket { offer, url, api });
        let mut call = HttpCall::new(owner, http, &self.plan);
        call.socket = Some(opening);
        let (method, body) = ("GET".to_owned(), Arc::from([]));
        let target = Target { method, body, name: String::new(), ..call.target() };
        self.submit(Arc::new(target), false, call);
    }

    /// Answers the VU that the socket was not opened, with the reason. As in k6, the attempt counts as a session.
    fn give_up(&mut self, owner: RequestOwner, request: &SocketRequest, reason: String) {
        let SocketRequest { http, url, .. } = request;
        let labels = SocketLabels {
            url: SocketLabels::url(http, url),
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
        self.record_socket(owner.slot, &labels, &values);
        let refused = SocketEvent::Refused(Box::default(), reason);
        self.answers.push_back((owner, ActionResult::Socket(refused)));
    }

    /// The server has answered the request for a socket, or there was no answer.
    pub(crate) fn finish_opening(
        &mut self,
        call: HttpCall,
        opening: PendingSocket,
        reply: &EngineResponse<'_>,
    ) {
        call.keep_cookies(reply, &self.plan);
        let PendingSocket { offer, url, api } = opening;
        let head = reply.head.as_deref().unwrap_or_default();
        let agreed = offer.check_head(reply.status, head);
        let opened = Box::new(opened(reply, agreed.as_ref().ok()));
        let owner = call.owner;
        let http = call.into_request();
        let labels = Rc::new(SocketLabels {
            url: SocketLabels::url(&http, &url),
            http,
            status: reply.status,
            protocol: opened.protocol.clone(),
            ip: reply.remote.map(|remote| remote.ip()),
        });
        let took = reply.done.saturating_sub(reply.due).0 as f64 / 1e6;
        let values = [(MetricId::WS_SESSIONS, 1.0), (MetricId::WS_CONNECTING, took)];
        self.record_socket(owner.slot, &labels, &values);
        let event = match (agreed, reply.pipe) {
            (Ok(agreed), Some(pipe)) => {
                let outlives_iteration = matches!(api, SocketApi::Cable(_));
                let seed = self.sockets.random.as_mut().map_or(0, Prng::next_u64);
                let socket = Socket {
                    owner: RequestOwner { outlives_iteration, ..owner },
                    session: WsSession::new(Role::Client, &agreed, Limits::default(), seed),
                    labels,
                    since: reply.done,
                    pings: VecDeque::new(),
                    pinged: 0,
                    api,
                    ignored: Vec::new(),
                };
                self.add_socket(pipe, socket);
                return self.answers.push_back((
                    RequestOwner { outlives_iteration, ..owner },
                    ActionResult::Socket(SocketEvent::Opened(opened)),
                ));
            }
            (agreed, pipe) => {
                pipe.into_iter().for_each(|pipe| self.commands.close(pipe));
                if api == SocketApi::Blocking {
                    let values = [(MetricId::WS_SESSION_DURATION, took)];
                    self.record_socket(owner.slot, &labels, &values);
                }
                // One that is blocked was never asked for, and costs the server nothing.
                let is_blocked = matches!(
                    reply.detail,
                    FailureDetail::ForbiddenAddress | FailureDetail::ForbiddenName
                );
                if !is_blocked {
                    self.note_refused(owner.slot);
                }
                SocketEvent::Refused(opened, refusal(reply, agreed.err().as_ref()))
            }
        };
        self.answers.push_back((owner, ActionResult::Socket(event)));
    }

    /// A VU has one more open socket.
    fn add_socket(&mut self, pipe: Pipe, socket: Socket) {
        let RequestOwner { slot, ticket, .. } = socket.owner;
        self.slots[slot].refusals = 0;
        self.slots[slot].sockets.push(pipe);
        self.sockets.pipes.insert((slot, ticket), pipe);
        self.sockets.open.insert(pipe, socket);
    }

    pub(crate) fn record_socket(
        &mut self,
        slot: VuSlot,
        labels: &SocketLabels,
        values: &[(MetricId, f64)],
    ) {
        let (owner, at) = (self.slots[slot].sampled(), self.host.sampled_at());
        let of = SocketSample { owner, labels, at };
        self.recorder.socket(&of, values);
    }

    /// A VU's socket was refused: its next iterations wait, the longer the more often.
    fn note_refused(&mut self, slot: VuSlot) {
        let refused = &mut self.slots[slot];
        if !std::mem::replace(&mut refused.is_refused, true) {
            refused.refusals = refused.refusals.saturating_add(1);
        }
        let waits = self.plan.work.backs_off && !self.is_arrival(self.slots[slot].scenario);
        if waits && self.plan.control.is_first_refusal() {
            let text = "a WebSocket was refused: VUs wait after such an iteration, up to 5 s; --no-backoff has them go on at once";
            (self.plan.log)(Level::Warn, text, &[("source", "websocket")]);
        }
    }
}

/// How the server answered, as scripts see it.
fn opened(reply: &EngineResponse<'_>, agreed: Option<&Agreed>) -> HandshakeResponse {
    HandshakeResponse {
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
            // Without `Get "URL": `: the script asked for no such request.
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
