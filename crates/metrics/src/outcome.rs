//! `Outcome`: the answer a hit got, and whether that is success. `GrpcStatus`: the statuses of gRPC, in their only table.

use std::fmt;

/// The answer to a hit. Whether one also failed on the way is [`Sample::failure`](crate::Sample::failure).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// None, or none that counts: the hit failed.
    #[default]
    None,
    /// A response with this status of HTTP; never 0.
    Http(u16),
    /// A call that ended with this status of gRPC.
    Grpc(GrpcStatus),
    /// A message's way there and back, which has no status.
    Message,
}

impl Outcome {
    /// That of a response of HTTP; 0 stands for no response.
    #[must_use]
    pub const fn http(status: u16) -> Self {
        if status == 0 { Self::None } else { Self::Http(status) }
    }

    /// Success: a status of HTTP in 200..400, as Vegeta counts it, or 101, which switches protocols as requested; OK of gRPC; any
    /// message that came back.
    #[must_use]
    pub const fn is_success(self) -> bool {
        match self {
            Self::None => false,
            Self::Http(status) => matches!(status, 101 | 200..400),
            Self::Grpc(status) => status.0 == GrpcStatus::OK.0,
            Self::Message => true,
        }
    }

    /// The status of HTTP, or the one that means the same, for forms that have no other; 0 for none. Success has one of
    /// 101 and 200..400, and nothing else has.
    #[must_use]
    pub const fn code(self) -> u16 {
        match self {
            Self::None => 0,
            Self::Http(status) => status,
            Self::Grpc(status) => status.http_status(),
            Self::Message => 200,
        }
    }

    /// Its number beside the code in a row of results: 0 where the code is the status itself.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::None | Self::Http(_) => 0,
            Self::Message => NUMBER_OF_MESSAGES,
            Self::Grpc(status) => NUMBER_OF_GRPC + status.0,
        }
    }

    /// The outcome of a row with this number and this code. Where the number is of a newer version the code stands alone.
    #[must_use]
    pub fn from_numbers(number: u8, code: u16) -> Self {
        let grpc = number.checked_sub(NUMBER_OF_GRPC).map(u32::from);
        match (number, grpc) {
            (NUMBER_OF_MESSAGES, _) => Self::Message,
            (_, Some(status)) if status < GrpcStatus::ALL => {
                Self::Grpc(GrpcStatus::from_number(status))
            }
            _ => Self::http(code),
        }
    }
}

/// `200`, `UNAVAILABLE`, `message`; `0` for none.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("0"),
            Self::Http(status) => write!(f, "{status}"),
            Self::Grpc(status) => f.write_str(status.name()),
            Self::Message => f.write_str("message"),
        }
    }
}

/// The numbers of outcomes in results; never given to another.
const NUMBER_OF_MESSAGES: u8 = 1;
const NUMBER_OF_GRPC: u8 = 100;

/// A status of gRPC, 0 to 16. Source: "Status codes and their use in gRPC".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GrpcStatus(u8);

impl GrpcStatus {
    /// The call succeeded.
    pub const OK: Self = Self(0);
    /// The status of what is none of the others.
    pub const UNKNOWN: Self = Self(2);
    /// How many there are.
    pub const ALL: u32 = STATUSES.len() as u32;

    /// The status of this number; of one that gRPC does not define it is UNKNOWN, as its clients have it.
    #[must_use]
    pub fn from_number(number: u32) -> Self {
        if number < Self::ALL { Self(number as u8) } else { Self::UNKNOWN }
    }

    /// The status of this name, in capitals.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        STATUSES.iter().position(|(known, _)| *known == name).map(|number| Self(number as u8))
    }

    /// Its number, 0 to 16.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Its name, in capitals.
    #[must_use]
    pub const fn name(self) -> &'static str {
        STATUSES[self.0 as usize].0
    }

    /// The status of HTTP that means the same.
    #[must_use]
    pub const fn http_status(self) -> u16 {
        STATUSES[self.0 as usize].1
    }
}

/// By number: the name, and the status of HTTP that means the same. Source: google/rpc/code.proto.
const STATUSES: [(&str, u16); 17] = [
    ("OK", 200),
    ("CANCELLED", 499),
    ("UNKNOWN", 500),
    ("INVALID_ARGUMENT", 400),
    ("DEADLINE_EXCEEDED", 504),
    ("NOT_FOUND", 404),
    ("ALREADY_EXISTS", 409),
    ("PERMISSION_DENIED", 403),
    ("RESOURCE_EXHAUSTED", 429),
    ("FAILED_PRECONDITION", 400),
    ("ABORTED", 409),
    ("OUT_OF_RANGE", 400),
    ("UNIMPLEMENTED", 501),
    ("INTERNAL", 500),
    ("UNAVAILABLE", 503),
    ("DATA_LOSS", 500),
    ("UNAUTHENTICATED", 401),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = Outcome> {
        let http = (0..1000).map(Outcome::http);
        let grpc = (0..GrpcStatus::ALL).map(|n| Outcome::Grpc(GrpcStatus::from_number(n)));
        http.chain(grpc).chain([Outcome::Message])
    }

    #[test]
    fn the_code_alone_has_success_right() {
        for outcome in all() {
            let by_code = Outcome::http(outcome.code());
            assert_eq!(outcome.is_success(), by_code.is_success(), "{outcome}");
        }
        let unavailable = GrpcStatus::from_name("UNAVAILABLE").unwrap();
        assert_eq!((unavailable.number(), unavailable.http_status()), (14, 503));
        assert!(!Outcome::Grpc(unavailable).is_success());
        assert_eq!(GrpcStatus::from_number(99), GrpcStatus::UNKNOWN);
        assert_eq!(GrpcStatus::from_number(16).name(), "UNAUTHENTICATED");
    }

    #[test]
    fn numbers_bring_every_outcome_back() {
        for outcome in all() {
            assert_eq!(Outcome::from_numbers(outcome.number(), outcome.code()), outcome);
        }
        for newer in [2, 99, 117, 255] {
            assert_eq!(Outcome::from_numbers(newer, 503), Outcome::Http(503), "{newer}");
        }
    }
}
