//! One frame's header, to and from bytes. RFC 6455, 5.2.

use super::fault::WsError;

/// The longest header in bytes: two, a length of eight, a key of four.
pub(super) const HEADER_MAX: usize = 14;
/// The longest payload of a control frame in bytes. RFC 6455, 5.5.
pub(super) const CONTROL_MAX: usize = 125;

/// What a frame is. RFC 6455, 11.8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opcode {
    Continuation,
    Text,
    Binary,
    Close,
    Ping,
    Pong,
}

impl Opcode {
    const fn parse(bits: u8) -> Result<Self, WsError> {
        Ok(match bits {
            0 => Self::Continuation,
            1 => Self::Text,
            2 => Self::Binary,
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            _ => return Err(WsError::Opcode(bits)),
        })
    }

    const fn bits(self) -> u8 {
        match self {
            Self::Continuation => 0,
            Self::Text => 1,
            Self::Binary => 2,
            Self::Close => 8,
            Self::Ping => 9,
            Self::Pong => 10,
        }
    }

    pub(super) const fn is_control(self) -> bool {
        self.bits() >= 8
    }
}

/// A frame's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) opcode: Opcode,
    /// It is the last frame of its message.
    pub(super) last: bool,
    /// RSV1: the first frame of a compressed message. RFC 7692, 6.
    pub(super) compressed: bool,
    /// The masking key, if it is masked.
    pub(super) key: Option<[u8; 4]>,
    /// The payload's length in bytes, below 2^63.
    pub(super) len: u64,
}

impl Header {
    /// Reads the header at the start of `bytes` and says how long it is; `None` when more bytes are needed. What is wrong
    /// on its own is refused as soon as it is seen; whether the frame may come now is for the session to say.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, WsError> {
        let Some(&first) = bytes.first() else { return Ok(None) };
        let opcode = Opcode::parse(first & 15)?;
        let (last, compressed) = (first & 0x80 != 0, first & 0x40 != 0);
        if first & 0x30 != 0 || (compressed && opcode.is_control()) {
            return Err(WsError::ReservedBits);
        }
        if opcode.is_control() && !last {
            return Err(WsError::ControlFragmented);
        }
        let Some(&second) = bytes.get(1) else { return Ok(None) };
        let Some((len, at)) = parse_len(second & 0x7f, &bytes[2..])? else { return Ok(None) };
        if opcode.is_control() && len > CONTROL_MAX as u64 {
            return Err(WsError::ControlTooLong);
        }
        let masked = second & 0x80 != 0;
        let end = 2 + at + if masked { 4 } else { 0 };
        let Some(key) = bytes.get(2 + at..end) else { return Ok(None) };
        let key = key.try_into().ok();
        Ok(Some((Self { opcode, last, compressed, key, len }, end)))
    }

    /// Appends the header.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let bits = [(self.last, 0x80), (self.compressed, 0x40)];
        let bits = bits.into_iter().filter(|bit| bit.0).fold(0, |all, bit| all | bit.1);
        out.push(bits | self.opcode.bits());
        let mask = if self.key.is_some() { 0x80 } else { 0 };
        match self.len {
            0..=125 => out.push(mask | self.len as u8),
            126..=0xffff => {
                out.push(mask | 126);
                out.extend_from_slice(&(self.len as u16).to_be_bytes());
            }
            _ => {
                out.push(mask | 127);
                out.extend_from_slice(&self.len.to_be_bytes());
            }
        }
        out.extend(self.key.into_iter().flatten());
    }
}

/// The payload's length and how many bytes it took after the second; `bytes` are those after it. The form must be the
/// shortest, and the top bit clear.
fn parse_len(short: u8, bytes: &[u8]) -> Result<Option<(u64, usize)>, WsError> {
    let (width, least) = match short {
        126 => (2, 126),
        127 => (8, 1 << 16),
        _ => return Ok(Some((u64::from(short), 0))),
    };
    let Some(field) = bytes.get(..width) else {
        // The top bit is known at once.
        let top = width == 8 && bytes.first().is_some_and(|byte| byte & 0x80 != 0);
        return if top { Err(WsError::LengthTopBit) } else { Ok(None) };
    };
    let len = field.iter().fold(0, |len, byte| len << 8 | u64::from(*byte));
    if len >> 63 != 0 {
        return Err(WsError::LengthTopBit);
    }
    if len < least { Err(WsError::LengthNotMinimal) } else { Ok(Some((len, width))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_survive_the_way_there_and_back() {
        for len in [0, 1, 125, 126, 127, 0xffff, 0x10000, (1 << 63) - 1] {
            for key in [None, Some([0, 1, 2, 255])] {
                for (last, compressed) in [(true, false), (false, true), (true, true)] {
                    let header = Header { opcode: Opcode::Binary, last, compressed, key, len };
                    let mut bytes = Vec::new();
                    header.encode(&mut bytes);
                    assert!(bytes.len() <= HEADER_MAX);
                    assert_eq!(Header::parse(&bytes), Ok(Some((header, bytes.len()))));
                    for cut in 0..bytes.len() {
                        assert_eq!(Header::parse(&bytes[..cut]), Ok(None), "{header:?} {cut}");
                    }
                }
            }
        }
    }

    #[test]
    fn refused_on_its_own() {
        let cases: [(&[u8], WsError); 13] = [
            // RFC 6455, 5.2: reserved bits and opcodes.
            (b"\xa1", WsError::ReservedBits),
            (b"\x91", WsError::ReservedBits),
            (b"\xc9", WsError::ReservedBits),
            (b"\x83", WsError::Opcode(3)),
            (b"\x87", WsError::Opcode(7)),
            (b"\x8b", WsError::Opcode(11)),
            (b"\x8f", WsError::Opcode(15)),
            // Lengths: the shortest form, and below 2^63.
            (b"\x82\x7e\x00\x7d", WsError::LengthNotMinimal),
            (b"\x82\x7f\x00\x00\x00\x00\x00\x00\xff\xff", WsError::LengthNotMinimal),
            (b"\x82\x7f\x80", WsError::LengthTopBit),
            (b"\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff", WsError::LengthTopBit),
            // RFC 6455, 5.5: control frames are short and whole.
            (b"\x89\x7e\x00\x7e", WsError::ControlTooLong),
            (b"\x09", WsError::ControlFragmented),
        ];
        for (bytes, error) in cases {
            assert_eq!(Header::parse(bytes), Err(error), "{bytes:x?}");
        }
    }
}
