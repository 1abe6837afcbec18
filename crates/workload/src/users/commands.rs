//! `Commands`: what virtual users want done: requests, bytes through pipes, rows of their own.

use std::sync::Arc;

use stdx::{MemoryShare, Nanos, OutOfMemory};

use super::pipe::Pipe;
use crate::poll_budget::PollBudget;
use crate::target::Target;

/// A request of a user.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestCommand {
    /// The user that waits for the response.
    pub user: u32,
    /// What is asked for. Asking for the same `Arc` again is cheaper than for an equal one.
    pub target: Arc<Target>,
    /// How long it may take; [`Nanos::MAX`] for no limit.
    pub timeout: Nanos,
    /// The bytes that the body of its response may have: the exchange is ended once there are more. Of streams there is no such limit.
    pub body_max: u64,
    /// The user whose connections it may use, where users have their own.
    pub owner: u32,
    /// Closes the owner's idle connections first.
    pub fresh_connection: bool,
    /// What it is to its connection.
    pub kind: RequestKind,
    /// TLS of the channel that a [`RequestKind::Dial`] connects; as in the settings of the run where `None`.
    pub tls: Option<Arc<ChannelTls>>,
    /// A redirect to another host named the target.
    pub redirected: bool,
    /// What the user asked for first, where redirects led to this target on another path: a name, or `METHOD URL` without secrets.
    pub led_from: Option<Arc<str>>,
    /// The tags of its row, as a JSON object of texts; `None` for none.
    pub tags: Option<Arc<str>>,
}

/// What a request is to its connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestKind {
    /// It takes a connection that others of its owner take as well.
    #[default]
    Plain,
    /// The connection is to be the user's own once the server has switched protocols: a [`Pipe`]. RFC 9110, 7.8.
    Upgrade,
    /// A call of gRPC: a stream of the one connection of HTTP/2 that is its owner's channel of this number to that server. Its
    /// outcome is the status in its trailers.
    Call(u32),
    /// The same, where the request's body is sent in parts by [`StreamCommand`]s, and the response's arrives in parts, as
    /// [`StreamEvent`](super::StreamEvent)s.
    Stream(u32),
    /// The channel of this number is connected, and nothing is asked: answered once the server has said something, with no status.
    Dial(u32),
}

impl RequestKind {
    /// Whether the connection is to leave HTTP.
    #[must_use]
    pub const fn is_upgrade(self) -> bool {
        matches!(self, Self::Upgrade)
    }

    /// Whether the bodies of request and response are sent and received in parts.
    #[must_use]
    pub const fn is_stream(self) -> bool {
        matches!(self, Self::Stream(_))
    }

    /// Whether nothing is asked.
    #[must_use]
    pub const fn is_dial(self) -> bool {
        matches!(self, Self::Dial(_))
    }

    /// The number of its channel, where it has one.
    #[must_use]
    pub const fn channel(self) -> Option<u32> {
        match self {
            Self::Call(channel) | Self::Stream(channel) | Self::Dial(channel) => Some(channel),
            Self::Plain | Self::Upgrade => None,
        }
    }
}

/// TLS of a channel: its own roots and identity, beside the versions, suites and verification of the run's settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ChannelTls {
    /// Certificates in PEM that are trusted beside the system's.
    pub roots_pem: Vec<Vec<u8>>,
    /// The client's certificate in PEM.
    pub cert_pem: Option<Vec<u8>>,
    /// The key to it.
    pub key_pem: Option<Vec<u8>>,
    /// The name that the server has to prove, where it is not the host's.
    pub server_name: Option<String>,
}

impl ChannelTls {
    /// Whether it has anything beside another name.
    #[must_use]
    pub fn has_certificates(&self) -> bool {
        !self.roots_pem.is_empty() || self.cert_pem.is_some() || self.key_pem.is_some()
    }
}

/// A channel that is no longer wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelEnd {
    /// The user whose channel it is.
    pub owner: u32,
    /// Its number.
    pub channel: u32,
}

