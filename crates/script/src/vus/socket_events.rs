//! What comes through the pipes of WebSockets becomes events for scripts.

use std::rc::Rc;

use metrics::tally::MetricId;
use stdx::Nanos;
use wire::cable::Kind;
use workload::{Backpressure, Pipe, PipeEvent};

use super::cable;
use super::frames::told;
use super::pool::Crew;
use crate::host::action::Answer;
use crate::host::socket::{SocketEvent, Speaker};

/// Events of a socket that wait for its VU, at most: the socket stalls beyond it.
const BACKLOG_MAX: usize = 2_048;
/// The bytes of such events, at most: 4 MiB, but for one message that is larger.
const BACKLOG_BYTES_MAX: usize = 4 << 20;
/// A stalled socket goes on once so few are left.
const BACKLOG_LOW: usize = 1_024;
/// What k6 calls a connection that ended without a word. RFC 6455, 7.4.1.
const ABNORMAL: u16 = 1006;

impl Crew {
    /// Something came through a pipe.
    pub(super) fn heard(&mut self, pipe: Pipe, now: Nanos, what: PipeEvent<'_>) -> Backpressure {
        let Some(socket) = self.sockets.open.get(&pipe) else { return Backpressure::Continue };
        let whose = socket.whose;
        let mut heard = std::mem::take(&mut self.sockets.heard);
        let over = match what {
            PipeEvent::Bytes(bytes) => self.decode(pipe, bytes, &mut heard),
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

    /// Decodes bytes that came through a pipe, and answers what the protocol answers by itself; whether the socket is over.
    fn decode(&mut self, pipe: Pipe, bytes: &[u8], heard: &mut Vec<SocketEvent>) -> bool {
        let Some(socket) = self.sockets.open.get_mut(&pipe) else { return false };
        let slot = &mut self.slots[socket.whose.slot];
        slot.bytes.1 += bytes.len() as u64;
        let out = &mut self.sockets.out;
        out.clear();
        let (speaker, at) = (socket.speaker, self.plan.unix_time());
        let outcome = socket.session.handle_bytes(bytes, out, &mut |event| match speaker {
            Speaker::Cable(codec) => cable::tell(codec, event, at, heard),
            Speaker::Blocking | Speaker::Events => heard.extend(told(event)),
        });
        if let Speaker::Cable(codec) = speaker {
            cable::answer(codec, heard, &mut socket.session, out);
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
}

/// gorilla's words for an end without a close frame.
const ABNORMAL_TEXT: &str = "websocket: close 1006 (abnormal closure): unexpected EOF";
