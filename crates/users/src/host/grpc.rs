//! Calls of gRPC as a user wants them, and what they came to.

use std::sync::Arc;

use grpc::CallOutcome;
use workload::ChannelTls;

use super::http::HttpRequest;

/// A call that a user wants made, or the connection for its calls.
#[derive(Clone, Debug, PartialEq)]
pub struct GrpcRequest {
    /// The exchange: URL, fields, body, time, tags. The URL of a [`GrpcKind::Dial`] has any path.
    pub http: Box<HttpRequest>,
    /// The user's channel that it goes on.
    pub channel: u32,
    /// What is wanted.
    pub kind: GrpcKind,
    /// The path, `/pkg.Service/Method`.
    pub path: String,
    /// The address, as the user wrote it.
    pub address: String,
    /// The bytes that a message of the response may have.
    pub receive_max: usize,
    /// How many messages the response has.
    pub replies: Replies,
    /// TLS of the channel that a [`GrpcKind::Dial`] connects; as the options have it where `None`.
    pub tls: Option<Arc<ChannelTls>>,
}

/// What is wanted of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrpcKind {
    /// It is connected.
    Dial,
    /// A call is made on it, and counted.
    Call,
    /// The same, counted with its status alone: a health check.
    Probe,
    /// A stream is opened on it, and counted; what the server says of it are [`StreamEvent`]s.
    Stream,
    /// The same, not counted: a dialogue of the client's own.
    Dialogue,
}

/// How many messages a server answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replies {
    /// One, which is known once the call has ended.
    One,
    /// Any number, each as it comes.
    Many,
}

/// What a user wants done with its stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamAction {
    /// A message is sent: its frame.
    Send(Vec<u8>),
    /// No further message is.
    End,
    /// The call is ended at once.
    Cancel,
}

/// What happened on a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    /// A message came.
    Message(Vec<u8>),
    /// The call has ended, with messages that did not come before. Nothing follows.
    Ended(Box<GrpcResponse>),
}

/// What a [`GrpcRequest`] came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GrpcResponse {
    /// The call's outcome; of a dial its status alone.
    pub outcome: CallOutcome,
    /// How long it took, in milliseconds.
    pub took_ms: f64,
}