/// What users want done.
#[derive(Debug, Default)]
pub struct Commands {
    /// How much may be started in this poll. Users with more to start return an earlier time for the next poll.
    pub budget: PollBudget,
    /// Requests.
    pub requests: Vec<RequestCommand>,
    /// Channels to be closed, before the requests are begun: what is under way on them fails.
    pub channel_ends: Vec<ChannelEnd>,
    /// What is done to pipes, in this order.
    pub pipe_commands: Vec<(Pipe, PipeCommand)>,
    /// The bytes that are sent through pipes, one after the other.
    pub bytes: Vec<u8>,
    /// What is done to streams under way, in this order, each by the number that its request had as `user`. Those of streams that
    /// have ended do nothing.
    pub stream_commands: Vec<(u32, StreamCommand)>,
    /// Rows of what users measured themselves.
    pub samples: Vec<CustomSample>,
    /// What [`Commands::make_room`] took for the bytes.
    pub memory: MemoryShare,
}

/// What is done to a [`Pipe`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipeCommand {
    /// So many of the bytes, the next ones, are sent.
    Send(usize),
    /// It is closed once all is sent. No event of it follows.
    Close,
    /// Receiving goes on.
    Resume,
}

/// What is done to a [stream](RequestKind::Stream).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamCommand {
    /// A part of the request's body is sent, as soon as the server has room for it.
    Send(Vec<u8>),
    /// The body of the request has ended; the response goes on.
    End,
    /// The exchange is ended at once; its response is a failure.
    Cancel,
    /// Receiving goes on.
    Resume,
}

impl Commands {
    /// Takes memory for so many bytes more, until those of this turn are handed on.
    ///
    /// # Errors
    /// None is left.
    pub fn make_room(&mut self, more: usize) -> Result<(), OutOfMemory> {
        self.memory.make_room(&self.bytes, more)
    }

    /// The bytes were handed on: room for `max` of them stays.
    pub fn clear_bytes(&mut self, max: usize) {
        self.bytes.clear();
        if self.bytes.capacity() > max {
            self.bytes = Vec::new();
            self.memory = MemoryShare::default();
        }
    }

    /// Sends bytes through a pipe. Those of one turn go together.
    pub fn send(&mut self, pipe: Pipe, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.pipe_commands.push((pipe, PipeCommand::Send(bytes.len())));
    }

    /// Closes a pipe, once all is sent.
    pub fn close(&mut self, pipe: Pipe) {
        self.pipe_commands.push((pipe, PipeCommand::Close));
    }

    /// Receives from a pipe again.
    pub fn resume(&mut self, pipe: Pipe) {
        self.pipe_commands.push((pipe, PipeCommand::Resume));
    }
}

/// What a user measured beside its requests, such as a message's way to the server and back: it becomes a row as a hit does.
#[derive(Clone, Debug)]
pub struct CustomSample {
    /// What it was: a word for what was done, and the address, as `PERFORM ws://host/cable`.
    pub line: Arc<str>,
    /// When it was due.
    pub due: Nanos,
    /// When it was sent.
    pub sent: Nanos,
    /// When it ended.
    pub done: Nanos,
    /// Bytes sent for it.
    pub bytes_out: u64,
    /// Bytes that came back.
    pub bytes_in: u64,
    /// The answer, where it did not fail.
    pub outcome: CustomOutcome,
    /// The text of an answer that is no success; else empty.
    pub error: Arc<str>,
    /// Why it failed: what kind of failure by its name in a report, and its text.
    pub failure: Option<(CustomFailure, Arc<str>)>,
    /// The connection that it was made on.
    pub serial: u32,
}

/// The answer to a [`CustomSample`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CustomOutcome {
    /// A message, which has no status.
    #[default]
    Message,
    /// A call of gRPC that ended with this status, as the server sent it.
    Grpc(u32),
}

/// How a [`CustomSample`] fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CustomFailure {
    /// Nothing came back in time.
    Timeout,
    /// The connection was lost.
    Lost,
    /// The server refused, or answered something unknown.
    Refused,
    /// The run was interrupted before the answer came.
    Stopped,
}
