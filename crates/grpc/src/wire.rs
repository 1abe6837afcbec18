//! The few messages of gRPC's own services, field by field.

use prost_reflect::prost::bytes::Buf as _;
use prost_reflect::prost::encoding::{
    WireType, decode_key, decode_varint, encode_key, encode_varint,
};

/// A field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
}

/// Adds a field of bytes.
pub(crate) fn push_bytes(number: u32, bytes: &[u8], into: &mut Vec<u8>) {
    encode_key(number, WireType::LengthDelimited, into);
    encode_varint(bytes.len() as u64, into);
    into.extend_from_slice(bytes);
}

/// The fields of a message; `None` where it is malformed, or has fields of kinds that these services lack.
pub(crate) fn fields(mut rest: &[u8]) -> Option<Vec<(u32, Field<'_>)>> {
    let mut all = Vec::new();
    while rest.has_remaining() {
        let (number, kind) = decode_key(&mut rest).ok()?;
        let value = decode_varint(&mut rest).ok()?;
        let field = match kind {
            WireType::Varint => Field::Varint(value),
            WireType::LengthDelimited => {
                let (bytes, after) = rest.split_at_checked(usize::try_from(value).ok()?)?;
                rest = after;
                Field::Bytes(bytes)
            }
            _ => return None,
        };
        all.push((number, field));
    }
    Some(all)
}

/// The values of fields of bytes with this number.
pub(crate) fn all_bytes<'a>(
    fields: &[(u32, Field<'a>)],
    number: u32,
) -> impl Iterator<Item = &'a [u8]> {
    fields.iter().filter(move |(known, _)| *known == number).filter_map(|(_, field)| match field {
        Field::Bytes(bytes) => Some(*bytes),
        Field::Varint(_) => None,
    })
}

/// The last value of a number.
pub(crate) fn varint(fields: &[(u32, Field<'_>)], number: u32) -> Option<u64> {
    fields.iter().rev().filter(|(known, _)| *known == number).find_map(|(_, field)| match field {
        Field::Varint(value) => Some(*value),
        Field::Bytes(_) => None,
    })
}

/// The text of bytes that should be one.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
