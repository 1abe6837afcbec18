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
    /// The same, not counted: one of several exchanges that make a call.
    Uncounted,
}

/// What a [`GrpcRequest`] came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GrpcResponse {
    /// The call's outcome; of a dial its status alone.
    pub outcome: CallOutcome,
    /// How long it took, in milliseconds.
    pub took_ms: f64,
}
