//! What a script asks for, and what comes back.

use super::http::{HttpAnswer, HttpAsk};
use super::socket::{SocketAsk, SocketEvent, SocketOrder};

/// What a script wants done, with the ticket that its answers bear.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A request, answered by [`Answer::Http`].
    Http(Ticket, Box<HttpAsk>),
    /// A WebSocket is opened; what becomes of it is told by one [`Answer::Socket`] after the other.
    Open(Ticket, Box<SocketAsk>),
    /// Something is done with the open WebSocket of this ticket. It is not answered.
    Socket(Ticket, SocketOrder),
}

/// The number of something that a VU asked for, from 1. None is used twice by a VU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// What became of an [`Action`].
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The response, or why there is none.
    Http(Box<HttpAnswer>),
    /// What a WebSocket came to.
    Socket(SocketEvent),
}

impl Answer {
    /// How much it holds, in bytes; what every answer takes is not counted.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Http(answer) => answer.body.as_ref().map_or(0, Vec::len),
            Self::Socket(event) => event.bytes(),
        }
    }
}
