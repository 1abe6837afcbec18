//! What can be wrong with what the peer sends, with the close code for it, and why nothing can be sent. RFC 6455, 7.4.

use thiserror::Error;

/// Why a session failed: the peer broke the protocol or passed a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WsError {
    /// A reserved bit is set that nothing agreed upon gives a meaning.
    #[error("reserved bits in a frame's header")]
    ReservedBits,
    /// A reserved opcode.
    #[error("reserved opcode {0}")]
    Opcode(u8),
    /// A control frame without FIN.
    #[error("fragmented control frame")]
    ControlFragmented,
    /// A control frame of more than 125 bytes.
    #[error("control frame of more than 125 bytes")]
    ControlTooLong,
    /// A length that is not written in the shortest form.
    #[error("frame length not in its shortest form")]
    LengthNotMinimal,
    /// A length of 2^63 bytes or more.
    #[error("frame length of 2^63 bytes or more")]
    LengthTopBit,
    /// A server masked a frame.
    #[error("masked frame from a server")]
    Masked,
    /// A client did not mask a frame.
    #[error("unmasked frame from a client")]
    Unmasked,
    /// A continuation of nothing.
    #[error("continuation frame without a message to continue")]
    ContinuationAlone,
    /// A new message began before the last one was whole.
    #[error("new message inside a fragmented one")]
    MessageInside,
    /// A close frame with one byte, which is no code.
    #[error("close frame of one byte")]
    CloseBody,
    /// A close code that must not be sent.
    #[error("close code {0} must not be sent")]
    CloseCode(u16),
    /// A text or a reason that is not UTF-8.
    #[error("text is not UTF-8")]
    Utf8,
    /// A message passes `message_bytes_max`, as sent or as inflated.
    #[error("message larger than {0} bytes")]
    TooBig(usize),
    /// No memory is left for the message.
    #[error("message too large: no memory is left (-memory-limit)")]
    OutOfMemory,
    /// A compressed message cannot be inflated.
    #[error("compressed message cannot be inflated")]
    Inflate,
    /// A compressed message that is next to nothing but the ends of its blocks.
    #[error("compressed message of empty blocks")]
    Hollow,
}

/// Why something was not sent; nothing was appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SendError {
    /// The close frame has been sent already.
    #[error("the WebSocket is closing or closed")]
    Closed,
    /// A ping or a pong of more than 125 bytes.
    #[error("control frame of {0} bytes; the limit is 125")]
    ControlTooLong(usize),
}

impl WsError {
    /// The close code for the peer: 1002, 1007 or 1009.
    #[must_use]
    pub const fn close_code(self) -> u16 {
        match self {
            Self::Utf8 | Self::Inflate => 1007,
            Self::TooBig(_) | Self::OutOfMemory | Self::Hollow => 1009,
            _ => 1002,
        }
    }
}

/// Whether a close frame may carry this code: the registered ones and those of libraries and applications. RFC 6455, 7.4.
#[must_use]
pub const fn is_close_code(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}
