//! WebSockets of scripts: requests, commands and events.

use std::net::SocketAddr;
use std::sync::Arc;

use wire::cable::{Codec, CommandKind, Kind};

use super::http::HttpRequest;

/// A WebSocket as a script wants it.
#[derive(Clone, Debug, PartialEq)]
pub struct SocketRequest {
    /// The request that opens it: its header fields, its jar, its tags. Its URL is the http form of the socket's.
    pub http: Box<HttpRequest>,
    /// The socket's URL as the script wrote it.
    pub url: String,
    /// The subprotocols that are offered.
    pub protocols: Vec<String>,
    /// permessage-deflate is offered.
    pub deflates: bool,
    /// The API that the script uses.
    pub api: SocketApi,
    /// Why there can be no such socket, whatever a server would say.
    pub hopeless: Option<String>,
}

/// The API that a socket was opened with: it decides what is counted, and whether the socket ends with the iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketApi {
    /// `k6/ws`: its own messages are counted.
    Blocking,
    /// `k6/websockets`: pings and the close frame are counted as well.
    Events,
    /// `k6/x/cable`: Action Cable. Pings and the welcome are not counted, and the socket lasts longer than the iteration.
    Cable(Codec),
}

/// What a script wants done with its socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SocketCommand {
    /// A text message is sent.
    Text(String),
    /// A binary message is sent.
    Binary(Vec<u8>),
    /// Sets whether the script gets the messages of this subscription.
    Ignore(String, Delivery),
    /// A command of Action Cable is sent.
    Command(Box<CableCommand>),
    /// A ping is sent.
    Ping,
    /// The close frame is sent. Events that come until the server has answered it reach the script.
    Close(u16, String),
    /// The close frame is sent; no more events reach the script.
    Drop(u16),
}

impl SocketCommand {
    /// What its texts take, in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Ignore(text, _) | Self::Close(_, text) => text.len(),
            Self::Binary(bytes) => bytes.len(),
            Self::Command(command) => {
                size_of::<CableCommand>()
                    + command.identifier.len()
                    + command.data.as_ref().map_or(0, String::len)
            }
            Self::Ping | Self::Drop(_) => 0,
        }
    }
}

/// Whether a script gets the messages of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It gets them.
    Full,
    /// They are only counted.
    CountOnly,
}

/// A command of Action Cable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CableCommand {
    /// What it is.
    pub kind: CommandKind,
    /// The subscription, as JSON text.
    pub identifier: String,
    /// JSON text.
    pub data: Option<String>,
    /// From when on history is asked for, in seconds since 1970.
    pub since: Option<i64>,
}

/// An event of a socket.
#[derive(Clone, Debug, PartialEq)]
pub enum SocketEvent {
    /// The server has accepted it.
    Opened(Box<HandshakeResponse>),
    /// The socket was not opened, and why. No event follows.
    Refused(Box<HandshakeResponse>, String),
    /// A text message.
    Text(String),
    /// A binary message.
    Binary(Vec<u8>),
    /// A message of Action Cable.
    Cable(Box<CableEvent>),
    /// A ping, which is answered already.
    Ping,
    /// The answer to a ping, and what was in it.
    Pong(Vec<u8>),
    /// What went wrong; `Closed` follows, unless it is a malformed message of Action Cable.
    Failed(String),
    /// It is closed, with a code and a reason. Nothing follows.
    Closed(u16, String),
}

impl SocketEvent {
    /// How much it holds, in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Failed(text) | Self::Closed(_, text) => text.len(),
            Self::Binary(bytes) | Self::Pong(bytes) => bytes.len(),
            Self::Cable(event) => {
                event.identifier.len() + event.message.as_ref().map_or(0, String::len)
            }
            Self::Opened(opened) | Self::Refused(opened, _) => opened.body.len(),
            Self::Ping => 0,
        }
    }
}

/// A message of Action Cable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CableEvent {
    /// What it is.
    pub kind: Kind,
    /// The subscription, as JSON text; of a welcome the session, of a disconnect the reason.
    pub identifier: String,
    /// What was sent, as JSON text.
    pub message: Option<String>,
    /// Whether the client is to come back after a disconnect; whether a welcome restores a session.
    pub again: Option<bool>,
    /// When it came, in milliseconds since 1970.
    pub at: f64,
    /// Its stream, the stream's epoch and its place there, where the server says so.
    pub place: Option<(String, String, i64)>,
}

/// The server's answer to the opening handshake of a WebSocket. RFC 6455, 4.1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandshakeResponse {
    /// The status; 0 where there was no response.
    pub status: u16,
    /// The status line and the header lines, each ended by CR LF.
    pub head: Option<Arc<[u8]>>,
    /// The body of a response that opens no socket.
    pub body: Vec<u8>,
    /// The subprotocol; empty for none.
    pub protocol: String,
    /// The extensions, as the server wrote them.
    pub extensions: String,
    /// The address that answered.
    pub remote: Option<SocketAddr>,
}
