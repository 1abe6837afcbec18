//! MessagePack, read where it lies, and to and from JSON text. Sizes are believed only as far as there are bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::error::CableError;
use super::json::{self, DEPTH_MAX, Scanner};

/// Reads values one after the other.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
}

/// A value's head; the elements of arrays and maps follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Head<'a> {
    Nil,
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    Text(&'a str),
    Binary(&'a [u8]),
    Array(usize),
    /// So many pairs.
    Map(usize),
    /// An extension's type and bytes.
    Extension(i8, &'a [u8]),
}

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The next value's head.
    pub(super) fn head(&mut self) -> Result<Head<'a>, CableError> {
        let first = self.take(1)?[0];
        Ok(match first {
            0x00..=0x7f => Head::Unsigned(first.into()),
            0x80..=0x8f => Head::Map((first & 15).into()),
            0x90..=0x9f => Head::Array((first & 15).into()),
            0xa0..=0xbf => self.text((first & 31).into())?,
            0xc0 => Head::Nil,
            0xc2 => Head::Bool(false),
            0xc3 => Head::Bool(true),
            0xc4..=0xc6 => {
                let len = self.size(first - 0xc4)?;
                Head::Binary(self.take(len)?)
            }
            0xc7..=0xc9 => {
                let len = self.size(first - 0xc7)?;
                self.extension(len)?
            }
            0xca => Head::Float(f32::from_bits(self.number(4)? as u32).into()),
            0xcb => Head::Float(f64::from_bits(self.number(8)?)),
            0xcc..=0xcf => Head::Unsigned(self.number(1 << (first - 0xcc))?),
            0xd0 => Head::Signed((self.number(1)? as i8).into()),
            0xd1 => Head::Signed((self.number(2)? as i16).into()),
            0xd2 => Head::Signed((self.number(4)? as i32).into()),
            0xd3 => Head::Signed(self.number(8)? as i64),
            0xd4..=0xd8 => self.extension(1 << (first - 0xd4))?,
            0xd9..=0xdb => {
                let len = self.size(first - 0xd9)?;
                self.text(len)?
            }
            0xdc | 0xdd => Head::Array(self.size(first - 0xdc + 1)?),
            0xde | 0xdf => Head::Map(self.size(first - 0xde + 1)?),
            0xe0..=0xff => Head::Signed((first as i8).into()),
            0xc1 => return Err(CableError::Msgpack),
        })
    }

    /// A value's bytes, whatever it is.
    pub(super) fn value(&mut self) -> Result<&'a [u8], CableError> {
        let before = self.bytes;
        self.skip(DEPTH_MAX)?;
        Ok(&before[..before.len() - self.bytes.len()])
    }

    fn skip(&mut self, levels: usize) -> Result<(), CableError> {
        let Some(levels) = levels.checked_sub(1) else { return Err(CableError::Depth) };
        let inside = match self.head()? {
            Head::Array(len) => len as u64,
            Head::Map(len) => 2 * len as u64,
            _ => 0,
        };
        (0..inside).try_for_each(|_| self.skip(levels))
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], CableError> {
        let (taken, rest) = self.bytes.split_at_checked(len).ok_or(CableError::Truncated)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn number(&mut self, width: usize) -> Result<u64, CableError> {
        Ok(self.take(width)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// A size of 1, 2 or 4 bytes.
    fn size(&mut self, power: u8) -> Result<usize, CableError> {
        self.number(1 << power).map(|size| size as usize)
    }

    fn text(&mut self, len: usize) -> Result<Head<'a>, CableError> {
        let text = std::str::from_utf8(self.take(len)?);
        text.map(Head::Text).map_err(|_| CableError::Utf8)
    }

    fn extension(&mut self, len: usize) -> Result<Head<'a>, CableError> {
        let kind = self.take(1)?[0] as i8;
        Ok(Head::Extension(kind, self.take(len)?))
    }
}

