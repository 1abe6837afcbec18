//! What a footer and the pages of a column claim, read before they are decoded: the library reserves memory for what a page's header
//! says it becomes and goes through lists of as many items as they claim, and a few bytes can claim billions. Source: parquet.thrift of the format, in Thrift's compact protocol.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use parquet::errors::ParquetError;

/// What a byte can become: Snappy copies 64 bytes by an element of 3, and other codecs are not built in.
const RATIO_MAX: u64 = 32;
/// What a page may become in any case.
const PAGE_BYTES_MIN: u64 = 1 << 10;
/// Structs and lists within each other; the format has seven.
const DEPTH_MAX: u32 = 16;
/// After the footer: its length and the mark.
const END_BYTES: u64 = 8;

/// The header of a page, as far as memory depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PageHeader {
    /// Bytes once it is decoded.
    decoded: u64,
    /// Bytes in the file, after the header.
    encoded: u64,
    /// Values of a dictionary.
    dictionary: u64,
    /// The encoding of its values; 0, which is plain, of a dictionary.
    encoding: u64,
}

/// Byte arrays whose lengths are a list of differences: DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY. The list says how long it is
/// within the page, compressed, and equal lengths have no bytes: the library would reserve what it says.
const LENGTHS_BY_DELTAS: [u64; 2] = [6, 7];

/// Follows the pages of a column from `start` on, for `len` bytes.
///
/// # Errors
/// A header is malformed, or claims what its bytes cannot become.
pub(super) fn check(file: impl Read + Seek, start: u64, len: u64) -> Result<(), ParquetError> {
    let mut input = PageInput { input: BufReader::new(file), read: 0, items: 0 };
    input.input.seek(SeekFrom::Start(start))?;
    while input.read < len {
        let header = input.page_header()?;
        let left = len.saturating_sub(input.read);
        let decoded_max = header.encoded.saturating_mul(RATIO_MAX).max(PAGE_BYTES_MIN);
        // A value of a dictionary has a byte at least.
        let dictionary_max = header.decoded.max(1);
        let fits = header.encoded <= left
            && header.decoded <= decoded_max
            && header.dictionary <= dictionary_max;
        if !fits {
            return Err(malformed("a page that claims more than its bytes can hold"));
        }
        if LENGTHS_BY_DELTAS.contains(&header.encoding) {
            return Err(malformed("texts whose lengths are encoded by deltas are not read"));
        }
        input.skip(header.encoded)?;
    }
    Ok(())
}

/// Follows the footer of a file.
///
/// # Errors
/// It is malformed, or has lists of more items than bytes.
pub(super) fn check_footer(mut file: impl Read + Seek) -> Result<(), ParquetError> {
    let (start, len) = footer(&mut file)?;
    let mut input = PageInput { input: BufReader::new(file), read: 0, items: len };
    input.input.seek(SeekFrom::Start(start))?;
    input.skip_value(STRUCT, DEPTH_MAX)
}

/// Where the footer begins.
///
/// # Errors
/// It is longer than the file, or cannot be read.
pub(super) fn footer_start(file: impl Read + Seek) -> Result<u64, ParquetError> {
    footer(file).map(|(start, _)| start)
}

/// Where the footer begins, and its bytes.
fn footer(mut file: impl Read + Seek) -> Result<(u64, u64), ParquetError> {
    let end = file.seek(SeekFrom::End(-(END_BYTES as i64)))?;
    let mut len = [0; 4];
    file.read_exact(&mut len)?;
    let len = u64::from(u32::from_le_bytes(len));
    let start = end.checked_sub(len).ok_or_else(|| malformed("a footer longer than the file"))?;
    Ok((start, len))
}

fn malformed(reason: &str) -> ParquetError {
    ParquetError::General(reason.to_owned())
}

/// A column's bytes, counted as they are read.
struct PageInput<R> {
    input: BufReader<R>,
    read: u64,
    /// Items of lists that may still come: each has a byte at least, and a page's header has no list.
    items: u64,
}

