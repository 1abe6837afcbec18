//! Messages in the bodies of requests and responses: a flag, a length and so many bytes, one after the other.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;

/// The bytes of a message that a client takes at most, where nothing else is said: 4 MiB, as in grpc-go.
pub const RECEIVE_MAX: usize = 4 << 20;

/// The flag and the length before a message.
const PREFIX_BYTES: usize = 5;

/// Why the body of a response cannot be taken apart.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// A message is longer than the limit.
    #[error("grpc: received message larger than max ({bytes} vs. {max})")]
    TooLarge {
        /// Its length.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// A message would become longer than the limit.
    #[error("grpc: received message after decompression larger than max {max}")]
    Bomb {
        /// The limit.
        max: usize,
    },
    /// The first byte of a message is neither 0 nor 1.
    #[error("grpc: received unexpected payload format {0}")]
    Flag(u8),
    /// A message is compressed, and the header fields name no coding.
    #[error("grpc: compressed flag set with identity or empty encoding")]
    Unnamed,
    /// A message is compressed with something else than gzip.
    #[error("grpc: Decompressor is not installed for grpc-encoding {0:?}")]
    Coding(String),
    /// A compressed message is no gzip.
    #[error("grpc: failed to decompress the received message: {0}")]
    Gzip(String),
    /// The body ended in the middle of a message.
    #[error("unexpected EOF")]
    Truncated,
}

/// Adds a message to a body, uncompressed.
pub fn encode_frame(message: &[u8], into: &mut Vec<u8>) {
    into.push(0);
    let len = u32::try_from(message.len()).expect("a message is shorter than 4 GiB");
    into.extend_from_slice(&len.to_be_bytes());
    into.extend_from_slice(message);
}

/// A body of our own with each of its messages in gzip; what is no whole message stays as it is.
#[must_use]
pub fn compress_frames(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = body;
    while let Some((&[0, a, b, c, d], after)) = rest.split_first_chunk::<PREFIX_BYTES>() {
        let Some(message) = after.get(..u32::from_be_bytes([a, b, c, d]) as usize) else { break };
        let start = out.len();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        let packed = encoder.write_all(message).and_then(|()| encoder.finish());
        encode_frame(&packed.expect("a Vec takes every byte"), &mut out);
        out[start] = 1;
        rest = &after[message.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// Takes a body apart into its messages.
#[derive(Clone, Debug)]
pub struct Deframer {
    held: Vec<u8>,
    /// Bytes of `held` that were taken already.
    taken: usize,
    max: usize,
    coding: Option<String>,
}

impl Deframer {
    /// Of a body whose messages have at most `max` bytes, and are compressed with `coding` (`grpc-encoding`) where they are.
    #[must_use]
    pub fn new(max: usize, coding: Option<&str>) -> Self {
        let coding = coding.filter(|coding| !coding.is_empty() && *coding != "identity");
        Self { held: Vec::new(), taken: 0, max, coding: coding.map(str::to_owned) }
    }

    /// Takes bytes of the body, from any split of it.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.taken == self.held.len() {
            self.held.clear();
            self.taken = 0;
        } else if self.taken > 0 {
            self.held.drain(..self.taken);
            self.taken = 0;
        }
        self.held.extend_from_slice(bytes);
    }

    /// The next message that is whole; `None` where more bytes are needed.
    ///
    /// # Errors
    /// The body cannot be taken apart: the call has failed, and nothing follows. A message over the limit is seen by its length,
    /// before its bytes have come.
    pub fn next_message(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        let rest = &self.held[self.taken..];
        let Some((prefix, body)) = rest.split_at_checked(PREFIX_BYTES) else { return Ok(None) };
        let flag = prefix[0];
        if flag > 1 {
            return Err(FrameError::Flag(flag));
        }
        let bytes = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]) as usize;
        if bytes > self.max {
            return Err(FrameError::TooLarge { bytes, max: self.max });
        }
        let Some(message) = body.get(..bytes) else { return Ok(None) };
        let message = match (flag, &self.coding) {
            (0, _) => message.to_vec(),
            (_, None) => return Err(FrameError::Unnamed),
            (_, Some(coding)) if coding == "gzip" => inflated(message, self.max)?,
            (_, Some(coding)) => return Err(FrameError::Coding(coding.clone())),
        };
        self.taken += PREFIX_BYTES + bytes;
        Ok(Some(message))
    }

    /// The bytes that are held of messages that are not whole.
    #[must_use]
    pub fn bytes_held(&self) -> usize {
        self.held.capacity()
    }

    /// The body has ended.
    ///
    /// # Errors
    /// In the middle of a message.
    pub fn finish(&self) -> Result<(), FrameError> {
        if self.taken == self.held.len() { Ok(()) } else { Err(FrameError::Truncated) }
    }
}

