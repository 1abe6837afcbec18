//! `PendingCall`: what a call on its way bears beside its exchange, and the tags of its sample.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use workload::{ChannelTls, RequestKind};

use super::stream_state::StreamState;
use crate::host::grpc::{GrpcKind, GrpcRequest, Replies};
use crate::host::http::HttpRequest;
use crate::host::system_tags::{SystemTag, SystemTags};

/// The flag and the length before a message.
const FRAME_HEAD_BYTES: u64 = 5;

/// A call on its way.
#[derive(Clone, Debug)]
pub(crate) struct PendingCall {
    pub(crate) kind: GrpcKind,
    channel: u32,
    pub(crate) path: String,
    address: String,
    pub(crate) receive_max: usize,
    pub(crate) tls: Option<Arc<ChannelTls>>,
    replies: Replies,
    /// How far the response is, where it is handed on as it comes.
    pub(crate) stream: Option<StreamState>,
}

impl PendingCall {
    /// A call, and its exchange.
    pub(crate) fn split(request: GrpcRequest) -> (Self, Box<HttpRequest>) {
        let GrpcRequest { http, channel, kind, path, address, receive_max, replies, tls } = request;
        let stream = matches!(kind, GrpcKind::Stream | GrpcKind::Dialogue)
            .then(|| StreamState::new(replies, receive_max));
        (Self { kind, channel, path, address, receive_max, tls, replies, stream }, http)
    }

    /// The bytes that the body of the response may have: more is more than one message, or one that is too large.
    pub(crate) fn body_max(&self) -> u64 {
        match self.replies {
            Replies::One => (self.receive_max as u64).saturating_add(FRAME_HEAD_BYTES),
            Replies::Many => u64::MAX,
        }
    }

    /// What it is to its connection.
    pub(crate) fn request_kind(&self) -> RequestKind {
        match self.kind {
            GrpcKind::Dial => RequestKind::Dial(self.channel),
            GrpcKind::Call | GrpcKind::Probe => RequestKind::Call(self.channel),
            GrpcKind::Stream | GrpcKind::Dialogue => RequestKind::Stream(self.channel),
        }
    }
}

/// What the sample of a call bears.
#[derive(Debug)]
pub(crate) struct CallLabels<'a> {
    pub(crate) call: &'a PendingCall,
    pub(crate) http: &'a HttpRequest,
    /// The status, once the call has ended.
    pub(crate) status: Option<u32>,
    pub(crate) ip: Option<IpAddr>,
}

impl CallLabels<'_> {
    /// A tag, if it is one of a call's, and wanted.
    pub(crate) fn tag(&self, name: &str, system: SystemTags) -> Option<Cow<'_, str>> {
        if self.call.kind == GrpcKind::Probe && name != "status" {
            return None;
        }
        let path = &self.call.path;
        let (service, method) = path.trim_start_matches('/').split_once('/').unwrap_or_default();
        let (tag, value) = match name {
            "url" => (SystemTag::Url, Cow::Owned(format!("{}{path}", self.call.address))),
            "name" => {
                let given = self.http.name.as_deref();
                (SystemTag::Name, Cow::Borrowed(given.unwrap_or(path)))
            }
            "service" => (SystemTag::Service, Cow::Borrowed(service)),
            "method" => (SystemTag::Method, Cow::Borrowed(method)),
            "status" => (SystemTag::Status, Cow::Owned(self.status?.to_string())),
            "ip" => (SystemTag::Ip, Cow::Owned(self.ip?.to_string())),
            _ => return None,
        };
        system.has(tag).then_some(value)
    }
}
