//! What comes through the pipes of WebSockets becomes events for scripts.

use std::rc::Rc;

use metrics::tally::MetricId;
use stdx::Nanos;
use wire::cable::Kind;
use workload::{Backpressure, Pipe, PipeEvent};

use crate::host::action::ActionResult;
use crate::host::socket::{SocketApi, SocketEvent};
use crate::host::virtual_user::{UserProgram, VirtualUser as _};
use crate::pool::slot::VuSlot;
use crate::pool::vu_pool::VuPool;
use crate::sockets::cable;
use crate::sockets::frames::to_events;

/// Events of a socket that wait for its VU, at most: the socket stalls beyond it.
const BACKLOG_MAX: usize = 2_048;
/// The bytes of such events, at most: 4 MiB, but for one message that is larger.
const BACKLOG_BYTES_MAX: usize = 4 << 20;
/// A stalled socket goes on once so few are left.
const BACKLOG_LOW: usize = 1_024;
/// What k6 calls a connection that ended without a word. RFC 6455, 7.4.1.
pub(crate) const ABNORMAL: u16 = 1006;

impl<P: UserProgram> VuPool<P> {
    /// Something came through a pipe.
    pub(crate) fn receive(&mut self, pipe: Pipe, now: Nanos, what: PipeEvent<'_>) -> Backpressure {
        let Some(socket) = self.sockets.open.get(&pipe) else { return Backpressure::Continue };
        let owner = socket.owner;
        let mut events = std::mem::take(&mut self.sockets.events);
        let over = match what {
            PipeEvent::Bytes(bytes) => self.decode(pipe, bytes, &mut events),
            PipeEvent::End => {
                events.push(SocketEvent::Failed(ABNORMAL_TEXT.to_owned()));
                events.push(SocketEvent::Closed(ABNORMAL, "unexpected EOF".to_owned()));
                true
            }
            PipeEvent::Lost(_, text) => {
                events.push(SocketEvent::Failed(text.to_owned()));
                events.push(SocketEvent::Closed(ABNORMAL, String::new()));
                true
            }
        };
        self.count_events(pipe, now, &events);
        if let Some(socket) =
            self.sockets.open.get(&pipe).filter(|socket| !socket.ignored.is_empty())
        {
            events.retain(|event| !socket.ignores(event));
        }
        if over {
            self.end_socket(pipe, now);
        }
        let (mut count, mut bytes) = self.slots[owner.slot].vu.backlog(owner.ticket);
        for event in events.drain(..) {
            (count, bytes) = (count + 1, bytes + event.bytes());
            self.answers.push_back((owner, ActionResult::Socket(event)));
        }
        self.sockets.events = events;
        if over || (count < BACKLOG_MAX && bytes < BACKLOG_BYTES_MAX) {
            return Backpressure::Continue;
        }
        self.stall(pipe)
    }

    /// Decodes bytes that came through a pipe, and answers what the protocol answers by itself; whether the socket is over.
    fn decode(&mut self, pipe: Pipe, bytes: &[u8], events: &mut Vec<SocketEvent>) -> bool {
        let Some(socket) = self.sockets.open.get_mut(&pipe) else { return false };
        let slot = &mut self.slots[socket.owner.slot];
        slot.bytes.1 += bytes.len() as u64;
        let out = &mut self.sockets.out;
        out.clear();
        let (api, at) = (socket.api, self.plan.unix_time());
        let outcome = socket.session.handle_bytes(bytes, out, &mut |event| match api {
            SocketApi::Cable(codec) => cable::push_events(codec, event, at, events),
            SocketApi::Blocking | SocketApi::Events => events.extend(to_events(event)),
        });
        if let SocketApi::Cable(codec) = api {
            cable::answer(codec, events, &mut socket.session, out);
        }
        if !out.is_empty() {
            slot.bytes.0 += out.len() as u64;
            self.commands.send(pipe, out);
        }
        if let Err(error) = outcome {
            events.push(SocketEvent::Failed(format!("websocket: {error}")));
            events.push(SocketEvent::Closed(error.close_code(), String::new()));
        }
        matches!(events.last(), Some(SocketEvent::Closed(..)))
    }

    fn stall(&mut self, pipe: Pipe) -> Backpressure {
        let Some(socket) = self.sockets.open.get(&pipe) else { return Backpressure::Continue };
        self.slots[socket.owner.slot].stalled.push(pipe);
        Backpressure::Pause
    }

    /// Resumes the stalled sockets of a VU that has caught up.
    pub(crate) fn resume_sockets(&mut self, slot: VuSlot) {
        if self.slots[slot].stalled.is_empty() {
            return;
        }
        for pipe in std::mem::take(&mut self.slots[slot].stalled) {
            let Some(socket) = self.sockets.open.get_mut(&pipe) else { continue };
            let (count, bytes) = self.slots[slot].vu.backlog(socket.owner.ticket);
            if count > BACKLOG_LOW || bytes > BACKLOG_BYTES_MAX / 2 {
                self.slots[slot].stalled.push(pipe);
                continue;
            }
            self.commands.resume(pipe);
        }
    }

    fn count_events(&mut self, pipe: Pipe, now: Nanos, events: &[SocketEvent]) {
        let Some(socket) = self.sockets.open.get_mut(&pipe) else { return };
        let is_message = |event: &&SocketEvent| match event {
            SocketEvent::Text(_) | SocketEvent::Binary(_) => true,
            SocketEvent::Cable(event) => event.kind != Kind::Welcome,
            _ => false,
        };
        let messages = events.iter().filter(is_message).count();
        let mut values = Vec::new();
        for event in events {
            if let SocketEvent::Pong(payload) = event
                && let Some(sent) = socket.pong(payload)
            {
                values.push((MetricId::WS_PING, now.saturating_sub(sent).0 as f64 / 1e6));
            }
        }
        values.extend((0..messages).map(|_| (MetricId::WS_MSGS_RECEIVED, 1.0)));
        if !values.is_empty() {
            let (slot, labels) = (socket.owner.slot, Rc::clone(&socket.labels));
            self.record_socket(slot, &labels, &values);
        }
    }
}

/// gorilla's words for an end without a close frame.
const ABNORMAL_TEXT: &str = "websocket: close 1006 (abnormal closure): unexpected EOF";
