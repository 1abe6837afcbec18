//! `Failure`: a hit's failure: its kind, its reason, and what a script may ask of it.

use std::borrow::Cow;

use metrics::FailureKind;
use net::{Address, IoFailure};
use wire::content::ContentError;
use wire::h1::response::DecodeError;
use wire::h2::H2Error;
use wire::tls::{Refusal, TlsError};
use workload::FailureDetail;

use crate::failure_reason::{FailedHit, FailureReason};

/// A hit's failure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    pub(crate) reason: FailureReason,
    /// The response's head had come.
    pub(crate) in_body: bool,
    /// What is known of it beyond its kind.
    pub(crate) detail: FailureDetail,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, reason: FailureReason) -> Self {
        Self { kind, reason, in_body: false, detail: FailureDetail::None }
    }

    /// A failure that only this text describes.
    pub(crate) fn other(kind: FailureKind, text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(kind, FailureReason::Other(text.into()))
    }

    /// The server ended the connection where a response was due.
    pub(crate) fn eof() -> Self {
        Self::new(FailureKind::Eof, FailureReason::Response(DecodeError::Eof))
    }

    /// Connecting failed.
    pub(crate) fn dial(failure: IoFailure, to: Option<Address>) -> Self {
        let kind = match failure {
            IoFailure::Refused => FailureKind::Refused,
            IoFailure::DescriptorsExhausted => FailureKind::DescriptorsExhausted,
            IoFailure::PortsExhausted => FailureKind::PortsExhausted,
            _ => FailureKind::Dial,
        };
        let reason = FailureReason::Connect { to, failure };
        Self { detail: detail_of(failure), ..Self::new(kind, reason) }
    }

    /// A handshake or a record of TLS failed.
    pub(crate) fn tls(error: TlsError) -> Self {
        let detail = match error.refusal() {
            Some(Refusal::UnknownAuthority) => FailureDetail::UnknownAuthority,
            Some(Refusal::OtherName) => FailureDetail::OtherName,
            Some(Refusal::NotTls) => FailureDetail::NotTls,
            None => FailureDetail::None,
        };
        Self { detail, ..Self::new(FailureKind::Tls, FailureReason::Tls(error.into())) }
    }

    /// A read failed.
    pub(crate) fn read(failure: IoFailure) -> Self {
        Self::transfer(failure, FailureReason::Read(failure))
    }

    /// A write failed.
    pub(crate) fn write(failure: IoFailure) -> Self {
        Self::transfer(failure, FailureReason::Write(failure))
    }

    fn transfer(failure: IoFailure, reason: FailureReason) -> Self {
        let kind = match failure {
            IoFailure::Reset | IoFailure::BrokenPipe => FailureKind::Reset,
            IoFailure::TimedOut => FailureKind::Timeout,
            _ => FailureKind::Truncated,
        };
        Self { detail: detail_of(failure), ..Self::new(kind, reason) }
    }

    pub(crate) fn decode(error: DecodeError) -> Self {
        let kind = match &error {
            DecodeError::Eof => FailureKind::Eof,
            DecodeError::HeadTruncated | DecodeError::Truncated => FailureKind::Truncated,
            error if error.is_too_large() => FailureKind::TooLarge,
            _ => FailureKind::Malformed,
        };
        let in_body = matches!(
            error,
            DecodeError::Truncated | DecodeError::Chunk | DecodeError::ChunkTooLarge
        );
        Self { in_body, ..Self::new(kind, FailureReason::Response(error)) }
    }

    pub(crate) fn content(error: ContentError) -> Self {
        let kind = match error {
            ContentError::Bomb => FailureKind::TooLarge,
            _ => FailureKind::Decode,
        };
        Self { in_body: true, ..Self::new(kind, FailureReason::Content(error)) }
    }

    /// The body of a response is longer than its request allows.
    pub(crate) fn too_long(max: u64) -> Self {
        let text = format!("the body has more than {max} bytes");
        let detail = FailureDetail::BodyTooLong;
        Self { in_body: true, detail, ..Self::other(FailureKind::TooLarge, text) }
    }

    /// A stream of HTTP/2 failed.
    pub(crate) fn stream(error: H2Error) -> Self {
        let kind = match error {
            H2Error::Reset(_) => FailureKind::StreamReset,
            H2Error::GoAway(_) => FailureKind::GoAway,
            H2Error::Protocol(_) => FailureKind::Malformed,
            H2Error::Closed => FailureKind::Eof,
            H2Error::Flood | H2Error::TooManyInterim => FailureKind::TooLarge,
        };
        let detail = match error {
            H2Error::Reset(reason) => FailureDetail::StreamReset(reason.into()),
            H2Error::GoAway(reason) => FailureDetail::GoAway(reason.into()),
            H2Error::Protocol(reason) => FailureDetail::BrokenStreams(reason.into()),
            H2Error::Closed | H2Error::Flood | H2Error::TooManyInterim => FailureDetail::None,
        };
        Self { detail, ..Self::new(kind, FailureReason::Stream(error)) }
    }

    /// The time for the hit is over; the response's head may have come.
    pub(crate) fn timeout(in_body: bool) -> Self {
        Self { in_body, ..Self::new(FailureKind::Timeout, FailureReason::Timeout) }
    }

    /// What another hit's failure means for one that waits on the same connection: the server's end of it is their end
    /// too; what only we closed for is not.
    pub(crate) fn of_others(&self) -> Self {
        match self.kind {
            FailureKind::Stopped | FailureKind::Reset => self.clone(),
            FailureKind::Eof | FailureKind::Truncated => Self::eof(),
            _ => {
                let text = "connection closed after the failure of another request on it";
                Self::other(FailureKind::Abandoned, text)
            }
        }
    }

    pub(crate) fn stopped() -> Self {
        Self::other(FailureKind::Stopped, "stopped by a second interrupt")
    }

    /// The user that the hit was for has ended.
    pub(crate) fn unwanted() -> Self {
        Self::other(FailureKind::Stopped, "ended with its user")
    }

    /// The failed hit of a request to this URL.
    pub(crate) fn of_request<'a>(&'a self, method: &'a str, url: &'a str) -> FailedHit<'a> {
        FailedHit { method, url, in_body: self.in_body, reason: &self.reason }
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

    #[test]
    fn a_failure_before_the_body_names_its_request() {
        let in_body = |failure: Failure| failure.of_request("GET", "http://h/").in_body;
        assert!(!in_body(Failure::dial(IoFailure::Refused, None)));
        assert!(!in_body(Failure::timeout(false)) && in_body(Failure::timeout(true)));
        assert!(!in_body(Failure::decode(DecodeError::HeadTruncated)) && !in_body(Failure::eof()));
        assert!(in_body(Failure::decode(DecodeError::Truncated)));
        assert!(in_body(Failure::content(ContentError::Gzip)));
    }

    #[test]
    fn the_servers_end_is_the_others_end() {
        assert_eq!(Failure::decode(DecodeError::Truncated).of_others(), Failure::eof());
        let reset = Failure::read(IoFailure::Reset);
        assert_eq!(reset.of_others(), reset);
        assert_eq!(Failure::timeout(true).of_others().kind, FailureKind::Abandoned);
    }
}
