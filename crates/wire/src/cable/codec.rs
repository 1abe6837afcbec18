//! `Codec`: which of the subprotocols is spoken.

use serde::{Deserialize, Serialize};

/// How messages are written, and whether AnyCable's extension is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Codec {
    /// The format.
    pub format: Format,
    /// The protocol.
    pub dialect: Dialect,
}

/// The format of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Dialect {
    /// `actioncable-v1`.
    #[default]
    Base,
    /// `actioncable-v1-ext`: sessions, history, presence, pongs.
    Extended,
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

    pub(super) fn all() -> impl Iterator<Item = Self> {
        const FORMATS: [Format; 3] = [Format::Json, Format::Msgpack, Format::Protobuf];
        let codecs = |dialect| FORMATS.map(|format| Self { format, dialect });
        [Dialect::Base, Dialect::Extended].into_iter().flat_map(codecs)
    }
}
