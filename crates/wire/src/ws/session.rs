//! `WsSession`: one WebSocket after its handshake, both directions.

use super::event::{Event, Role};
use super::fault::{SendError, WsError};
use super::frame::Opcode;
use super::handshake::Agreed;
use super::inbound::Inbound;
use super::outbound::Outbound;

/// What a session bounds, and from where on it compresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest message taken, in bytes, after inflating.
    pub message_bytes_max: usize,
    /// The smallest message that is compressed where that was agreed upon, in bytes.
    pub deflate_bytes_min: usize,
}

/// One WebSocket after its handshake.
#[derive(Debug)]
pub struct WsSession {
    inbound: Inbound,
    outbound: Outbound,
}

impl Default for Limits {
    /// Messages up to 64 MiB; compressed from 64 bytes on.
    fn default() -> Self {
        Self { message_bytes_max: 64 << 20, deflate_bytes_min: 64 }
    }
}

impl WsSession {
    /// An open session. A client's masking keys follow from `mask_seed`.
    #[must_use]
    pub fn new(role: Role, agreed: &Agreed, limits: Limits, mask_seed: u64) -> Self {
        let client = agreed.deflate.map(|params| params.client);
        let server = agreed.deflate.map(|params| params.server);
        let (ours, theirs) = if role == Role::Client { (client, server) } else { (server, client) };
        Self {
            inbound: Inbound::new(role, theirs, limits.message_bytes_max),
            outbound: Outbound::new(role, ours, limits.deflate_bytes_min, mask_seed),
        }
    }

    /// Takes bytes of the connection in any split, calls `each` with whole events, and appends to `out` what the protocol
    /// answers: pongs (at most 3 bytes for each byte of pings) and the reply to a close. Bytes after a close are ignored.
    /// A message that lies whole in `bytes`, unmasked and not compressed, is not copied.
    ///
    /// # Errors
    /// The peer broke the protocol or passed a limit; events before it were passed on, and the close frame with the reason is in
    /// `out`. Every further call returns the same error.
    pub fn handle_bytes(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        each: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), WsError> {
        let Self { inbound, outbound } = self;
        let result = inbound.handle_bytes(bytes, &mut |event| {
            outbound.answer(&event, out);
            each(event);
        });
        if let Err(error) = result {
            outbound.close(Some(error.close_code()), "", out);
        }
        result
    }

    /// Appends a text message.
    ///
    /// # Errors
    /// The close frame has been sent.
    pub fn send_text(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.outbound.message(Opcode::Text, text.as_bytes(), out)
    }

    /// Appends a binary message.
    ///
    /// # Errors
    /// The close frame has been sent.
    pub fn send_binary(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), SendError> {
        self.outbound.message(Opcode::Binary, bytes, out)
    }

    /// Appends a ping; its pong comes as an event.
    ///
    /// # Errors
    /// The close frame has been sent, or the payload is longer than 125 bytes.
    pub fn ping(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), SendError> {
        self.outbound.control(Opcode::Ping, payload, out)
    }

    /// Appends an unsolicited pong; pings are answered without this.
    ///
    /// # Errors
    /// The close frame has been sent, or the payload is longer than 125 bytes.
    pub fn pong(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), SendError> {
        self.outbound.control(Opcode::Pong, payload, out)
    }

    /// Appends the close frame; nothing if it has been sent. Without a code (or with 1005) it is empty; a reason of more
    /// than 123 bytes is cut. Any code is sent; [`super::is_close_code`] says which ones peers accept. Events that still come are passed on.
    pub fn close(&mut self, code: Option<u16>, reason: &str, out: &mut Vec<u8>) {
        self.outbound.close(code, reason, out);
    }

    /// Whether our close frame has been given out; nothing can be sent any more.
    #[must_use]
    pub fn sent_close(&self) -> bool {
        self.outbound.is_closed()
    }

    /// Whether the close handshake is complete: each side has sent its close frame.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.outbound.is_closed() && self.inbound.is_closed()
    }
}
