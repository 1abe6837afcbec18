//! The messages of `grpc.health.v1.Health`.

use crate::wire::{fields, push_bytes, varint};

/// The path of its method.
pub const CHECK_PATH: &str = "/grpc.health.v1.Health/Check";

/// A request for a service's health; the server's where the name is empty.
#[must_use]
pub fn encode_check(service: &str) -> Vec<u8> {
    let mut message = Vec::new();
    if !service.is_empty() {
        push_bytes(1, service.as_bytes(), &mut message);
    }
    message
}

/// The health that a response says: 1 for serving, 0 where it says nothing; `None` where it is malformed.
#[must_use]
pub fn parse_health(message: &[u8]) -> Option<u32> {
    u32::try_from(varint(&fields(message)?, 1).unwrap_or(0)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn health_is_asked_and_read() {
        assert_eq!(encode_check("a.B"), b"\x0a\x03a.B");
        assert_eq!(encode_check(""), b"");
        assert_eq!(parse_health(b"\x08\x02"), Some(2));
        assert_eq!(parse_health(b""), Some(0));
        assert_eq!(parse_health(b"\xff"), None);
    }
}
