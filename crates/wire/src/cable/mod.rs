//! Action Cable's messages, to and from bytes, for both sides: `actioncable-v1-{json,msgpack,protobuf}` and AnyCable's
//! extension `actioncable-v1-ext-…`. It keeps no subscriptions and knows no sockets.
//!
//! ```text
//! client:  Codec::encode(&Command { kind, identifier, data, … }, out) ─▶ a WebSocket message ─▶ Codec::decode_command   :server
//!          Codec::decode ─▶ Incoming { kind, identifier, message, … } ◀─ a WebSocket message ◀─ Codec::encode_reply(&Reply)
//! ```
//!
//! Nothing of a received message is copied: texts and values lie in its bytes ([`Text`], [`Value`]).

mod command;
mod incoming;
mod json;
mod msgpack;
mod protobuf;
mod reply;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use thiserror::Error;

pub use command::{Command, CommandKind, History, Position, Received};
pub use incoming::{Incoming, Kind};
pub use json::Text;
pub use reply::Reply;

use json::Scanner;

/// How deep arrays and objects may lie in one another.
pub const DEPTH_MAX: usize = 128;

/// How messages are written, and whether AnyCable's extension is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codec {
    /// The format.
    pub format: Format,
    /// The protocol.
    pub dialect: Dialect,
}

/// The format of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Text messages of JSON.
    #[default]
    Json,
    /// Binary messages of MessagePack, with JSON's members.
    Msgpack,
    /// Binary messages of AnyCable's protocol buffers; what is broadcast is MessagePack in them.
    Protobuf,
}

/// The protocol spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// `actioncable-v1`.
    #[default]
    Base,
    /// `actioncable-v1-ext`: sessions, history, presence, pongs.
    Extended,
}

/// A value as it lies in a message, checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Value<'a> {
    /// There is none.
    #[default]
    Absent,
    /// JSON text.
    Json(&'a str),
    /// MessagePack.
    Msgpack(&'a [u8]),
}

/// Why bytes are no message of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CableError {
    /// It is no JSON, or a member has the wrong type; where.
    #[error("malformed JSON at byte {0}")]
    Json(usize),
    /// It is no MessagePack, or a member has the wrong type.
    #[error("malformed MessagePack")]
    Msgpack,
    /// It is no protocol buffer, or a field has the wrong type.
    #[error("malformed protocol buffer")]
    Protobuf,
    /// The bytes end too early.
    #[error("message ends too early")]
    Truncated,
    /// A text is not UTF-8.
    #[error("text is not UTF-8")]
    Utf8,
    /// Values lie in one another deeper than 128 levels.
    #[error("more than 128 levels deep")]
    Depth,
    /// Bytes follow the message.
    #[error("bytes after the message")]
    Trailing,
    /// A command that is unknown.
    #[error("unknown command")]
    Command,
    /// A command that AnyCable's protocol buffers have no number for.
    #[error("command cannot be said in protocol buffers")]
    NotInProtobuf,
}

impl Codec {
    /// The codec that a subprotocol's name stands for.
    #[must_use]
    pub fn of_subprotocol(name: &str) -> Option<Self> {
        Self::all().find(|codec| codec.subprotocol() == name)
    }

    /// The subprotocol's name.
    #[must_use]
    pub const fn subprotocol(self) -> &'static str {
        match (self.dialect, self.format) {
            (Dialect::Base, Format::Json) => "actioncable-v1-json",
            (Dialect::Base, Format::Msgpack) => "actioncable-v1-msgpack",
            (Dialect::Base, Format::Protobuf) => "actioncable-v1-protobuf",
            (Dialect::Extended, Format::Json) => "actioncable-v1-ext-json",
            (Dialect::Extended, Format::Msgpack) => "actioncable-v1-ext-msgpack",
            (Dialect::Extended, Format::Protobuf) => "actioncable-v1-ext-protobuf",
        }
    }

    /// Whether messages are sent as text; else as binary.
    #[must_use]
    pub const fn is_text(self) -> bool {
        matches!(self.format, Format::Json)
    }

    fn all() -> impl Iterator<Item = Self> {
        const FORMATS: [Format; 3] = [Format::Json, Format::Msgpack, Format::Protobuf];
        let codecs = |dialect| FORMATS.map(|format| Self { format, dialect });
        [Dialect::Base, Dialect::Extended].into_iter().flat_map(codecs)
    }
}

impl<'a> Value<'a> {
    /// It as JSON text; `None` where there is none. MessagePack is translated: bytes become base64, extensions null.
    ///
    /// # Errors
    /// A map's key is neither a text nor a number.
    pub fn to_json(&self) -> Result<Option<Cow<'a, str>>, CableError> {
        let bytes = match self {
            Self::Absent => return Ok(None),
            Self::Json(text) => return Ok(Some(Cow::Borrowed(text))),
            Self::Msgpack(bytes) => bytes,
        };
        let mut out = Vec::with_capacity(bytes.len() * 2);
        let mut reader = msgpack::Reader::new(bytes);
        msgpack::to_json(&mut reader, DEPTH_MAX, &mut out)?;
        if !reader.is_empty() {
            return Err(CableError::Trailing);
        }
        String::from_utf8(out).map(|text| Some(text.into())).map_err(|_| CableError::Utf8)
    }
}

/// Appends a JSON text as MessagePack.
///
/// # Errors
/// The text is no JSON, or too deep.
pub fn json_to_msgpack(json: &str, out: &mut Vec<u8>) -> Result<(), CableError> {
    let mut scanner = Scanner::new(json);
    let value = scanner.value()?;
    scanner.end()?;
    msgpack::from_json(&mut Scanner::new(value), out)
}

/// The text of a whole message.
fn utf8(bytes: &[u8]) -> Result<&str, CableError> {
    std::str::from_utf8(bytes).map_err(|_| CableError::Utf8)
}