/// Appends one value as JSON. Bytes become base64, as Go has it; extensions and numbers that JSON lacks become null.
pub(super) fn to_json(
    reader: &mut Reader<'_>,
    levels: usize,
    out: &mut Vec<u8>,
) -> Result<(), CableError> {
    let Some(levels) = levels.checked_sub(1) else { return Err(CableError::Depth) };
    match reader.head()? {
        Head::Nil | Head::Extension(..) => out.extend_from_slice(b"null"),
        Head::Bool(flag) => out.extend_from_slice(if flag { b"true" } else { b"false" }),
        Head::Signed(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Head::Unsigned(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Head::Float(number) if number.is_finite() => {
            out.extend_from_slice(format!("{number:?}").as_bytes());
        }
        Head::Float(_) => out.extend_from_slice(b"null"),
        Head::Text(text) => json::push_string(text, out),
        Head::Binary(bytes) => json::push_string(&STANDARD.encode(bytes), out),
        Head::Array(len) => {
            out.push(b'[');
            for at in 0..len {
                separate(at, out);
                to_json(reader, levels, out)?;
            }
            out.push(b']');
        }
        Head::Map(len) => {
            out.push(b'{');
            for at in 0..len {
                separate(at, out);
                push_key(reader, out)?;
                to_json(reader, levels, out)?;
            }
            out.push(b'}');
        }
    }
    Ok(())
}

fn separate(at: usize, out: &mut Vec<u8>) {
    if at > 0 {
        out.push(b',');
    }
}

/// A map's key: JSON has texts only, so numbers become theirs.
fn push_key(reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<(), CableError> {
    match reader.head()? {
        Head::Text(text) => json::push_string(text, out),
        Head::Signed(number) => json::push_string(&number.to_string(), out),
        Head::Unsigned(number) => json::push_string(&number.to_string(), out),
        _ => return Err(CableError::Msgpack),
    }
    out.push(b':');
    Ok(())
}

/// Appends one JSON value that was checked.
pub(super) fn from_json(scanner: &mut Scanner<'_>, out: &mut Vec<u8>) -> Result<(), CableError> {
    match scanner.peek() {
        Some(b'{') => {
            let (start, mut len) = (out.len(), 0);
            out.push(0);
            scanner.members(&mut |scanner, name| {
                len += 1;
                push_text(&name.decoded(), out);
                from_json(scanner, out)
            })?;
            patch_len(start, len, MAP, out);
        }
        Some(b'[') => {
            let (start, mut len) = (out.len(), 0);
            out.push(0);
            scanner.elements(&mut |scanner| {
                len += 1;
                from_json(scanner, out)
            })?;
            patch_len(start, len, ARRAY, out);
        }
        Some(b'"') => push_text(&scanner.text()?.decoded(), out),
        Some(b'-' | b'0'..=b'9') => push_number(scanner.value()?, out),
        _ => out.push(scanner.flag()?.map_or(0xc0, |flag| if flag { 0xc3 } else { 0xc2 })),
    }
    Ok(())
}

/// The first bytes of a container's heads.
#[derive(Clone, Copy)]
struct Marks {
    /// With the length in its low four bits.
    short: u8,
    /// With a length of two bytes behind it; the next number has four.
    long: u8,
}

const MAP: Marks = Marks { short: 0x80, long: 0xde };
const ARRAY: Marks = Marks { short: 0x90, long: 0xdc };

/// Sets the head of an array or a map, of one byte at `start`, once its length is known.
fn patch_len(start: usize, len: usize, Marks { short, long }: Marks, out: &mut Vec<u8>) {
    match len {
        0..=15 => out[start] = short | len as u8,
        16..=0xffff => {
            out[start] = long;
            out.splice(start + 1..start + 1, (len as u16).to_be_bytes());
        }
        _ => {
            out[start] = long + 1;
            out.splice(start + 1..start + 1, (len as u32).to_be_bytes());
        }
    }
}

fn push_number(text: &str, out: &mut Vec<u8>) {
    match (text.parse::<u64>(), text.parse::<i64>()) {
        (Ok(number), _) => push_unsigned(number, out),
        (_, Ok(number @ -32..)) => out.push(number as u8),
        (_, Ok(number)) => {
            out.push(0xd3);
            out.extend_from_slice(&number.to_be_bytes());
        }
        _ => {
            out.push(0xcb);
            // The grammar was checked; what is too large becomes an infinity.
            out.extend_from_slice(&text.parse::<f64>().unwrap_or(f64::NAN).to_be_bytes());
        }
    }
}

pub(super) fn push_unsigned(number: u64, out: &mut Vec<u8>) {
    let (mark, width) = match number {
        0..=0x7f => return out.push(number as u8),
        0x80..=0xff => (0xcc, 1),
        0x100..=0xffff => (0xcd, 2),
        0x1_0000..=0xffff_ffff => (0xce, 4),
        _ => (0xcf, 8),
    };
    out.push(mark);
    out.extend_from_slice(&number.to_be_bytes()[8 - width..]);
}

pub(super) fn push_text(text: &str, out: &mut Vec<u8>) {
    match text.len() {
        len @ 0..=31 => out.push(0xa0 | len as u8),
        len @ 32..=0xff => out.extend_from_slice(&[0xd9, len as u8]),
        len @ 0x100..=0xffff => {
            out.push(0xda);
            out.extend_from_slice(&(len as u16).to_be_bytes());
        }
        len => {
            out.push(0xdb);
            out.extend_from_slice(&(len as u32).to_be_bytes());
        }
    }
    out.extend_from_slice(text.as_bytes());
}

/// A map's head of at most 15 pairs.
pub(super) fn push_map(pairs: usize, out: &mut Vec<u8>) {
    debug_assert!(pairs < 16, "a message has a dozen members");
    out.push(0x80 | pairs as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(bytes: &[u8]) -> Result<String, CableError> {
        let (mut reader, mut out) = (Reader::new(bytes), Vec::new());
        to_json(&mut reader, DEPTH_MAX, &mut out)?;
        assert!(reader.is_empty(), "something is left of {bytes:x?}");
        Ok(String::from_utf8(out).expect("JSON is UTF-8"))
    }

    #[test]
    fn json_survives_the_way_there_and_back() {
        let many = format!("[{}]", vec!["1"; 70_000].join(","));
        let pairs: Vec<String> = (0..20).map(|i| format!("\"{i}\":{i}")).collect();
        let pairs = format!("{{{}}}", pairs.join(","));
        let long = format!("\"{}\"", "x".repeat(70_000));
        let cases = [
            "null",
            "true",
            "false",
            "0",
            "127",
            "128",
            "256",
            "65536",
            "4294967296",
            "18446744073709551615",
            "-1",
            "-32",
            "-33",
            "-9223372036854775808",
            "1.5",
            "-2.5e-10",
            "\"\"",
            "\"a\\\"\\\\é\"",
            "[]",
            "{}",
            "[[1],{\"a\":[null]}]",
            "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
            &many,
            &pairs,
            &long,
        ];
        for text in cases {
            let mut bytes = Vec::new();
            from_json(&mut Scanner::new(text), &mut bytes).expect(text);
            assert_eq!(json(&bytes).as_deref(), Ok(text));
            assert_eq!(Reader::new(&bytes).value(), Ok(&bytes[..]));
            for cut in 0..bytes.len().min(300) {
                assert_eq!(json(&bytes[..cut]), Err(CableError::Truncated), "{text}");
            }
        }
    }

    #[test]
    fn what_json_lacks() {
        let cases: [(&[u8], &str); 9] = [
            (b"\xc4\x03abc", "\"YWJj\""),
            (b"\xd6\xff\0\0\0\0", "null"),
            (b"\xc7\x01\x05x", "null"),
            (b"\xcb\x7f\xf0\0\0\0\0\0\0", "null"),
            (b"\xca\x3f\xc0\0\0", "1.5"),
            (b"\x82\x01\xa1a\xff\xc0", "{\"1\":\"a\",\"-1\":null}"),
            (b"\xd0\x80", "-128"),
            (b"\xd1\x80\0", "-32768"),
            (b"\xd2\x80\0\0\0", "-2147483648"),
        ];
        for (bytes, text) in cases {
            assert_eq!(json(bytes).as_deref(), Ok(text), "{bytes:x?}");
        }
    }

    #[test]
    fn hostile_bytes_are_refused() {
        let deep = [&[0x91; DEPTH_MAX][..], &[0]].concat();
        let cases: [(&[u8], CableError); 6] = [
            (b"\xc1", CableError::Msgpack),
            (b"\x81\xc0\xc0", CableError::Msgpack),
            (b"\xa1\xff", CableError::Utf8),
            (b"\xdf\xff\xff\xff\xff\x01\x01", CableError::Truncated),
            (b"\xdb\xff\xff\xff\xffx", CableError::Truncated),
            (&deep, CableError::Depth),
        ];
        for (bytes, error) in cases {
            assert_eq!(json(bytes), Err(error), "{bytes:x?}");
        }
        assert_eq!(Reader::new(&[0x91; 1 << 20]).value(), Err(CableError::Depth));
    }
}
