//! WebSockets (RFC 6455) with permessage-deflate (RFC 7692), both sides. It opens no connection and keeps no time: the owner of
//! the pipe does that.
//!
//! ```text
//! Offer::new(16 random bytes) ──fields──▶ the upgrade request            the response ──▶ Offer::check ──▶ Agreed
//!                                          request's fields ──▶ accept ──▶ (101 response, Agreed)     (the server's side)
//!
//! WsSession::new(role, &agreed, limits, mask_seed)
//! bytes from the pipe, the first being those after the 101's head, in any split
//!     ──▶ session.handle_bytes(bytes, &mut out, &mut |event| …) ──▶ Event::{Text, Binary, Ping, Pong, Close}
//!                                             └─ pongs, the close reply, or the close frame after a failure ──▶ out
//! session.send_text(text, &mut out), send_binary, ping, pong, close ──one frame each──▶ out ──▶ the pipe
//! ```
//!
//! The owner sends `out` after each call, also after one that failed. It closes the pipe once [`WsSession::is_closed`] holds
//! and `out` is sent (RFC 6455, 7.1.1 lets the server do so first), after a failure at once, and by a time of its own where
//! the peer does not answer a close. A pipe that ends before `is_closed` is what APIs call code 1006.
//!
//! An idle session has no buffers and no timer. With a window kept from message to message
//! ([`Takeover::Kept`]), it holds some 45 KiB for each direction's inflating and 300 KiB for deflating once used.

mod deflate;
mod event;
mod extension;
mod fault;
mod frame;
mod handshake;
mod inbound;
mod mask;
mod outbound;
mod session;
#[cfg(test)]
mod tests;
mod utf8;

pub use event::{Event, Role};
pub use extension::{DeflateParams, Takeover};
pub use fault::{SendError, WsError, is_close_code};
pub use handshake::{
    Agreed, DeflateAnswer, DeflateOffer, HandshakeError, Offer, OfferError, Protocols, Refusal,
    accept,
};
pub use session::{Limits, WsSession};
