//! Statuses of calls: codes, their names, and what stands for one where the server sent none.

use crate::metadata::{decode_binary, field};

/// The code of a status. Servers may send any number; those from 0 to 16 have names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Code(pub u32);

#[expect(missing_docs, reason = "each is gRPC's code of this name")]
impl Code {
    pub const OK: Self = Self(0);
    pub const CANCELLED: Self = Self(1);
    pub const UNKNOWN: Self = Self(2);
    pub const DEADLINE_EXCEEDED: Self = Self(4);
    pub const PERMISSION_DENIED: Self = Self(7);
    pub const RESOURCE_EXHAUSTED: Self = Self(8);
    pub const UNIMPLEMENTED: Self = Self(12);
    pub const INTERNAL: Self = Self(13);
    pub const UNAVAILABLE: Self = Self(14);
    pub const UNAUTHENTICATED: Self = Self(16);

    /// The names of the codes as Go writes them, in the order of their numbers.
    pub const GO_NAMES: [&'static str; 17] = [
        "OK",
        "Canceled",
        "Unknown",
        "InvalidArgument",
        "DeadlineExceeded",
        "NotFound",
        "AlreadyExists",
        "PermissionDenied",
        "ResourceExhausted",
        "FailedPrecondition",
        "Aborted",
        "OutOfRange",
        "Unimplemented",
        "Internal",
        "Unavailable",
        "DataLoss",
        "Unauthenticated",
    ];

    /// Its name as Go writes it, `NotFound`; `Code(77)` where it has none.
    #[must_use]
    pub fn go_name(self) -> String {
        let known = Self::GO_NAMES.get(self.0 as usize);
        known.map_or_else(|| format!("Code({})", self.0), |name| (*name).to_owned())
    }

    /// The code that stands for an HTTP status of a server, or a proxy, that speaks no gRPC.
    #[must_use]
    pub const fn of_http(status: u16) -> Self {
        match status {
            400 => Self::INTERNAL,
            401 => Self::UNAUTHENTICATED,
            403 => Self::PERMISSION_DENIED,
            404 => Self::UNIMPLEMENTED,
            429 | 502..=504 => Self::UNAVAILABLE,
            _ => Self::UNKNOWN,
        }
    }

    /// The code that stands for a stream of HTTP/2 which the server reset. RFC 9113, 7.
    #[must_use]
    pub const fn of_reset(code: u32) -> Self {
        match code {
            7 => Self::UNAVAILABLE,
            8 => Self::CANCELLED,
            11 => Self::RESOURCE_EXHAUSTED,
            12 => Self::PERMISSION_DENIED,
            _ => Self::INTERNAL,
        }
    }
}

/// How a call ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Its code.
    pub code: Code,
    /// What the server says of it.
    pub message: String,
    /// `google.rpc.Status` as bytes; empty where the server sent none.
    pub details: Vec<u8>,
}

impl Status {
    /// A status without details.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Vec::new() }
    }

    /// The status among header or trailer lines, each ended by CR LF; `None` where there is none.
    #[must_use]
    pub fn of_lines(lines: &[u8]) -> Option<Self> {
        let code = field(lines, "grpc-status")?;
        let Some(code) = std::str::from_utf8(code).ok().and_then(|text| text.parse().ok()) else {
            let shown = String::from_utf8_lossy(code);
            let text = format!("transport: malformed grpc-status: {shown}");
            return Some(Self::new(Code::INTERNAL, text));
        };
        let message = field(lines, "grpc-message").map(percent_decoded).unwrap_or_default();
        let details = field(lines, "grpc-status-details-bin").and_then(decode_binary);
        Some(Self { code: Code(code), message, details: details.unwrap_or_default() })
    }
}

/// A `grpc-message`: what is no escape stays as it is.
fn percent_decoded(value: &[u8]) -> String {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let mut bytes = Vec::with_capacity(value.len());
    let mut at = 0;
    while let Some(byte) = value.get(at) {
        match (digit(value.get(at + 1)), digit(value.get(at + 2))) {
            (Some(high), Some(low)) if *byte == b'%' => {
                bytes.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                bytes.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_read_from_trailers() {
        let lines = b"grpc-status: 5\r\ngrpc-message: %C3%BCn %e2%82%ac 100%25 50%\r\ngrpc-status-details-bin: CAU\r\n";
        let status = Status::of_lines(lines).expect("a status");
        assert_eq!((status.code, status.message.as_str()), (Code(5), "ün € 100% 50%"));
        assert_eq!(status.details, [8, 5]);
        assert_eq!(Status::of_lines(b"x: y\r\n"), None);
        assert_eq!(Status::of_lines(b"grpc-status: x\r\n").map(|s| s.code), Some(Code::INTERNAL));
    }

    #[test]
    fn codes_stand_for_what_is_no_grpc() {
        assert_eq!(Code::of_http(502), Code::UNAVAILABLE);
        assert_eq!(Code::of_http(404), Code::UNIMPLEMENTED);
        assert_eq!(Code::of_http(500), Code::UNKNOWN);
        assert_eq!(Code::of_reset(8), Code::CANCELLED);
        assert_eq!(Code(5).go_name(), "NotFound");
        assert_eq!(Code(17).go_name(), "Code(17)");
    }
}
