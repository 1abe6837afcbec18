//! `Event`: what the peer's frames cause, and which side of the connection gets it.

/// Which side of the connection we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// We connected: our frames are masked.
    Client,
    /// We were connected to: the peer's frames are masked.
    Server,
}

/// Something whole that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A text message.
    Text(&'a str),
    /// A binary message.
    Binary(&'a [u8]),
    /// A ping; its pong is in `out` already.
    Ping(&'a [u8]),
    /// A pong, asked for or not.
    Pong(&'a [u8]),
    /// The peer's close frame, the last event of a session; our reply is in `out`, unless we closed before.
    Close {
        /// The code, if there was one.
        code: Option<u16>,
        /// The reason, at most 123 bytes.
        reason: &'a str,
    },
}
