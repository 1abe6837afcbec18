//! A call as an exchange of HTTP/2: the fields and the body of its request, and what its response says.

use crate::frame::encode_frame;
use crate::metadata::{Metadata, field, timeout_text};
use crate::status::{Code, Status};

/// Fields that metadata cannot set: those of gRPC's own, and HTTP's name of the server.
const RESERVED: [&str; 10] = [
    "content-type",
    "user-agent",
    "te",
    "host",
    "grpc-timeout",
    "grpc-encoding",
    "grpc-message",
    "grpc-message-type",
    "grpc-status",
    "grpc-accept-encoding",
];

/// A call that is to be sent.
#[derive(Clone, Copy, Debug)]
pub struct CallRequest<'a> {
    /// Metadata; values of names ending in `-bin` are in base64.
    pub metadata: &'a [(String, String)],
    /// How long it may take; `None` for no limit.
    pub timeout_ns: Option<u64>,
    /// The user agent; `None` where another place adds it.
    pub user_agent: Option<&'a str>,
}

impl CallRequest<'_> {
    /// The header fields.
    #[must_use]
    pub fn headers(&self) -> Vec<(String, String)> {
        let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut all = vec![own("content-type", "application/grpc")];
        all.extend(self.user_agent.map(|agent| own("user-agent", agent)));
        all.push(own("te", "trailers"));
        if let Some(timeout_ns) = self.timeout_ns {
            all.push(("grpc-timeout".to_owned(), timeout_text(timeout_ns)));
        }
        // The protocol's own fields are not a caller's to set.
        let is_free = |name: &str| !RESERVED.contains(&name.to_ascii_lowercase().as_str());
        all.extend(self.metadata.iter().filter(|(name, _)| is_free(name)).cloned());
        all
    }

    /// The body of these messages.
    #[must_use]
    pub fn body<M: AsRef<[u8]>>(messages: &[M]) -> Vec<u8> {
        let mut body = Vec::new();
        messages.iter().for_each(|message| encode_frame(message.as_ref(), &mut body));
        body
    }
}

/// The head of a response.
#[derive(Clone, Copy, Debug)]
pub struct ReplyHead<'a> {
    /// Its HTTP status.
    pub http_status: u16,
    /// The words for it.
    pub http_reason: &'a str,
    /// The header lines, each ended by CR LF.
    pub lines: &'a [u8],
}

/// A response, whole.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'a> {
    /// Its HTTP status.
    pub http_status: u16,
    /// The words for it.
    pub http_reason: &'a str,
    /// The header lines, each ended by CR LF.
    pub head: &'a [u8],
    /// The body.
    pub body: &'a [u8],
    /// The trailer lines.
    pub trailers: &'a [u8],
}

impl<'a> Reply<'a> {
    pub(crate) fn head(&self) -> ReplyHead<'a> {
        let Self { http_status, http_reason, head, .. } = *self;
        ReplyHead { http_status, http_reason, lines: head }
    }
}

/// What a call came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOutcome {
    /// Its status.
    pub status: Status,
    /// Metadata of its head.
    pub headers: Metadata,
    /// Metadata of its trailers.
    pub trailers: Metadata,
    /// The messages, as many as could be read.
    pub messages: Vec<Vec<u8>>,
}

impl CallOutcome {
    /// Of a call that the server did not answer.
    #[must_use]
    pub fn failed(code: Code, message: impl Into<String>) -> Self {
        Self { status: Status::new(code, message), ..Self::default() }
    }
}

