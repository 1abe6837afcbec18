//! What a script asks for, and what comes back.

use super::grpc::{GrpcRequest, GrpcResponse, StreamAction, StreamEvent};
use super::http::{HttpRequest, HttpResponse};
use super::socket::{SocketCommand, SocketEvent, SocketRequest};

/// What a script wants done, with the ticket that its answers bear.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A request, answered by [`ActionResult::Http`].
    Http(Ticket, Box<HttpRequest>),
    /// A call of gRPC, or the connection for some, answered by [`ActionResult::Grpc`]; each event of a stream is an
    /// [`ActionResult::Stream`].
    Grpc(Ticket, Box<GrpcRequest>),
    /// Something is done with the stream of gRPC of this ticket. It is not answered.
    Stream(Ticket, StreamAction),
    /// A channel of gRPC is closed. It is not answered.
    EndChannel(u32),
    /// A WebSocket is opened; each of its events is an [`ActionResult::Socket`].
    Open(Ticket, Box<SocketRequest>),
    /// Something is done with the open WebSocket of this ticket. It is not answered.
    Socket(Ticket, SocketCommand),
}

/// The number of something that a VU asked for, from 1. None is used twice by a VU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// The result of an [`Action`].
#[derive(Clone, Debug, PartialEq)]
pub enum ActionResult {
    /// The response, or why there is none.
    Http(Box<HttpResponse>),
    /// What a call of gRPC came to.
    Grpc(Box<GrpcResponse>),
    /// An event of a stream of gRPC.
    Stream(StreamEvent),
    /// An event of a WebSocket.
    Socket(SocketEvent),
}

impl ActionResult {
    /// How much it holds, in bytes; what every answer takes is not counted.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Http(answer) => answer.body.as_ref().map_or(0, Vec::len),
            Self::Grpc(answer) => answer.outcome.messages.iter().map(Vec::len).sum(),
            Self::Stream(StreamEvent::Message(message)) => message.len(),
            Self::Stream(StreamEvent::Ended(answer)) => {
                answer.outcome.messages.iter().map(Vec::len).sum()
            }
            Self::Socket(event) => event.bytes(),
        }
    }
}
