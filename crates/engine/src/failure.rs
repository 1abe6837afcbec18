//! `Failure`: why a hit failed, and the text of it as Vegeta's users know it.

use metrics::FailureKind;
use net::{Address, IoFailure};
use wire::content::ContentError;
use wire::h1::response::DecodeError;
use wire::h2::H2Error;
use wire::tls::{Refusal, TlsError};
use workload::FailureDetail;

/// Why a hit failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    pub(crate) text: String,
    /// The text is preceded by `Get "URL": `, as Go's client does until the response's head has come.
    pub(crate) with_url: bool,
    /// What is known of it beyond its kind.
    pub(crate) detail: FailureDetail,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), with_url: true, detail: FailureDetail::None }
    }

    /// In the middle of a body: Go's client gives the bare text.
    pub(crate) fn in_body(kind: FailureKind, text: impl Into<String>) -> Self {
        Self { with_url: false, ..Self::new(kind, text) }
    }

    /// Connecting failed.
    pub(crate) fn dial(failure: IoFailure, to: Option<&Address>) -> Self {
        let kind = match failure {
            IoFailure::Refused => FailureKind::Refused,
            IoFailure::DescriptorsExhausted => FailureKind::DescriptorsExhausted,
            IoFailure::PortsExhausted => FailureKind::PortsExhausted,
            _ => FailureKind::Dial,
        };
        let call = match failure {
            IoFailure::DescriptorsExhausted => "socket",
            _ => "connect",
        };
        let text = match to {
            Some(Address::Ip(to)) => format!("dial tcp 0.0.0.0:0->{to}: {call}: {failure}"),
            Some(Address::Unix(path)) => format!("dial unix {}: {call}: {failure}", path.display()),
            None => format!("dial tcp: {failure}"),
        };
        Self { detail: detail_of(failure), ..Self::new(kind, text) }
    }

    /// A handshake or a record of TLS failed.
    pub(crate) fn tls(error: &TlsError) -> Self {
        let detail = match error.refusal() {
            Some(Refusal::UnknownAuthority) => FailureDetail::UnknownAuthority,
            Some(Refusal::OtherName) => FailureDetail::OtherName,
            Some(Refusal::NotTls) => FailureDetail::NotTls,
            None => FailureDetail::None,
        };
        Self { detail, ..Self::new(FailureKind::Tls, error.to_string()) }
    }

    /// A read or write failed. Go names the local port too; that makes every text unique, so we do not.
    pub(crate) fn transfer(failure: IoFailure, call: &str) -> Self {
        let kind = match failure {
            IoFailure::Reset | IoFailure::BrokenPipe => FailureKind::Reset,
            IoFailure::TimedOut => FailureKind::Timeout,
            _ => FailureKind::Truncated,
        };
        Self { detail: detail_of(failure), ..Self::new(kind, format!("{call}: {failure}")) }
    }

    pub(crate) fn decode(error: &DecodeError) -> Self {
        let kind = match error {
            DecodeError::Eof => FailureKind::Eof,
            DecodeError::HeadTruncated | DecodeError::Truncated => FailureKind::Truncated,
            error if error.is_too_large() => FailureKind::TooLarge,
            _ => FailureKind::Malformed,
        };
        match error {
            DecodeError::Truncated | DecodeError::Chunk | DecodeError::ChunkTooLarge => {
                Self::in_body(kind, error.to_string())
            }
            _ => Self::new(kind, error.to_string()),
        }
    }

    pub(crate) fn content(error: ContentError) -> Self {
        let kind = match error {
            ContentError::Bomb => FailureKind::TooLarge,
            _ => FailureKind::Decode,
        };
        Self::in_body(kind, error.to_string())
    }

    /// A stream of HTTP/2 failed. Go names its number too; that makes every text unique, so we do not.
    pub(crate) fn stream(error: H2Error) -> Self {
        let kind = match error {
            H2Error::Reset(_) => FailureKind::StreamReset,
            H2Error::GoAway(_) => FailureKind::GoAway,
            H2Error::Protocol(_) => FailureKind::Malformed,
            H2Error::Closed => FailureKind::Eof,
            H2Error::Flood => FailureKind::TooLarge,
        };
        let detail = match error {
            H2Error::Reset(reason) => FailureDetail::StreamReset(reason.into()),
            H2Error::GoAway(reason) => FailureDetail::GoAway(reason.into()),
            H2Error::Protocol(reason) => FailureDetail::BrokenStreams(reason.into()),
            H2Error::Closed | H2Error::Flood => FailureDetail::None,
        };
        Self { detail, ..Self::new(kind, error.to_string()) }
    }

    pub(crate) fn timeout(body_begun: bool) -> Self {
        if body_begun {
            let text = "context deadline exceeded (Client.Timeout or context cancellation while reading body)";
            return Self::in_body(FailureKind::Timeout, text);
        }
        let text = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
        Self::new(FailureKind::Timeout, text)
    }

    /// What another hit's failure means for one that waits on the same connection: the server's end of it is their end
    /// too; what only we closed for is not.
    pub(crate) fn of_others(&self) -> Self {
        match self.kind {
            FailureKind::Stopped | FailureKind::Reset => self.clone(),
            FailureKind::Eof | FailureKind::Truncated => Self::new(FailureKind::Eof, "EOF"),
            _ => {
                let text = "connection closed after the failure of another request on it";
                Self::new(FailureKind::Abandoned, text)
            }
        }
    }

    pub(crate) fn stopped() -> Self {
        Self::new(FailureKind::Stopped, "stopped by a second interrupt")
    }

    /// Its user is there no more.
    pub(crate) fn unwanted() -> Self {
        Self::new(FailureKind::Stopped, "ended with its user")
    }

    /// Appends the whole text: `Get "URL": text`; the text alone where nothing was to be asked for.
    pub(crate) fn write(&self, method: &str, url: &str, out: &mut Vec<u8>) {
        if self.with_url && !(method.is_empty() && url.is_empty()) {
            let mut letters = method.chars();
            let first = letters.next().map_or('G', |c| c.to_ascii_uppercase());
            out.extend_from_slice(first.to_string().as_bytes());
            out.extend_from_slice(letters.as_str().to_ascii_lowercase().as_bytes());
            out.extend_from_slice(b" \"");
            out.extend_from_slice(url.as_bytes());
            out.extend_from_slice(b"\": ");
        }
        out.extend_from_slice(self.text.as_bytes());
    }
}

