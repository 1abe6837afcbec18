//! `CableError`: why bytes are no message of the protocol.

use thiserror::Error;

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
    #[error("command cannot be encoded as a protocol buffer")]
    NotInProtobuf,
}
