//! Action Cable's messages, to and from bytes, for both sides: `actioncable-v1-{json,msgpack,protobuf}` and AnyCable's
//! extension `actioncable-v1-ext-…`. It keeps no subscriptions and knows no sockets.
//!
//! ```text
//! client:  Codec::encode(&Command { kind, identifier, data, … }, out) ─▶ a WebSocket message ─▶ Codec::decode_command   :server
//!          Codec::decode ─▶ Incoming { kind, identifier, message, … } ◀─ a WebSocket message ◀─ Codec::encode_reply(&Reply)
//! ```
//!
//! Nothing of a received message is copied: texts and values lie in its bytes ([`Text`], [`Value`]).

mod codec;
mod command;
mod error;
mod incoming;
mod json;
mod msgpack;
mod protobuf;
mod reply;
#[cfg(test)]
mod tests;
mod value;

pub use codec::{Codec, Dialect, Format};
pub use command::{Command, CommandKind, History, Position, Received};
pub use error::CableError;
pub use incoming::{Incoming, Kind};
pub use json::{DEPTH_MAX, Text};
pub use reply::Reply;
pub use value::{Value, json_to_msgpack};
