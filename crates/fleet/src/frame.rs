//! Messages as bytes: an envelope that every version reads, then the message in postcard's format.
//!
//! ```text
//! "bf" | protocol u16 LE | length u8 | version of brunt, UTF-8 | postcard
//! ```
//!
//! The envelope never changes, so that a program of another protocol can be named with its version.

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// The version of the messages; it changes with each change of theirs.
pub const PROTOCOL: u16 = 3;

/// The largest message, in bytes: NATS takes 1 MiB by default.
pub const FRAME_MAX: usize = 768 * 1024;

const MAGIC: &[u8; 2] = b"bf";

/// Why bytes are no message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// More bytes than a message may have.
    #[error("a message of {0} bytes, where {FRAME_MAX} is the most")]
    Size(usize),
    /// No message of a fleet.
    #[error("no message of a brunt fleet")]
    Foreign,
    /// A message of another protocol.
    #[error("brunt {version} speaks protocol {protocol}, this is protocol {PROTOCOL}")]
    Protocol {
        /// The sender's protocol.
        protocol: u16,
        /// The sender's version of brunt.
        version: String,
    },
    /// The message is damaged.
    #[error("a damaged message")]
    Damaged,
}

/// Writes a message. `version` is this program's, at most 255 bytes of it.
///
/// # Errors
/// The message is larger than [`FRAME_MAX`].
pub fn encode<T: Serialize>(version: &str, message: &T) -> Result<Vec<u8>, FrameError> {
    let version = &version.as_bytes()[..version.len().min(255)];
    let mut bytes = Vec::with_capacity(64);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&PROTOCOL.to_le_bytes());
    bytes.push(version.len() as u8);
    bytes.extend_from_slice(version);
    let body = postcard::to_allocvec(message).map_err(|_| FrameError::Damaged)?;
    bytes.extend_from_slice(&body);
    if bytes.len() > FRAME_MAX {
        return Err(FrameError::Size(bytes.len()));
    }
    Ok(bytes)
}

/// Reads a message. Memory is bounded by the bytes' length.
///
/// # Errors
/// The bytes are too many, foreign, of another protocol, or damaged; bytes behind the message are damage as well.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FrameError> {
    if bytes.len() > FRAME_MAX {
        return Err(FrameError::Size(bytes.len()));
    }
    let rest = bytes.strip_prefix(MAGIC).ok_or(FrameError::Foreign)?;
    let [low, high, len, rest @ ..] = rest else { return Err(FrameError::Foreign) };
    let (version, body) = rest.split_at_checked(usize::from(*len)).ok_or(FrameError::Foreign)?;
    let protocol = u16::from_le_bytes([*low, *high]);
    if protocol != PROTOCOL {
        let version = String::from_utf8_lossy(version).into_owned();
        return Err(FrameError::Protocol { protocol, version });
    }
    match postcard::take_from_bytes(body) {
        Ok((message, [])) => Ok(message),
        _ => Err(FrameError::Damaged),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::message::{AgentBody, FromAgent, FromCoordinator};
    use crate::{Counts, Delta, Epoch, Seq};
    use stdx::Nanos;

    fn delta() -> FromAgent {
        let counts = Counts { planned: 500, answered: 499, failed: 1, not_sent: 0 };
        let delta = Delta {
            seq: Seq(3),
            from: Nanos(1_000_000_000),
            to: Nanos(2_000_000_000),
            counts,
            totals: counts,
            payload: vec![7; 100],
            payloads_lost: 0,
            last: false,
        };
        FromAgent { epoch: Epoch(u64::MAX), body: AgentBody::Delta(delta) }
    }

    #[test]
    fn a_message_comes_back() {
        let bytes = encode("0.1.0", &delta()).unwrap();
        assert_eq!(decode::<FromAgent>(&bytes), Ok(delta()));
        assert!(bytes.len() < 160, "{} bytes for a payload of 100", bytes.len());
    }

    #[test]
    fn another_protocol_is_named_with_its_version() {
        let mut bytes = encode("0.2.0", &delta()).unwrap();
        bytes[2] = 9;
        let error = decode::<FromAgent>(&bytes).unwrap_err().to_string();
        assert_eq!(error, "brunt 0.2.0 speaks protocol 9, this is protocol 3");
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let bytes = encode("0.1.0", &delta()).unwrap();
        assert_eq!(decode::<FromAgent>(b"GET / HTTP/1.1"), Err(FrameError::Foreign));
        assert_eq!(decode::<FromAgent>(&bytes[..bytes.len() - 1]), Err(FrameError::Damaged));
        let longer = [&bytes[..], b"x"].concat();
        assert_eq!(decode::<FromAgent>(&longer), Err(FrameError::Damaged));
        let large = vec![b'b'; FRAME_MAX + 1];
        assert_eq!(decode::<FromAgent>(&large), Err(FrameError::Size(FRAME_MAX + 1)));
        let mut over = delta();
        if let AgentBody::Delta(delta) = &mut over.body {
            delta.payload = vec![0; FRAME_MAX];
        }
        assert!(matches!(encode("0.1.0", &over), Err(FrameError::Size(_))));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(tail in proptest::collection::vec(any::<u8>(), 0..200)) {
            let bytes = [&b"bf\x02\x00\x00"[..], &tail].concat();
            let _ = (decode::<FromAgent>(&bytes), decode::<FromCoordinator>(&bytes));
        }
    }
}