/// The status that stands for a response which is no gRPC.
pub(crate) fn no_grpc(reply: &ReplyHead<'_>) -> Option<Status> {
    let content_type = field(reply.lines, "content-type");
    let wrong_type = match content_type {
        None => Some("malformed header: missing HTTP content-type".to_owned()),
        Some(of) if is_grpc(of) => None,
        Some(of) => {
            let of = String::from_utf8_lossy(of);
            Some(format!("transport: received unexpected content-type {of:?}"))
        }
    };
    let wrong_status = (reply.http_status != 200).then(|| {
        let ReplyHead { http_status, http_reason, .. } = reply;
        format!("unexpected HTTP status code received from server: {http_status} ({http_reason})")
    });
    if wrong_type.is_none() && wrong_status.is_none() {
        return None;
    }
    let texts: Vec<String> = wrong_status.into_iter().chain(wrong_type).collect();
    Some(Status::new(Code::of_http(reply.http_status), texts.join("; ")))
}

/// Whether a content type is gRPC's, with any coding of messages.
fn is_grpc(content_type: &[u8]) -> bool {
    let lower = content_type.to_ascii_lowercase();
    let rest = lower.strip_prefix(b"application/grpc");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"+") || rest.starts_with(b";"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &[u8] = b"content-type: application/grpc\r\nx: y\r\n";

    fn outcome(status: u16, head: &[u8], body: &[u8], trailers: &[u8]) -> CallOutcome {
        let reply = Reply { http_status: status, http_reason: "Reason", head, body, trailers };
        CallOutcome::of(&reply, 100)
    }

    #[test]
    fn responses_become_outcomes() {
        let body = CallRequest::body(&[b"abc"]);
        let whole = outcome(200, HEAD, &body, b"grpc-status: 0\r\nt: 1\r\n");
        assert_eq!(whole.status.code, Code::OK);
        assert_eq!(whole.messages, [b"abc"]);
        assert_eq!((whole.headers.0.len(), whole.trailers.0.len()), (2, 1));
        let two = outcome(200, HEAD, &CallRequest::body(&[b"a", b"b"]), b"grpc-status: 0\r\n");
        assert_eq!(two.status.code, Code::INTERNAL);
        let early = b"content-type: application/grpc\r\ngrpc-status: 0\r\n";
        assert_eq!(outcome(200, early, &body, b"").status.code, Code::INTERNAL);
        let only = outcome(200, b"content-type: application/grpc\r\ngrpc-status: 5\r\n", b"", b"");
        assert_eq!((only.status.code, only.headers.is_empty()), (Code(5), true));
    }

    #[test]
    fn what_is_no_grpc_has_a_status_all_the_same() {
        let check = |outcome: CallOutcome, code: Code, text: &str| {
            assert_eq!((outcome.status.code, outcome.status.message.as_str()), (code, text));
        };
        let html = b"content-type: text/html\r\n";
        check(
            outcome(502, html, b"", b""),
            Code::UNAVAILABLE,
            "unexpected HTTP status code received from server: 502 (Reason); transport: received unexpected content-type \"text/html\"",
        );
        check(
            outcome(200, b"", b"", b""),
            Code::UNKNOWN,
            "malformed header: missing HTTP content-type",
        );
        check(outcome(200, HEAD, b"", b"x: y\r\n"), Code::UNKNOWN, "");
        let body = CallRequest::body(&[b"abc"]);
        check(
            outcome(200, HEAD, &body, b""),
            Code::INTERNAL,
            "server closed the stream without sending trailers",
        );
        let large = CallRequest::body(&[[0; 101]]);
        check(
            outcome(200, HEAD, &large, b"grpc-status: 0\r\n"),
            Code::RESOURCE_EXHAUSTED,
            "grpc: received message larger than max (101 vs. 100)",
        );
    }

    #[test]
    fn requests_say_how_long_they_may_take() {
        let metadata = [("x-a", "1"), ("Content-Type", "text/x"), ("host", "evil")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let request =
            CallRequest { metadata: &metadata, timeout_ns: Some(5_000_000), user_agent: Some("u") };
        let headers = request.headers();
        let headers: Vec<_> = headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(
            headers,
            [
                ("content-type", "application/grpc"),
                ("user-agent", "u"),
                ("te", "trailers"),
                ("grpc-timeout", "5000000n"),
                ("x-a", "1"),
            ]
        );
    }
}