impl<R: Read + Seek> PageInput<R> {
    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.input.read_exact(&mut byte)?;
        self.read += 1;
        Ok(byte[0])
    }

    fn skip(&mut self, bytes: u64) -> Result<(), ParquetError> {
        let step = i64::try_from(bytes).map_err(|_| malformed("a length beyond any file"))?;
        self.input.seek_relative(step)?;
        self.read = self.read.saturating_add(bytes);
        Ok(())
    }

    /// An unsigned number of 7 bits a byte.
    fn varint(&mut self) -> Result<u64, ParquetError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(malformed("a number of more than 64 bits"))
    }

    /// A signed number that must not be negative: the sign is its lowest bit.
    fn size(&mut self) -> Result<u64, ParquetError> {
        let value = self.varint()?;
        if value & 1 == 1 { Err(malformed("a negative size")) } else { Ok(value >> 1) }
    }

    fn page_header(&mut self) -> Result<PageHeader, ParquetError> {
        let (mut header, mut last) = (PageHeader::default(), 0);
        while let Some((id, kind)) = self.field(&mut last)? {
            match (id, kind) {
                (2, I32) => header.decoded = self.size()?,
                (3, I32) => header.encoded = self.size()?,
                (5, STRUCT) => header.encoding = self.number_of(2)?,
                (7, STRUCT) => header.dictionary = self.number_of(1)?,
                (8, STRUCT) => header.encoding = self.number_of(4)?,
                _ => self.skip_value(kind, DEPTH_MAX)?,
            }
        }
        Ok(header)
    }

    /// A field of a struct that is read to its end: the values of a dictionary, the encoding of a page.
    fn number_of(&mut self, place: u64) -> Result<u64, ParquetError> {
        let (mut number, mut last) = (0, 0);
        while let Some((id, kind)) = self.field(&mut last)? {
            match (id, kind) {
                (id, I32) if id == place => number = self.size()?,
                _ => self.skip_value(kind, DEPTH_MAX)?,
            }
        }
        Ok(number)
    }

    /// The number and type of a struct's next field, after the one of number `last`; `None` at the struct's end.
    fn field(&mut self, last: &mut u64) -> Result<Option<(u64, u8)>, ParquetError> {
        let byte = self.byte()?;
        let (delta, kind) = (u64::from(byte >> 4), byte & 15);
        if kind == 0 {
            return Ok(None);
        }
        *last = if delta == 0 { self.size()? } else { last.saturating_add(delta) };
        Ok(Some((*last, kind)))
    }

    fn skip_value(&mut self, kind: u8, depth: u32) -> Result<(), ParquetError> {
        let depth = depth.checked_sub(1).ok_or_else(|| malformed("a header that is too deep"))?;
        match kind {
            TRUE | FALSE => Ok(()),
            BYTE => self.skip(1),
            I16 | I32 | I64 => self.varint().map(drop),
            DOUBLE => self.skip(8),
            BINARY => {
                let len = self.varint()?;
                self.skip(len)
            }
            STRUCT => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip_value(kind, depth)?;
                }
                Ok(())
            }
            LIST | SET => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                let left = self.items.checked_sub(count);
                self.items = left.ok_or_else(|| malformed("a list of more items than bytes"))?;
                (0..count).try_for_each(|_| self.skip_value(head & 15, depth))
            }
            _ => Err(malformed("a type that the format has not")),
        }
    }
}

/// Types of the compact protocol; maps, which the format has not, are left out.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const STRUCT: u8 = 12;

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A page of so many bytes that claims to become `decoded`, and to be a dictionary of so many values.
    fn page(encoded: u32, decoded: u32, dictionary: u32) -> Vec<u8> {
        let mut out = vec![0x15, 4];
        for (field, value) in [(0x15, decoded), (0x15, encoded), (0x4c, 0), (0x15, dictionary)] {
            out.push(field);
            if field == 0x15 {
                push(u64::from(value) << 1, &mut out);
            }
        }
        // The encoding, whether it is sorted, the ends of both structs.
        out.extend([0x15, 0, 0x11, 0, 0]);
        out.extend(vec![b'x'; encoded as usize]);
        out
    }

    fn push(mut value: u64, out: &mut Vec<u8>) {
        while value > 0x7f {
            out.push(value as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
    }

    fn is_sound(bytes: &[u8]) -> bool {
        check(Cursor::new(bytes), 0, bytes.len() as u64).is_ok()
    }

    #[test]
    fn pages_that_can_be_are_passed() {
        let two = [page(10, 40, 10), page(100, 3_200, 3_000)].concat();
        assert!(is_sound(&two) && is_sound(&page(1, 1_000, 0)) && is_sound(&[]));
        assert!(!is_sound(&two[..two.len() - 1]), "cut off");
        assert!(!is_sound(&[0x19; 40]) && !is_sound(&[0x1c; 40]), "a list, and too deep");
    }

    mod regression {
        use super::*;

        /// A list of two billion booleans, which have no bytes for the library, took seconds, and a footer can hold many.
        #[test]
        fn issue_19_a_footer_of_long_lists() {
            let footer = |count: u64| {
                // Field 1 is a list of booleans; its count; the struct's end.
                let mut out = b"PAR1".to_vec();
                out.extend([0x19, 0xf1]);
                push(count, &mut out);
                out.push(0);
                let len = out.len() as u32 - 4;
                out.extend(len.to_le_bytes());
                out.extend(b"PAR1");
                check_footer(Cursor::new(out)).is_ok()
            };
            assert!(footer(3) && !footer(5) && !footer(1 << 31) && !footer(u64::MAX));
        }

        /// A list of lengths within a page claimed billions of them in a few bytes, and the library took four bytes for each.
        #[test]
        fn issue_19_lengths_by_deltas_claim_gigabytes() {
            // A page of data in the older and in the newer form: how many values, and their encoding.
            let of = |encoding: u8, is_newer: bool| {
                let (kind, head) = if is_newer { (6, 0x5c) } else { (0, 0x2c) };
                let mut out = vec![0x15, kind, 0x15, 8, 0x15, 8, head, 0x15, 6];
                out.extend(if is_newer { &[0x15, 0, 0x15, 6][..] } else { &[] });
                out.extend([0x15, encoding << 1, 0x15, 0, 0x15, 0, 0, 0]);
                out.extend([b'x'; 4]);
                is_sound(&out)
            };
            for is_newer in [false, true] {
                assert_eq!(
                    [0, 5, 6, 7, 8].map(|encoding| of(encoding, is_newer)),
                    [true, true, false, false, true]
                );
            }
        }

        /// A header of a page claimed gigabytes, for the page or for a dictionary, and the library took them.
        #[test]
        fn issue_19_a_page_claims_gigabytes() {
            assert!(!is_sound(&page(10, 1 << 30, 0)), "decoded");
            assert!(!is_sound(&page(10, 40, 1 << 30)), "a dictionary");
            assert!(!is_sound(&page(10, 40, 0)[..20]), "more than the column has");
        }
    }
}
