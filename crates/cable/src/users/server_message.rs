//! `ServerMessage`: what the messages of a WebSocket say to a user. Deliveries are known by their token alone.

use wire::cable::{Codec, Kind};
use wire::ws::Event;

use crate::token::{RunToken, Token};

/// Something that came for a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ServerMessage {
    /// The connection is ready.
    Welcome,
    /// A sign of life.
    Ping,
    /// The subscription is confirmed.
    Confirmed,
    /// It is rejected.
    Rejected,
    /// The server is about to close, and wants the user back or not.
    Disconnected { reason: String, comes_back: bool },
    /// A message with a token of this run, and its length.
    Delivery(Token, usize),
    /// A message without.
    Unknown,
    /// Bytes that are no message.
    Malformed(String),
    /// The WebSocket is closed.
    Closed(Option<u16>),
}

/// Reads one event of a WebSocket.
pub(super) fn read(
    event: &Event<'_>,
    run_token: RunToken,
    codec: Codec,
    out: &mut Vec<ServerMessage>,
) {
    let message = match event {
        Event::Text(text) => text.as_bytes(),
        Event::Binary(bytes) => bytes,
        Event::Ping(_) | Event::Pong(_) => return,
        Event::Close { code, .. } => return out.push(ServerMessage::Closed(*code)),
    };
    let before = out.len();
    out.extend(
        run_token.tokens(message).map(|token| ServerMessage::Delivery(token, message.len())),
    );
    if out.len() > before {
        return;
    }
    out.push(match codec.decode(message) {
        Err(error) => ServerMessage::Malformed(format!("malformed message: {error}")),
        Ok(incoming) => match incoming.kind {
            Kind::Welcome => ServerMessage::Welcome,
            Kind::Ping => ServerMessage::Ping,
            Kind::Confirm => ServerMessage::Confirmed,
            Kind::Reject => ServerMessage::Rejected,
            Kind::Disconnect => ServerMessage::Disconnected {
                reason: incoming.reason.decoded().chars().take(REASON_MAX).collect(),
                comes_back: incoming.reconnect.unwrap_or(true),
            },
            _ => ServerMessage::Unknown,
        },
    });
}

/// Characters of a server's reason that are kept.
const REASON_MAX: usize = 80;
