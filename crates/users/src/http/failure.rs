//! Failures in k6's words: a number, a few words, and the whole text.

use stdx::OutOfMemory;
use workload::{EngineResponse, FailureDetail};

use crate::host::http::HttpFailure;

/// What went wrong with a request, if anything.
pub(crate) fn of(reply: &EngineResponse<'_>) -> Option<HttpFailure> {
    let (kind, whole) = reply.failure.as_ref()?;
    let text = short(whole);
    let (code, words) = match by_detail(reply.detail) {
        Some(known) => known,
        None => by_kind(kind, text),
    };
    if code == DECODE {
        let text = format!("error decompressing response body ({text})");
        return Some(HttpFailure { code, whole: text.clone(), text });
    }
    let text = words.map_or_else(|| text.to_owned(), str::to_owned);
    // Go says the address that was dialled alone.
    let whole = whole.replacen("0.0.0.0:0->", "", 1);
    Some(HttpFailure { code, text, whole })
}

/// What went wrong, without the request before it, in Go's words.
pub(crate) fn plain_text(reply: &EngineResponse<'_>) -> String {
    let whole = reply.failure.as_ref().map_or("", |(_, whole)| whole);
    short(whole).replacen("0.0.0.0:0->", "", 1)
}

/// k6's number of a body that cannot be decoded.
const DECODE: u16 = 1701;

/// k6's number, and its words where it has some of its own.
type CodeAndText = (u16, Option<&'static str>);

fn by_detail(detail: FailureDetail) -> Option<CodeAndText> {
    Some(match detail {
        FailureDetail::None
        | FailureDetail::Os(_)
        | FailureDetail::BodyTooLong
        | FailureDetail::BodyCut => return None,
        FailureDetail::BrokenPipe => (1201, Some("write: broken pipe")),
        FailureDetail::ForbiddenAddress => (1110, Some("ip is blacklisted")),
        FailureDetail::ForbiddenName => (1111, Some("hostname is blocked")),
        FailureDetail::UnknownAuthority => (1310, Some("x509: unknown authority")),
        FailureDetail::OtherName => (1311, Some("x509: certificate doesn't match hostname")),
        FailureDetail::NotTls => (1301, None),
        FailureDetail::GoAway(code) => (1610 + h2_offset(code), None),
        FailureDetail::StreamReset(code) => (1630 + h2_offset(code), None),
        FailureDetail::BrokenStreams(code) => (1650 + h2_offset(code), None),
    })
}

/// RFC 9113, 7: the codes end with HTTP_1_1_REQUIRED.
fn h2_offset(code: u32) -> u16 {
    if code <= 0xd { 1 + code as u16 } else { 0 }
}

fn by_kind(kind: &str, text: &str) -> CodeAndText {
    match kind {
        "dns" if text.contains("no such host") => (1101, Some("lookup: no such host")),
        "dns" => (1100, None),
        "refused" => (1212, Some("dial: connection refused")),
        "dial" if text.contains("connect:") => (1213, None),
        "dial" | "descriptors" | "ports" => (1210, None),
        "timeout" => (1050, Some("request timeout")),
        "reset" => (1220, Some("read: connection reset by peer")),
        "tls" => (1300, None),
        "decode" => (DECODE, None),
        _ => (1000, None),
    }
}

/// The text without the method and the URL before it.
fn short(whole: &str) -> &str {
    let Some((_, rest)) = whole.split_once(" \"") else { return whole };
    rest.split_once("\": ").map_or(whole, |(_, text)| text)
}

/// A method as Go's texts begin with it.
pub(crate) fn capitalised(method: &str) -> String {
    let mut letters = method.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters.map(|letter| letter.to_ascii_lowercase())).collect()
}

/// Why a response is none whose head has no room; a server can make heads long, and a script keep them.
pub(crate) fn of_long_head() -> HttpFailure {
    let text = format!("the response's head: {OutOfMemory}");
    HttpFailure { code: 1000, whole: text.clone(), text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_k6s_numbers() {
        for (kind, detail, text, code, words) in [
            ("refused", FailureDetail::None, "dial tcp: refused", 1212, "dial: connection refused"),
            ("dns", FailureDetail::None, "lookup h: no such host", 1101, "lookup: no such host"),
            (
                "dns",
                FailureDetail::None,
                "lookup h: server misbehaving",
                1100,
                "lookup h: server misbehaving",
            ),
            (
                "dial",
                FailureDetail::Os(113),
                "dial tcp x: connect: no route",
                1213,
                "dial tcp x: connect: no route",
            ),
            ("dial", FailureDetail::ForbiddenName, "hostname (h)", 1111, "hostname is blocked"),
            ("tls", FailureDetail::UnknownAuthority, "tls", 1310, "x509: unknown authority"),
            ("stream-reset", FailureDetail::StreamReset(2), "x", 1633, "x"),
            ("goaway", FailureDetail::GoAway(99), "x", 1610, "x"),
            ("eof", FailureDetail::None, "EOF", 1000, "EOF"),
        ] {
            let whole = format!("Get \"http://h/\": {text}");
            let reply = EngineResponse {
                failure: Some((kind, whole.clone())),
                detail,
                ..EngineResponse::default()
            };
            let failure = of(&reply).expect("a failure");
            assert_eq!((failure.code, failure.text.as_str()), (code, words), "{kind}");
            assert_eq!(failure.whole, whole);
        }
    }
}
