//! Go's words for failures: rows say why a hit failed as Go's HTTP client does, for the users of Vegeta, hey and k6 who know its
//! texts and search results for them. What is not in these tables has the same words in Go.

use std::borrow::Cow;
use std::io::Write;

use engine::{FailedHit, FailureReason, FailureText};
use net::{Address, IoFailure};
use wire::content::ContentError;
use wire::h1::response::DecodeError;
use wire::h2::H2Error;
use wire::tls::TlsSetupError;
use wire::url::UrlError;

/// The text of a failed hit as Go's client has it: `Get "URL": reason` until the response's head has come, then the reason alone.
pub const FAILURE_TEXT: FailureText = FailureText(failure_text);

fn failure_text(hit: &FailedHit<'_>, out: &mut Vec<u8>) {
    let FailedHit { method, url, in_body, reason } = *hit;
    let was_asked = !method.is_empty() || !url.is_empty();
    if was_asked && !in_body {
        let mut letters = method.chars();
        let first = letters.next().map_or('G', |letter| letter.to_ascii_uppercase());
        let rest = letters.as_str().to_ascii_lowercase();
        append(out, format_args!("{first}{rest} \"{url}\": "));
    }
    write_reason(reason, in_body, out);
}

/// Why a text is not a URL that can be asked.
#[must_use]
pub fn url(error: &UrlError) -> Cow<'static, str> {
    match error {
        UrlError::NoHost => "http: no Host in request URL".into(),
        UrlError::Control => "net/url: invalid control character in URL".into(),
        error => error.to_string().into(),
    }
}

/// The text of a certificate or key that cannot be used.
#[must_use]
pub fn tls_setup(error: &TlsSetupError) -> String {
    format!("tls: {error}")
}

fn write_reason(reason: &FailureReason, in_body: bool, out: &mut Vec<u8>) {
    use FailureReason as R;
    match reason {
        R::Lookup(_) | R::NoAddress | R::Connect { to: None, .. } => dial(reason, out),
        // The local address is not known yet. Go has the port of each attempt, which would make every text unique.
        R::Connect { to: Some(Address::Ip(to)), failure } => {
            append(out, format_args!("dial tcp 0.0.0.0:0->{to}: {}: {failure}", call(*failure)));
        }
        R::Connect { to: Some(Address::Unix(path)), failure } => {
            let (path, call) = (path.display(), call(*failure));
            append(out, format_args!("dial unix {path}: {call}: {failure}"));
        }
        R::TlsSetup(error) => append(out, format_args!("tls: {error}")),
        R::Tls(error) => append(out, format_args!("tls: {error}")),
        R::Url(error) => append(out, format_args!("{}", url(error))),
        R::Request(error) => append(out, format_args!("net/http: {error}")),
        R::Response(error) => append(out, format_args!("{}", response(error))),
        R::Content(ContentError::Deflate) => append(out, format_args!("flate: corrupt input")),
        R::Content(ContentError::Truncated) => append(out, format_args!("unexpected EOF")),
        R::Stream(error @ H2Error::Reset(_)) => append(out, format_args!("{error}")),
        R::Stream(error) => append(out, format_args!("http2: {error}")),
        R::Timeout if in_body => append(
            out,
            format_args!(
                "context deadline exceeded (Client.Timeout or context cancellation while reading body)"
            ),
        ),
        R::Timeout => append(
            out,
            format_args!(
                "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
            ),
        ),
        R::Read(_) | R::Write(_) | R::Content(_) | R::Redirects(_) | R::Other(_) => {
            append(out, format_args!("{reason}"));
        }
    }
}

fn dial(reason: &FailureReason, out: &mut Vec<u8>) {
    match reason {
        FailureReason::Connect { failure, .. } => append(out, format_args!("dial tcp: {failure}")),
        reason => append(out, format_args!("dial tcp: {reason}")),
    }
}

/// The system call that failed.
const fn call(failure: IoFailure) -> &'static str {
    match failure {
        IoFailure::DescriptorsExhausted => "socket",
        _ => "connect",
    }
}

/// Why bytes are not a response.
fn response(error: &DecodeError) -> Cow<'static, str> {
    const BROKEN: &str = "net/http: HTTP/1.x transport connection broken";
    match error {
        DecodeError::Eof => "EOF".into(),
        DecodeError::HeadTruncated => format!("{BROKEN}: unexpected EOF").into(),
        DecodeError::Truncated => "unexpected EOF".into(),
        DecodeError::Malformed(_) => format!("{BROKEN}: {error}").into(),
        DecodeError::MalformedField => format!("{BROKEN}: malformed MIME header line").into(),
        DecodeError::HeadTooLarge(bytes) => {
            format!("net/http: server response headers exceeded {bytes} bytes; aborted").into()
        }
        DecodeError::TooManyHeaders(fields) => {
            format!("net/http: server response exceeded {fields} header fields; aborted").into()
        }
        DecodeError::TooManyInterim => "net/http: too many 1xx informational responses".into(),
        DecodeError::ChunkTooLarge => format!("http: {error}").into(),
        DecodeError::ContentLength
        | DecodeError::TransferEncoding
        | DecodeError::Chunk
        | DecodeError::Unsolicited => error.to_string().into(),
    }
}

fn append(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("memory takes what is written");
}

#[cfg(test)]
mod tests {
    use wire::h1::request::RequestError;
    use wire::tls::TlsError;

    use super::*;

    #[track_caller]
    fn check(reason: &FailureReason, in_body: bool, expect: &str) {
        let mut out = Vec::new();
        let hit = FailedHit { method: "GET", url: "http://h/", in_body, reason };
        failure_text(&hit, &mut out);
        assert_eq!(String::from_utf8_lossy(&out), expect);
    }

