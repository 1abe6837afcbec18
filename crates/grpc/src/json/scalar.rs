//! Scalars: what of JSON fits which type.

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use prost_reflect::{EnumDescriptor, Kind as FieldKind, MapKey, Value};

use super::tree::{Kind, Node, Source, is_number};

/// The name of a type in messages.
pub(super) fn kind_name(kind: &FieldKind) -> &'static str {
    match kind {
        FieldKind::Double => "double",
        FieldKind::Float => "float",
        FieldKind::Int32 => "int32",
        FieldKind::Int64 => "int64",
        FieldKind::Uint32 => "uint32",
        FieldKind::Uint64 => "uint64",
        FieldKind::Sint32 => "sint32",
        FieldKind::Sint64 => "sint64",
        FieldKind::Fixed32 => "fixed32",
        FieldKind::Fixed64 => "fixed64",
        FieldKind::Sfixed32 => "sfixed32",
        FieldKind::Sfixed64 => "sfixed64",
        FieldKind::Bool => "bool",
        FieldKind::String => "string",
        FieldKind::Bytes => "bytes",
        FieldKind::Message(_) => "message",
        FieldKind::Enum(_) => "enum",
    }
}

/// A scalar of this type; `None` where the value is none.
pub(super) fn scalar(source: &Source<'_>, node: &Node, kind: &FieldKind) -> Option<Value> {
    Some(match kind {
        FieldKind::Bool => match node.kind {
            Kind::Bool(value) => Value::Bool(value),
            _ => return None,
        },
        FieldKind::String => match &node.kind {
            Kind::String(text) => Value::String(text.clone()),
            _ => return None,
        },
        FieldKind::Bytes => match &node.kind {
            Kind::String(text) => Value::Bytes(bytes(text)?.into()),
            _ => return None,
        },
        FieldKind::Enum(of) => Value::EnumNumber(enumerated(source, node, of)?),
        FieldKind::Double => Value::F64(float(number_text(source, node)?)?),
        FieldKind::Float => Value::F32(single(number_text(source, node)?)?),
        FieldKind::Int32 | FieldKind::Sint32 | FieldKind::Sfixed32 => {
            Value::I32(integer(number_text(source, node)?)?.try_into().ok()?)
        }
        FieldKind::Int64 | FieldKind::Sint64 | FieldKind::Sfixed64 => {
            Value::I64(integer(number_text(source, node)?)?.try_into().ok()?)
        }
        FieldKind::Uint32 | FieldKind::Fixed32 => {
            Value::U32(integer(number_text(source, node)?)?.try_into().ok()?)
        }
        FieldKind::Uint64 | FieldKind::Fixed64 => {
            Value::U64(integer(number_text(source, node)?)?.try_into().ok()?)
        }
        FieldKind::Message(_) => return None,
    })
}

/// The text of a number, which may stand in a string.
fn number_text<'a>(source: &'a Source<'_>, node: &'a Node) -> Option<&'a str> {
    match &node.kind {
        Kind::Number => Some(source.raw(node)),
        Kind::String(text) => Some(text),
        _ => None,
    }
}

fn float(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ if is_number(text) => text.parse().ok().filter(|value: &f64| value.is_finite()),
        _ => None,
    }
}

fn single(text: &str) -> Option<f32> {
    match text {
        "NaN" => Some(f32::NAN),
        "Infinity" => Some(f32::INFINITY),
        "-Infinity" => Some(f32::NEG_INFINITY),
        _ if is_number(text) => text.parse().ok().filter(|value: &f32| value.is_finite()),
        _ => None,
    }
}

/// A number of JSON that is whole, `1e3` and `1.0` among them.
fn integer(text: &str) -> Option<i128> {
    if !is_number(text) {
        return None;
    }
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let exponent: i64 = exponent.parse().ok()?;
    let mut digits = format!("{whole}{fraction}");
    let zeros = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    if digits.trim_start_matches('-').bytes().all(|digit| digit == b'0') {
        return Some(0);
    }
    if zeros >= 0 {
        // What is longer fits no type.
        if zeros > DIGITS_MAX {
            return None;
        }
        digits.extend(std::iter::repeat_n('0', zeros as usize));
    } else {
        let cut = usize::try_from(zeros.unsigned_abs()).ok()?;
        let kept = digits.len().checked_sub(cut)?;
        if digits[kept..].bytes().any(|digit| digit != b'0') {
            return None;
        }
        digits.truncate(kept);
    }
    digits.parse().ok()
}

/// The most zeros that an exponent adds.
const DIGITS_MAX: i64 = 20;

/// Standard or URL's base64, with or without padding.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let alphabet = if text.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    let padding = if text.len().is_multiple_of(4) {
        DecodePaddingMode::RequireCanonical
    } else {
        DecodePaddingMode::RequireNone
    };
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(padding)
        .with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(alphabet, config).decode(text).ok()
}

fn enumerated(source: &Source<'_>, node: &Node, of: &EnumDescriptor) -> Option<i32> {
    match &node.kind {
        Kind::String(name) => Some(of.get_value_by_name(name)?.number()),
        Kind::Number => integer(source.raw(node))?.try_into().ok(),
        Kind::Null if of.full_name() == NULL_VALUE => Some(0),
        _ => None,
    }
}

/// The enumeration that stands for null.
pub(super) const NULL_VALUE: &str = "google.protobuf.NullValue";

/// The key of a map of this type; `None` where the name is none.
pub(super) fn map_key(name: &str, kind: &FieldKind) -> Option<MapKey> {
    Some(match kind {
        FieldKind::String => MapKey::String(name.to_owned()),
        FieldKind::Bool => MapKey::Bool(match name {
            "true" => true,
            "false" => false,
            _ => return None,
        }),
        FieldKind::Int32 | FieldKind::Sint32 | FieldKind::Sfixed32 => {
            MapKey::I32(name.parse().ok()?)
        }
        FieldKind::Int64 | FieldKind::Sint64 | FieldKind::Sfixed64 => {
            MapKey::I64(name.parse().ok()?)
        }
        FieldKind::Uint32 | FieldKind::Fixed32 => MapKey::U32(name.parse().ok()?),
        FieldKind::Uint64 | FieldKind::Fixed64 => MapKey::U64(name.parse().ok()?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_read_in_any_form() {
        for (text, expect) in [
            ("1e3", Some(1000)),
            ("1.50e2", Some(150)),
            ("-0", Some(0)),
            ("100e-2", Some(1)),
            ("1.5", None),
            ("0012", None),
            ("", None),
            ("1e999999999", None),
            ("0e999999999", Some(0)),
            ("1e-999999999", None),
            ("18446744073709551615", Some(18_446_744_073_709_551_615)),
        ] {
            assert_eq!(integer(text), expect, "{text}");
        }
    }

    #[test]
    fn bytes_are_of_both_alphabets() {
        for (text, expect) in [
            ("AAH/", Some(vec![0, 1, 255])),
            ("-_8=", Some(vec![0xfb, 0xff])),
            ("-_8", Some(vec![0xfb, 0xff])),
            ("", Some(vec![])),
            ("***", None),
        ] {
            assert_eq!(bytes(text), expect, "{text}");
        }
    }
}
