//! `MessageTap`: the messages of one direction of a WebSocket, read from bytes that pass in any split.

use std::sync::Arc;

use wire::ws::{Agreed, Event, Limits, Role, WsSession};

use crate::exchange::{Direction, Message, Payload};
use crate::limits::MESSAGE_BYTES_MAX;
use crate::recording::{ExchangeId, Recording};

/// Reads messages as they pass. Bytes that break the protocol end the reading, not the passing.
pub(super) struct MessageTap {
    recording: Arc<Recording>,
    id: ExchangeId,
    direction: Direction,
    /// `None`: a message was too long, or none.
    session: Option<WsSession>,
}

impl MessageTap {
    pub(super) fn new(recording: &Arc<Recording>, id: ExchangeId, direction: Direction) -> Self {
        // What comes from a client is masked, as a server reads it.
        let role = match direction {
            Direction::Sent => Role::Server,
            Direction::Received => Role::Client,
        };
        let limits = Limits { message_bytes_max: MESSAGE_BYTES_MAX, ..Limits::default() };
        let session = Some(WsSession::new(role, &Agreed::default(), limits, 0));
        Self { recording: Arc::clone(recording), id, direction, session }
    }

    pub(super) fn handle_bytes(&mut self, bytes: &[u8]) {
        let Some(session) = &mut self.session else { return };
        let (recording, id, direction) = (&self.recording, self.id, self.direction);
        let add = |payload| {
            recording.add_message(id, Message { at: recording.now(), direction, payload });
        };
        // We are no end of this connection: what an end would answer goes nowhere.
        let read = session.handle_bytes(bytes, &mut Vec::new(), &mut |event| match event {
            Event::Text(text) => add(Payload::Text(text.to_owned())),
            Event::Binary(bytes) => add(Payload::Binary(bytes.to_vec())),
            Event::Ping(_) | Event::Pong(_) | Event::Close { .. } => {}
        });
        if read.is_err() {
            self.recording.lose_message();
            self.session = None;
        }
    }
}
