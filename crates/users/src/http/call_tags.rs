//! `CallTags`: what k6's metrics want of an answered request: the values of its tags, and its times.

use std::borrow::Cow;
use std::net::IpAddr;

use workload::EngineResponse;

use crate::host::http::Timings;
use crate::host::response_head;
use crate::host::system_tags::{SystemTag, SystemTags};

/// What k6's metrics want of a request.
#[derive(Debug)]
pub(crate) struct CallTags<'a> {
    pub(crate) status: u16,
    /// k6's number; 0 for none.
    pub(crate) error_code: u16,
    pub(crate) error: String,
    /// What it is called in metrics.
    pub(crate) name: &'a str,
    pub(crate) method: &'a str,
    /// The head of the response: its status line has the protocol, which few ask for.
    pub(crate) head: &'a [u8],
    /// `tls1.3`; empty without TLS.
    pub(crate) tls_version: &'a str,
    /// The address that answered.
    pub(crate) ip: Option<IpAddr>,
    /// Whether the response is one that the script expects; `None` where it does not say at all.
    pub(crate) expected: Option<bool>,
    pub(crate) timings: Timings,
}

impl CallTags<'_> {
    /// The names of the tags.
    pub(crate) const TAGS: [&'static str; 10] = [
        "status",
        "method",
        "name",
        "url",
        "proto",
        "expected_response",
        "error",
        "error_code",
        "tls_version",
        "ip",
    ];

    /// A tag, if it is one of these, and wanted, and there is a value for it.
    pub(crate) fn tag(&self, name: &str, system: SystemTags) -> Option<Cow<'_, str>> {
        let (tag, value) = match name {
            "expected_response" => {
                let word = if self.expected? { "true" } else { "false" };
                (SystemTag::ExpectedResponse, Cow::Borrowed(word))
            }
            "status" => (SystemTag::Status, Cow::Owned(self.status.to_string())),
            "method" => (SystemTag::Method, Cow::Borrowed(self.method)),
            "name" => (SystemTag::Name, Cow::Borrowed(self.name)),
            "url" => (SystemTag::Url, Cow::Borrowed(self.name)),
            "proto" => (SystemTag::Proto, Cow::Borrowed(response_head::proto(self.head))),
            "error" => (SystemTag::Error, Cow::Borrowed(self.error.as_str())),
            "error_code" if self.error_code > 0 => {
                (SystemTag::ErrorCode, Cow::Owned(self.error_code.to_string()))
            }
            "tls_version" => (SystemTag::TlsVersion, Cow::Borrowed(self.tls_version)),
            "ip" => (SystemTag::Ip, Cow::Owned(self.ip?.to_string())),
            _ => return None,
        };
        (system.has(tag) && !value.is_empty()).then_some(value)
    }
}

/// k6's number of a status that is an error; 0 for none.
pub(crate) fn status_code(status: u16) -> u16 {
    if status >= 400 { status.saturating_add(1000) } else { 0 }
}

/// k6's parts of the time.
pub(crate) fn timings(reply: &EngineResponse<'_>) -> Timings {
    let Some(sent) = reply.sent else {
        // What was never sent took k6 no time but that of the connection.
        let (connecting, tls_handshaking) = (reply.dial, reply.tls);
        return Timings { connecting, tls_handshaking, ..Timings::default() };
    };
    let first = reply.first_byte.unwrap_or(reply.done);
    // A server may answer before it has received the whole request.
    let all_sent = reply.all_sent.unwrap_or(sent).clamp(sent, first.max(sent));
    Timings {
        blocked: sent.saturating_sub(reply.due),
        connecting: reply.dial,
        tls_handshaking: reply.tls,
        sending: all_sent.saturating_sub(sent),
        waiting: first.saturating_sub(all_sent),
        receiving: reply.done.saturating_sub(first),
    }
}