    /// The text until the response's head has come, without the request that stands before it.
    #[track_caller]
    fn check_before_body(reason: &FailureReason, expect: &str) {
        check(reason, false, &format!("Get \"http://h/\": {expect}"));
    }

    #[test]
    fn what_keeps_a_connection_from_being_made() {
        use FailureReason as R;
        let to = || Some(Address::Ip("127.0.0.1:1".parse().expect("an address")));
        let unix = || Some(Address::Unix("/s".into()));
        let refused = IoFailure::Refused;
        for (reason, expect) in [
            (R::Lookup("lookup h: no such host".into()), "dial tcp: lookup h: no such host"),
            (R::NoAddress, "dial tcp: no address to connect to"),
            (R::Connect { to: None, failure: refused }, "dial tcp: connection refused"),
            (
                R::Connect { to: to(), failure: refused },
                "dial tcp 0.0.0.0:0->127.0.0.1:1: connect: connection refused",
            ),
            (
                R::Connect { to: to(), failure: IoFailure::DescriptorsExhausted },
                "dial tcp 0.0.0.0:0->127.0.0.1:1: socket: too many open files",
            ),
            (
                R::Connect { to: unix(), failure: refused },
                "dial unix /s: connect: connection refused",
            ),
            (R::Tls(TlsError::RecordTooLarge.into()), "tls: oversized record received"),
            (
                R::TlsSetup(TlsSetupError::NoKey.into()),
                "tls: failed to find any PEM private key in the input",
            ),
        ] {
            check_before_body(&reason, expect);
        }
    }

    #[test]
    fn what_ends_an_exchange() {
        use FailureReason as R;
        const TIMEOUT: &str =
            "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
        const GOAWAY: &str =
            "http2: server sent GOAWAY and closed the connection; ErrCode=NO_ERROR";
        for (reason, expect) in [
            (R::Read(IoFailure::Reset), "read: connection reset by peer"),
            (R::Write(IoFailure::BrokenPipe), "write: broken pipe"),
            (R::Request(RequestError::Method("A B".into())), "net/http: invalid method \"A B\""),
            (
                R::Request(RequestError::FieldValue("X".into())),
                "net/http: invalid header field value for \"X\"",
            ),
            (R::Stream(H2Error::Reset(8.into())), "stream error: CANCEL; received from peer"),
            (R::Stream(H2Error::GoAway(0.into())), GOAWAY),
            (R::Stream(H2Error::Protocol(1.into())), "http2: PROTOCOL_ERROR"),
            (R::Stream(H2Error::Closed), "http2: connection closed"),
            (R::Stream(H2Error::TooManyInterim), "http2: too many 1xx informational responses"),
            (R::Timeout, TIMEOUT),
            (R::Url(UrlError::NoHost), "http: no Host in request URL"),
            (R::Url(UrlError::Control), "net/url: invalid control character in URL"),
            (R::Url(UrlError::Port("x".into())), "invalid port \":x\" after host"),
            (R::Redirects(10), "stopped after 10 redirects"),
        ] {
            check_before_body(&reason, expect);
        }
    }

    #[test]
    fn what_is_no_response() {
        const BROKEN: &str = "net/http: HTTP/1.x transport connection broken";
        let malformed = DecodeError::Malformed(b"SSH-2.0-\"x\"".as_slice().into());
        for (error, expect) in [
            (DecodeError::Eof, "EOF"),
            (DecodeError::HeadTruncated, &format!("{BROKEN}: unexpected EOF")),
            (malformed, &format!("{BROKEN}: malformed HTTP response \"SSH-2.0-\\\"x\\\"\"")),
            (DecodeError::MalformedField, &format!("{BROKEN}: malformed MIME header line")),
            (
                DecodeError::HeadTooLarge(9),
                "net/http: server response headers exceeded 9 bytes; aborted",
            ),
            (
                DecodeError::TooManyHeaders(9),
                "net/http: server response exceeded 9 header fields; aborted",
            ),
            (DecodeError::TooManyInterim, "net/http: too many 1xx informational responses"),
            (DecodeError::ContentLength, "bad Content-Length"),
            (DecodeError::TransferEncoding, "unsupported transfer encoding"),
            (DecodeError::Unsolicited, "unsolicited response"),
        ] {
            check_before_body(&FailureReason::Response(error), expect);
        }
    }

    #[test]
    fn what_ends_a_body_stands_alone() {
        use FailureReason as R;
        const TIMEOUT: &str =
            "context deadline exceeded (Client.Timeout or context cancellation while reading body)";
        for (reason, expect) in [
            (R::Response(DecodeError::Truncated), "unexpected EOF"),
            (R::Response(DecodeError::Chunk), "malformed chunked encoding"),
            (R::Response(DecodeError::ChunkTooLarge), "http: trailer or chunk header too large"),
            (R::Content(ContentError::Truncated), "unexpected EOF"),
            (R::Content(ContentError::Gzip), "gzip: invalid data"),
            (R::Content(ContentError::Deflate), "flate: corrupt input"),
            (R::Content(ContentError::Unsupported), "unsupported content encoding"),
            (R::Timeout, TIMEOUT),
        ] {
            check(&reason, true, expect);
        }
    }

    #[test]
    fn where_nothing_was_asked_the_reason_stands_alone() {
        let reason = FailureReason::Other("no target".into());
        let mut out = Vec::new();
        failure_text(&FailedHit { method: "", url: "", in_body: false, reason: &reason }, &mut out);
        assert_eq!(out, b"no target");
    }
}
