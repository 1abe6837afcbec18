//! The statuses of calls that the server did not answer, in the words of grpc-go.

use grpc::{Code, Status};
use workload::{EngineResponse, FailureDetail};

use crate::http::failure;

/// What stands for the answer that did not come; `None` where one came.
pub(crate) fn status_of(reply: &EngineResponse<'_>) -> Option<Status> {
    let (kind, _) = reply.failure.as_ref()?;
    let (code, text) = match (reply.detail, *kind) {
        (_, "timeout") => (Code::DEADLINE_EXCEEDED, "context deadline exceeded".to_owned()),
        (_, "stopped") => (Code::CANCELLED, "grpc: the client connection is closing".to_owned()),
        (FailureDetail::StreamReset(code), _) => {
            let name = RESETS.get(code as usize).copied();
            let name = name.map_or_else(|| code.to_string(), str::to_owned);
            let text = format!("stream terminated by RST_STREAM with error code: {name}");
            (Code::of_reset(code), text)
        }
        _ if reply.sent.is_some() => (Code::UNAVAILABLE, reading(reply)),
        _ => (Code::UNAVAILABLE, connecting(reply)),
    };
    Some(Status::new(code, text))
}

/// Why a channel cannot be connected.
pub(crate) fn dial_text(reply: &EngineResponse<'_>) -> Option<String> {
    let (kind, _) = reply.failure.as_ref()?;
    Some(match *kind {
        "timeout" => "context deadline exceeded".to_owned(),
        _ => connecting(reply),
    })
}

fn reading(reply: &EngineResponse<'_>) -> String {
    let text = failure::plain_text(reply);
    format!("error reading from server: {text}")
}

fn connecting(reply: &EngineResponse<'_>) -> String {
    let text = failure::plain_text(reply);
    let is_dial = text.starts_with("dial ");
    let what = if is_dial { "error while dialing" } else { "authentication handshake failed" };
    format!("connection error: desc = \"transport: {what}: {text}\"")
}

/// The names of the codes of RFC 9113, 7.
const RESETS: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];

#[cfg(test)]
mod tests {
    use stdx::Nanos;

    use super::*;

    #[test]
    fn failures_are_statuses() {
        for (kind, detail, sent, code, text) in [
            ("timeout", FailureDetail::None, true, 4, "context deadline exceeded"),
            (
                "stream-reset",
                FailureDetail::StreamReset(8),
                true,
                1,
                "stream terminated by RST_STREAM with error code: CANCEL",
            ),
            ("eof", FailureDetail::None, true, 14, "error reading from server: EOF"),
            (
                "refused",
                FailureDetail::None,
                false,
                14,
                "connection error: desc = \"transport: error while dialing: dial tcp a: refused\"",
            ),
        ] {
            let words = if kind == "refused" { "dial tcp a: refused" } else { "EOF" };
            let reply = EngineResponse {
                failure: Some((kind, format!("Post \"http://a/\": {words}"))),
                detail,
                sent: sent.then_some(Nanos::ZERO),
                ..EngineResponse::default()
            };
            let status = status_of(&reply).expect("a status");
            assert_eq!((status.code.0, status.message.as_str()), (code, text));
        }
    }
}
