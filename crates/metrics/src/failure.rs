//! `FailureKind`: the closed list of ways a request can fail. A failed request is data, never an `Err`.

/// Why a request failed. The number is what the result stream stores; it is never reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum FailureKind {
    /// It did not fail (whatever its status).
    #[default]
    None = 0,
    /// The name could not be resolved.
    Dns = 1,
    /// The connection was refused.
    Refused = 2,
    /// The connection could not be made for another reason (unreachable, bad address).
    Dial = 3,
    /// No file descriptor was left in this process or system.
    DescriptorsExhausted = 4,
    /// No local port was left.
    PortsExhausted = 5,
    /// The TLS handshake or a TLS record failed.
    Tls = 6,
    /// The proxy refused the tunnel.
    Proxy = 7,
    /// The exchange took longer than `-timeout`.
    Timeout = 8,
    /// The server reset the connection.
    Reset = 9,
    /// The server closed before the response began.
    Eof = 10,
    /// The server closed in the middle of the response.
    Truncated = 11,
    /// What came was not HTTP.
    Malformed = 12,
    /// A limit of ours was passed: endless headers, a decoded body out of all proportion.
    TooLarge = 13,
    /// The body could not be decoded (gzip, deflate, br, zstd).
    Decode = 14,
    /// More redirects than `-redirects` allows.
    Redirects = 15,
    /// The target could not be sent: an unsupported scheme, a relative address.
    Target = 16,
    /// The run was stopped while the request was under way.
    Stopped = 17,
    /// Its connection was closed because of another request on it.
    Abandoned = 18,
    /// The server ended its HTTP/2 stream.
    StreamReset = 19,
    /// The server ended its HTTP/2 connection without having processed it.
    GoAway = 20,
    /// The server refused in a protocol of its own: a subscription was rejected.
    Rejected = 21,
    /// It was answered, and the test that sent it did not accept the answer: an assertion of JMeter's.
    Assertion = 22,
}

impl FailureKind {
    /// Every kind, in the order of its number.
    pub const ALL: [Self; 23] = [
        Self::None,
        Self::Dns,
        Self::Refused,
        Self::Dial,
        Self::DescriptorsExhausted,
        Self::PortsExhausted,
        Self::Tls,
        Self::Proxy,
        Self::Timeout,
        Self::Reset,
        Self::Eof,
        Self::Truncated,
        Self::Malformed,
        Self::TooLarge,
        Self::Decode,
        Self::Redirects,
        Self::Target,
        Self::Stopped,
        Self::Abandoned,
        Self::StreamReset,
        Self::GoAway,
        Self::Rejected,
        Self::Assertion,
    ];

    /// The kind's name in the result stream and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Dns => "dns",
            Self::Refused => "refused",
            Self::Dial => "dial",
            Self::DescriptorsExhausted => "descriptors exhausted",
            Self::PortsExhausted => "ports exhausted",
            Self::Tls => "tls",
            Self::Proxy => "proxy",
            Self::Timeout => "timeout",
            Self::Reset => "reset",
            Self::Eof => "eof",
            Self::Truncated => "truncated",
            Self::Malformed => "malformed",
            Self::TooLarge => "too large",
            Self::Decode => "decode",
            Self::Redirects => "redirects",
            Self::Target => "target",
            Self::Stopped => "stopped",
            Self::Abandoned => "abandoned",
            Self::StreamReset => "stream reset",
            Self::GoAway => "goaway",
            Self::Rejected => "rejected",
            Self::Assertion => "assertion",
        }
    }

    /// Why a request failed, in plain words.
    #[must_use]
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::None => "not failed",
            Self::Dns => "name not resolved",
            Self::Refused => "connection refused",
            Self::Dial => "connection not made",
            Self::DescriptorsExhausted => "no file descriptor left",
            Self::PortsExhausted => "no local port left",
            Self::Tls => "TLS failed",
            Self::Proxy => "refused by the proxy",
            Self::Timeout => "timed out",
            Self::Reset => "connection reset",
            Self::Eof => "closed without an answer",
            Self::Truncated => "closed within the answer",
            Self::Malformed => "answer is not HTTP",
            Self::TooLarge => "answer too large",
            Self::Decode => "answer not decodable",
            Self::Redirects => "too many redirects",
            Self::Target => "request not sendable",
            Self::Stopped => "stopped with the run",
            Self::Abandoned => "closed for another request",
            Self::StreamReset => "HTTP/2 stream reset",
            Self::GoAway => "HTTP/2 connection ended",
            Self::Rejected => "rejected by the server",
            Self::Assertion => "answer not as asserted",
        }
    }

    /// The kind of this number, or `None` where there is no such kind (a newer writer).
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// The kind of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_lead_back() {
        for (number, kind) in FailureKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
            assert_eq!(FailureKind::from_number(number as u8), Some(kind));
            assert_eq!(FailureKind::from_name(kind.name()), Some(kind));
        }
        assert_eq!(FailureKind::from_number(200), None);
    }
}