/// What the system said.
fn detail_of(failure: IoFailure) -> FailureDetail {
    match failure {
        IoFailure::BrokenPipe => FailureDetail::BrokenPipe,
        // ENETUNREACH and EHOSTUNREACH have no number of their own here.
        IoFailure::Unreachable => FailureDetail::Os(113),
        IoFailure::Other(number) => FailureDetail::Os(number),
        _ => FailureDetail::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(failure: &Failure) -> String {
        let mut out = Vec::new();
        failure.write("GET", "http://127.0.0.1:1/", &mut out);
        String::from_utf8(out).expect("texts are UTF-8")
    }

    #[test]
    fn texts_are_those_vegeta_prints() {
        let to = Address::Ip("127.0.0.1:1".parse().expect("an address"));
        assert_eq!(
            text(&Failure::dial(IoFailure::Refused, Some(&to))),
            "Get \"http://127.0.0.1:1/\": dial tcp 0.0.0.0:0->127.0.0.1:1: connect: connection refused"
        );
        assert_eq!(
            text(&Failure::timeout(false)),
            "Get \"http://127.0.0.1:1/\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
        );
        assert_eq!(text(&Failure::decode(&DecodeError::Truncated)), "unexpected EOF");
        assert_eq!(text(&Failure::decode(&DecodeError::Eof)), "Get \"http://127.0.0.1:1/\": EOF");
    }
}
