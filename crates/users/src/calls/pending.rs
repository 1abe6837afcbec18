//! `PendingCall`: what a call on its way bears beside its exchange, and the tags of its sample.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use workload::{ChannelTls, RequestKind};

use crate::host::grpc::{GrpcKind, GrpcRequest};
use crate::host::http::HttpRequest;
use crate::host::system_tags::{SystemTag, SystemTags};

/// A call on its way.
#[derive(Clone, Debug)]
pub(crate) struct PendingCall {
    pub(crate) kind: GrpcKind,
    channel: u32,
    path: String,
    address: String,
    pub(crate) receive_max: usize,
    pub(crate) tls: Option<Arc<ChannelTls>>,
}

impl PendingCall {
    /// A call, and its exchange.
    pub(crate) fn split(request: GrpcRequest) -> (Self, Box<HttpRequest>) {
        let GrpcRequest { http, channel, kind, path, address, receive_max, tls } = request;
        (Self { kind, channel, path, address, receive_max, tls }, http)
    }

    /// What it is to its connection.
    pub(crate) fn request_kind(&self) -> RequestKind {
        match self.kind {
            GrpcKind::Dial => RequestKind::Dial(self.channel),
            GrpcKind::Call | GrpcKind::Probe | GrpcKind::Uncounted => {
                RequestKind::Call(self.channel)
            }
        }
    }
}

/// What the sample of a call bears.
#[derive(Debug)]
pub(crate) struct CallLabels<'a> {
    pub(crate) call: &'a PendingCall,
    pub(crate) http: &'a HttpRequest,
    pub(crate) status: u32,
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
            "status" => (SystemTag::Status, Cow::Owned(self.status.to_string())),
            "ip" => (SystemTag::Ip, Cow::Owned(self.ip?.to_string())),
            _ => return None,
        };
        system.has(tag).then_some(value)
    }
}
