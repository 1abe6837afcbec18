//! What JMeter says of a sample, as an outcome, a failure and its words.

use std::borrow::Cow;

use metrics::{FailureKind, Outcome};

/// What a row says of how the sample ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ending<'a> {
    pub(super) code: &'a [u8],
    pub(super) message: &'a [u8],
    /// `None` where the file does not say.
    pub(super) success: Option<bool>,
    pub(super) failure_message: &'a [u8],
}

/// How it ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Judgement<'a> {
    pub(super) outcome: Outcome,
    pub(super) failure: FailureKind,
    pub(super) error: Cow<'a, [u8]>,
}

/// Before the class of an exception, in place of a code.
const NO_CODE: &[u8] = b"Non HTTP response code: ";
/// Before its text, in place of a message.
const NO_MESSAGE: &[u8] = b"Non HTTP response message: ";

/// Judges as JMeter did: a plan may demand more than a status, or less.
pub(super) fn judge<'a>(said: &Ending<'a>) -> Judgement<'a> {
    let answered = status(said.code).map_or(Outcome::None, Outcome::http);
    if said.success.unwrap_or_else(|| answered.is_success()) {
        // JMeter's success stands, whatever the code of its sampler: scripts and other protocols have their own.
        let outcome = if answered.is_success() { answered } else { Outcome::Message };
        let error = Cow::Borrowed(&b""[..]);
        return Judgement { outcome, failure: FailureKind::None, error };
    }
    if let Some(class) = said.code.strip_prefix(NO_CODE) {
        return without_answer(class, said);
    }
    let is_by_status = answered != Outcome::None && !answered.is_success();
    let failure = if is_by_status { FailureKind::None } else { FailureKind::Assertion };
    Judgement { outcome: answered, failure, error: words_of(said) }
}

/// A sample without an answer: an exception in its place.
fn without_answer<'a>(class: &[u8], said: &Ending<'a>) -> Judgement<'a> {
    let text = said.message.strip_prefix(NO_MESSAGE).unwrap_or(said.message);
    let class = String::from_utf8_lossy(class).into_owned();
    let failure = kind_of(&class, &String::from_utf8_lossy(text));
    let mut error = class.into_bytes();
    if !text.is_empty() {
        error.extend_from_slice(b": ");
        error.extend_from_slice(text);
    }
    Judgement { outcome: Outcome::None, failure, error: Cow::Owned(error) }
}

/// Why an assertion failed, or the status line.
fn words_of<'a>(said: &Ending<'a>) -> Cow<'a, [u8]> {
    if !said.failure_message.is_empty() {
        return Cow::Borrowed(said.failure_message);
    }
    match (said.code, said.message) {
        (b"", b"") => Cow::Borrowed(b"failed"),
        (b"", text) | (text, b"") => Cow::Borrowed(text),
        (code, message) => Cow::Owned([code, message].join(&b' ')),
    }
}

fn status(code: &[u8]) -> Option<u16> {
    let digits = code.len() == 3 && code.iter().all(u8::is_ascii_digit);
    digits.then(|| code.iter().fold(0, |sum, byte| sum * 10 + u16::from(byte - b'0')))
}

/// Why it failed, by the exception's class and its text; the first line that fits counts.
fn kind_of(class: &str, text: &str) -> FailureKind {
    const CAUSES: [(&str, FailureKind); 20] = [
        ("timed out", FailureKind::Timeout),
        ("Timeout", FailureKind::Timeout),
        ("Connection refused", FailureKind::Refused),
        ("Connection reset", FailureKind::Reset),
        ("Broken pipe", FailureKind::Reset),
        ("Too many open files", FailureKind::DescriptorsExhausted),
        ("UnknownHost", FailureKind::Dns),
        ("HttpHostConnect", FailureKind::Refused),
        ("NoRouteToHost", FailureKind::Dial),
        ("net.ConnectException", FailureKind::Dial),
        ("net.BindException", FailureKind::PortsExhausted),
        ("net.ssl.", FailureKind::Tls),
        ("CertificateException", FailureKind::Tls),
        ("NoHttpResponse", FailureKind::Eof),
        ("EOFException", FailureKind::Eof),
        ("ConnectionClosed", FailureKind::Truncated),
        ("MalformedURL", FailureKind::Target),
        ("URISyntax", FailureKind::Target),
        ("IllegalArgument", FailureKind::Target),
        ("ClientProtocol", FailureKind::Malformed),
    ];
    let names = |words: &str| text.contains(words) || class.contains(words);
    CAUSES.iter().find(|(words, _)| names(words)).map_or(FailureKind::Dial, |(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jmeters_success_stands() {
        let said = |code: &'static str, success, failure_message: &'static str| Ending {
            code: code.as_bytes(),
            message: b"OK",
            success,
            failure_message: failure_message.as_bytes(),
        };
        let of = |said: Ending<'static>| {
            let Judgement { outcome, failure, error } = judge(&said);
            (outcome, failure, String::from_utf8_lossy(&error).into_owned())
        };
        let none = String::new;
        assert_eq!(
            of(said("200", Some(true), "")),
            (Outcome::Http(200), FailureKind::None, none())
        );
        assert_eq!(of(said("404", Some(true), "")), (Outcome::Message, FailureKind::None, none()));
        assert_eq!(of(said("", Some(true), "")), (Outcome::Message, FailureKind::None, none()));
        let ignored = "Non HTTP response code: java.net.ConnectException";
        assert_eq!(
            of(said(ignored, Some(true), "")),
            (Outcome::Message, FailureKind::None, none())
        );
        let failed = (Outcome::Http(404), FailureKind::None, "404 OK".to_owned());
        assert_eq!(of(said("404", Some(false), "")), failed);
        assert_eq!(of(said("404", None, "")), failed);
        let asserted = (Outcome::Http(200), FailureKind::Assertion, "too slow".to_owned());
        assert_eq!(of(said("200", Some(false), "too slow")), asserted);
    }

    #[test]
    fn exceptions_are_kinds_of_failures() {
        for (class, text, kind) in [
            ("java.net.SocketTimeoutException", "Read timed out", FailureKind::Timeout),
            (
                "org.apache.http.conn.ConnectTimeoutException",
                "Connect to h:1 failed",
                FailureKind::Timeout,
            ),
            (
                "org.apache.http.conn.HttpHostConnectException",
                "Connect to h:1 [h/127.0.0.1] failed: Connection refused",
                FailureKind::Refused,
            ),
            ("java.net.UnknownHostException", "no.such", FailureKind::Dns),
            ("java.net.SocketException", "Connection reset", FailureKind::Reset),
            ("javax.net.ssl.SSLHandshakeException", "Received fatal alert", FailureKind::Tls),
            ("org.apache.http.NoHttpResponseException", "h:1 failed to respond", FailureKind::Eof),
            ("java.net.URISyntaxException", "Illegal character", FailureKind::Target),
            ("com.example.Odd", "", FailureKind::Dial),
        ] {
            assert_eq!(kind_of(class, text), kind, "{class}");
        }
    }
}
