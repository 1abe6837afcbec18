//! `Value`: a value as it lies in a message, and its translation between JSON and MessagePack.

use std::borrow::Cow;

use super::error::CableError;
use super::json::{DEPTH_MAX, Scanner};
use super::msgpack;

/// A value as it lies in a message, checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Value<'a> {
    /// There is none.
    #[default]
    Absent,
    /// JSON text.
    Json(&'a str),
    /// MessagePack.
    Msgpack(&'a [u8]),
}

impl<'a> Value<'a> {
    /// It as JSON text; `None` where there is none. MessagePack is translated: bytes become base64, extensions null.
    ///
    /// # Errors
    /// A map's key is neither a text nor a number.
    pub fn to_json(&self) -> Result<Option<Cow<'a, str>>, CableError> {
        let bytes = match self {
            Self::Absent => return Ok(None),
            Self::Json(text) => return Ok(Some(Cow::Borrowed(text))),
            Self::Msgpack(bytes) => bytes,
        };
        let mut out = Vec::with_capacity(bytes.len() * 2);
        let mut reader = msgpack::Reader::new(bytes);
        msgpack::to_json(&mut reader, DEPTH_MAX, &mut out)?;
        if !reader.is_empty() {
            return Err(CableError::Trailing);
        }
        String::from_utf8(out).map(|text| Some(text.into())).map_err(|_| CableError::Utf8)
    }
}

/// Appends a JSON text as MessagePack.
///
/// # Errors
/// The text is no JSON, or too deep.
pub fn json_to_msgpack(json: &str, out: &mut Vec<u8>) -> Result<(), CableError> {
    let mut scanner = Scanner::new(json);
    let value = scanner.value()?;
    scanner.end()?;
    msgpack::from_json(&mut Scanner::new(value), out)
}

/// The text of a whole message.
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, CableError> {
    std::str::from_utf8(bytes).map_err(|_| CableError::Utf8)
}
