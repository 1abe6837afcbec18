//! Bytes in and out of scripts: strings, buffers and views of them, and k6's encodings.

use base64::Engine as _;
use base64::alphabet::{Alphabet, STANDARD, URL_SAFE};
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use rquickjs::{ArrayBuffer, Ctx, Exception, Object, Result, Value};

use crate::runtime::ffi;

/// The bytes of a buffer or of a view of one; `None` of anything else.
pub(super) fn of_buffer(value: &Value<'_>) -> Result<Option<Vec<u8>>> {
    let Some(object) = value.as_object() else { return Ok(None) };
    if let Some(buffer) = object.as_array_buffer() {
        return Ok(Some(ffi::copied(buffer)));
    }
    if !is_view(object)? {
        return Ok(None);
    }
    let buffer: Object<'_> = object.get("buffer")?;
    let (start, len): (usize, usize) = (object.get("byteOffset")?, object.get("byteLength")?);
    let bytes = buffer.as_array_buffer().map(ffi::copied).unwrap_or_default();
    Ok(bytes.get(start..start.saturating_add(len)).map(<[u8]>::to_vec))
}

/// Whether it is a typed array or a `DataView`.
fn is_view(object: &Object<'_>) -> Result<bool> {
    let class: Object<'_> = object.ctx().globals().get("ArrayBuffer")?;
    let is_view: rquickjs::Function<'_> = class.get("isView")?;
    is_view.call((object.clone(),))
}

/// The bytes of a string, a buffer or a view.
///
/// # Errors
/// It is something else: k6's exception is thrown.
pub(super) fn input(ctx: &Ctx<'_>, value: Option<&Value<'_>>) -> Result<Vec<u8>> {
    if let Some(text) = value.and_then(Value::as_string) {
        return Ok(text.to_string()?.into_bytes());
    }
    if let Some(bytes) = value.map(of_buffer).transpose()?.flatten() {
        return Ok(bytes);
    }
    let kind = match value {
        Some(value) if value.is_bool() => "bool",
        Some(value) if value.is_int() => "int64",
        Some(value) if value.is_float() => "float64",
        Some(value) if value.is_array() => "[]interface {}",
        Some(value) if value.is_object() => "map[string]interface {}",
        _ => "<nil>",
    };
    let text = format!("invalid type {kind}, expected string, []byte or ArrayBuffer");
    Err(Exception::throw_message(ctx, &text))
}

/// Bytes in one of k6's encodings.
///
/// # Errors
/// There is no such encoding: k6's exception is thrown.
pub(super) fn output<'js>(ctx: &Ctx<'js>, bytes: &[u8], encoding: &str) -> Result<Value<'js>> {
    let text = match encoding {
        "hex" => hex(bytes),
        "base64" => base64(Base64::Std).encode(bytes),
        "base64url" => base64(Base64::Url).encode(bytes),
        "base64rawurl" => base64(Base64::RawUrl).encode(bytes),
        "binary" => return buffer(ctx, bytes),
        other => {
            let text = format!("invalid output encoding: {other}");
            return Err(Exception::throw_message(ctx, &text));
        }
    };
    Ok(rquickjs::String::from_str(ctx.clone(), &text)?.into_value())
}

/// Bytes as an `ArrayBuffer`.
pub(super) fn buffer<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<Value<'js>> {
    Ok(ArrayBuffer::new_copy(ctx.clone(), bytes)?.into_value())
}

/// Bytes as two digits each.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The forms of base64.
#[derive(Clone, Copy)]
pub(super) enum Base64 {
    Std,
    RawStd,
    Url,
    RawUrl,
}

/// One form of base64.
pub(super) fn base64(form: Base64) -> GeneralPurpose {
    let (alphabet, padded): (&Alphabet, bool) = match form {
        Base64::Std => (&STANDARD, true),
        Base64::RawStd => (&STANDARD, false),
        Base64::Url => (&URL_SAFE, true),
        Base64::RawUrl => (&URL_SAFE, false),
    };
    let padding =
        if padded { DecodePaddingMode::RequireCanonical } else { DecodePaddingMode::RequireNone };
    let config = GeneralPurposeConfig::new()
        .with_encode_padding(padded)
        .with_decode_padding_mode(padding)
        // Go does not look at the last bits.
        .with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(alphabet, config)
}
