//! `Heard`: what the messages of a WebSocket say to a user. Deliveries are known by their token alone.

use wire::cable::{Codec, Kind};
use wire::ws::Event;

use crate::token::{Mark, Token};

/// Something that came for a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Heard {
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
pub(super) fn read(event: &Event<'_>, (mark, codec): (Mark, Codec), heard: &mut Vec<Heard>) {
    let message = match event {
        Event::Text(text) => text.as_bytes(),
        Event::Binary(bytes) => bytes,
        Event::Ping(_) | Event::Pong(_) => return,
        Event::Close { code, .. } => return heard.push(Heard::Closed(*code)),
    };
    let before = heard.len();
    heard.extend(mark.tokens(message).map(|token| Heard::Delivery(token, message.len())));
    if heard.len() > before {
        return;
    }
    heard.push(match codec.decode(message) {
        Err(error) => Heard::Malformed(format!("malformed message: {error}")),
        Ok(incoming) => match incoming.kind {
            Kind::Welcome => Heard::Welcome,
            Kind::Ping => Heard::Ping,
            Kind::Confirm => Heard::Confirmed,
            Kind::Reject => Heard::Rejected,
            Kind::Disconnect => Heard::Disconnected {
                reason: incoming.reason.decoded().chars().take(REASON_MAX).collect(),
                comes_back: incoming.reconnect.unwrap_or(true),
            },
            _ => Heard::Unknown,
        },
    });
}

/// Characters of a server's reason that are kept.
const REASON_MAX: usize = 80;
