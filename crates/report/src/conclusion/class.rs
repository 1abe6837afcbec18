//! `Class`: a kind of failed requests, in words, and whose failure it is.

use metrics::{FailureKind, Outcome, Summary};

/// A class of failed requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// No answer, for this reason.
    Failure(FailureKind),
    /// An answer that is no success.
    Status(Outcome),
}

impl Class {
    /// The classes of a run's failures, the most frequent first.
    pub(super) fn all(summary: &Summary) -> Vec<(Self, u64)> {
        let failures = FailureKind::ALL.into_iter().zip(summary.failures).skip(1);
        let failures = failures.map(|(kind, count)| (Self::Failure(kind), count));
        let statuses = summary.outcomes().into_iter();
        let is_refusal = |outcome: Outcome| outcome != Outcome::None && !outcome.is_success();
        let statuses = statuses.filter(|(outcome, _)| is_refusal(*outcome));
        let statuses = statuses.map(|(outcome, count)| (Self::Status(outcome), count));
        let mut all: Vec<_> = failures.chain(statuses).filter(|(_, count)| *count > 0).collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        all
    }

    /// After a number of requests: `timed out`, `got status 503`.
    pub(super) fn words(self) -> String {
        use FailureKind as Kind;
        let text = match self {
            Self::Status(status) => return format!("got status {status}"),
            Self::Failure(Kind::Refused) => "had their connection refused",
            Self::Failure(Kind::Timeout) => "timed out",
            Self::Failure(Kind::Reset) => "had their connection reset",
            Self::Failure(Kind::Eof) => "had their connection closed without an answer",
            Self::Failure(Kind::Truncated) => "had their answer cut off",
            Self::Failure(Kind::Redirects) => "were redirected too often",
            Self::Failure(Kind::TooLarge) => "had an answer that was too large",
            Self::Failure(Kind::Decode) => "had an answer that could not be decoded",
            Self::Failure(Kind::Dns) => "found no address for the host name",
            Self::Failure(Kind::Dial) => "could not connect",
            Self::Failure(Kind::Tls) => "failed in TLS",
            Self::Failure(Kind::Stopped) => "were under way at the end",
            Self::Failure(kind) => return format!("failed ({})", kind.name()),
        };
        text.to_owned()
    }
}

/// Statuses by which a server says that it cannot take a request now (RFC 9110, 15.6.4; RFC 6585, 4), or
/// those of gRPC that mean the same.
pub(super) fn turns_away(class: Class) -> bool {
    matches!(class, Class::Status(answer) if matches!(answer.code(), 429 | 503))
}

/// Whether something of an answer came: a status, redirects without an end, or what could not be read to its end.
pub(super) fn is_answer(class: Class) -> bool {
    use FailureKind::{Assertion, Decode, Redirects, TooLarge, Truncated};
    match class {
        Class::Status(_) => true,
        Class::Failure(kind) => {
            matches!(kind, Assertion | Decode | Redirects | TooLarge | Truncated)
        }
    }
}

/// Whether a failure is the server's, and not for want of something here or since the run was stopped.
pub(super) fn is_servers(class: Class) -> bool {
    use FailureKind::{DescriptorsExhausted, PortsExhausted, Stopped, Target};
    !matches!(class, Class::Failure(DescriptorsExhausted | PortsExhausted | Stopped | Target))
}