/// A message unpacked, as long as it has at most `max` bytes.
fn inflated(message: &[u8], max: usize) -> Result<Vec<u8>, FrameError> {
    let mut whole = Vec::new();
    // One byte more shows that there is more.
    let most = (max as u64).saturating_add(1);
    let mut reader = flate2::read::GzDecoder::new(message).take(most);
    reader.read_to_end(&mut whole).map_err(|error| FrameError::Gzip(error.to_string()))?;
    if whole.len() > max {
        return Err(FrameError::Bomb { max });
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).expect("memory");
        let packed = encoder.finish().expect("memory");
        let mut framed = vec![1];
        framed.extend_from_slice(&(packed.len() as u32).to_be_bytes());
        framed.extend_from_slice(&packed);
        framed
    }

    #[test]
    fn compressed_messages_can_be_read_again() {
        let mut body = Vec::new();
        [&b"abc"[..], b"", &[7; 5000]].iter().for_each(|message| encode_frame(message, &mut body));
        let packed = compress_frames(&body);
        assert!(packed.len() < 200, "{}", packed.len());
        let mut deframer = Deframer::new(6000, Some("gzip"));
        deframer.push(&packed);
        assert_eq!(deframer.next_message(), Ok(Some(b"abc".to_vec())));
        assert_eq!(deframer.next_message(), Ok(Some(Vec::new())));
        assert_eq!(deframer.next_message(), Ok(Some(vec![7; 5000])));
        assert_eq!(deframer.next_message(), Ok(None));
        assert_eq!(compress_frames(b"\0\0\0\0\x05ab"), b"\0\0\0\0\x05ab");
    }

    #[test]
    fn messages_come_out_of_any_split() {
        let mut body = Vec::new();
        encode_frame(b"one", &mut body);
        encode_frame(b"", &mut body);
        body.extend(packed(b"three"));
        assert_eq!(&body[..8], b"\0\0\0\0\x03one");
        for size in 1..body.len() {
            let mut deframer = Deframer::new(100, Some("gzip"));
            let mut messages = Vec::new();
            for part in body.chunks(size) {
                deframer.push(part);
                while let Some(message) = deframer.next_message().expect("whole messages") {
                    messages.push(message);
                }
            }
            assert_eq!(messages, [&b"one"[..], b"", b"three"], "{size}");
            assert_eq!(deframer.finish(), Ok(()));
        }
    }

    #[test]
    fn hostile_bodies_are_refused_before_they_take_memory() {
        let check = |body: &[u8], coding: Option<&str>, expect: FrameError| {
            let mut deframer = Deframer::new(100, coding);
            deframer.push(body);
            assert_eq!(deframer.next_message(), Err(expect));
        };
        check(
            &[0, 0xff, 0xff, 0xff, 0xff],
            None,
            FrameError::TooLarge { bytes: 0xffff_ffff, max: 100 },
        );
        check(&[2, 0, 0, 0, 0], None, FrameError::Flag(2));
        check(&packed(b"x"), None, FrameError::Unnamed);
        let bomb = packed(&[0; 100_000]);
        let mut deframer = Deframer::new(1000, Some("gzip"));
        deframer.push(&bomb);
        assert_eq!(deframer.next_message(), Err(FrameError::Bomb { max: 1000 }));
        check(&[1, 0, 0, 0, 1, 7], Some("zstd"), FrameError::Coding("zstd".to_owned()));
        let mut deframer = Deframer::new(10, None);
        deframer.push(&[0, 0, 0, 0, 2, 1]);
        assert_eq!(deframer.next_message(), Ok(None));
        assert_eq!(deframer.finish(), Err(FrameError::Truncated));
    }
}
