//! As much protocol buffers as AnyCable's messages need: varints and fields with lengths; others are skipped.

use super::error::CableError;

/// One field: its number and what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// A field of fixed width, which none of ours is.
    Other,
}

/// Reads fields one after the other.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The next field; `None` at the end.
    pub(super) fn field(&mut self) -> Result<Option<(u64, Field<'a>)>, CableError> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let field = match tag & 7 {
            0 => Field::Number(self.varint()?),
            1 => self.take(8).map(|_| Field::Other)?,
            2 => {
                let len = usize::try_from(self.varint()?).map_err(|_| CableError::Truncated)?;
                Field::Bytes(self.take(len)?)
            }
            5 => self.take(4).map(|_| Field::Other)?,
            _ => return Err(CableError::Protobuf),
        };
        if tag >> 3 == 0 { Err(CableError::Protobuf) } else { Ok(Some((tag >> 3, field))) }
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], CableError> {
        let (taken, rest) = self.bytes.split_at_checked(len).ok_or(CableError::Truncated)?;
        self.bytes = rest;
        Ok(taken)
    }

    /// Seven bits a byte, the lowest first; ten bytes at most.
    fn varint(&mut self) -> Result<u64, CableError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(CableError::Protobuf)
    }
}

/// A field's text.
pub(super) fn text(bytes: &[u8]) -> Result<&str, CableError> {
    std::str::from_utf8(bytes).map_err(|_| CableError::Utf8)
}

/// Appends a number; nothing for 0, which is what is absent (proto3).
pub(super) fn push_number(field: u8, number: u64, out: &mut Vec<u8>) {
    if number != 0 {
        out.push(field << 3);
        push_varint(number, out);
    }
}

/// Appends bytes; nothing for none.
pub(super) fn push_bytes(field: u8, bytes: &[u8], out: &mut Vec<u8>) {
    if !bytes.is_empty() {
        push_message(field, bytes, out);
    }
}

/// Appends a message, also one of no bytes.
pub(super) fn push_message(field: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(field << 3 | 2);
    push_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn push_varint(mut number: u64, out: &mut Vec<u8>) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_survive_the_way_there_and_back() {
        let mut out = Vec::new();
        for number in [1, 127, 128, 300, u64::MAX] {
            push_number(3, number, &mut out);
        }
        push_number(3, 0, &mut out);
        push_bytes(4, b"abc", &mut out);
        push_bytes(4, b"", &mut out);
        push_message(5, b"", &mut out);
        // Fixed widths are skipped.
        out.extend_from_slice(b"\x31\0\0\0\0\0\0\0\0\x35\0\0\0\0");
        let mut reader = Reader::new(&out);
        let mut found = Vec::new();
        while let Some(field) = reader.field().expect("fields") {
            found.push(field);
        }
        let mut expect: Vec<_> =
            [1, 127, 128, 300, u64::MAX].map(|n| (3, Field::Number(n))).to_vec();
        expect.extend([
            (4, Field::Bytes(b"abc")),
            (5, Field::Bytes(b"")),
            (6, Field::Other),
            (6, Field::Other),
        ]);
        assert_eq!(found, expect);
    }

    #[test]
    fn hostile_bytes_are_refused() {
        let cases: [(&[u8], CableError); 6] = [
            (b"\x08", CableError::Truncated),
            (b"\x12\x05ab", CableError::Truncated),
            (b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", CableError::Truncated),
            (b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", CableError::Protobuf),
            (b"\x0b", CableError::Protobuf),
            (b"\x00\x00", CableError::Protobuf),
        ];
        for (bytes, error) in cases {
            assert_eq!(Reader::new(bytes).field(), Err(error), "{bytes:x?}");
        }
    }
}
