//! Digests, codes and charsets.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use md5::Digest as _;

use super::arguments::Arguments;
use crate::script::run::{Machine, Outcome, throw};
use crate::script::value::{List, ListKind, Object, Value, byte_values, lock};

/// A digest of Java, with a key or without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    kind: Kind,
    keyed: Keyed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keyed {
    No,
    Yes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Md5,
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Digest {
    fn of(name: &str) -> Option<Self> {
        let name = name.to_ascii_uppercase().replace('-', "");
        let (name, keyed) = match name.strip_prefix("HMAC") {
            Some(rest) => (rest.to_owned(), Keyed::Yes),
            None => (name, Keyed::No),
        };
        let kind = match name.as_str() {
            "MD5" => Kind::Md5,
            "SHA" | "SHA1" => Kind::Sha1,
            "SHA256" => Kind::Sha256,
            "SHA384" => Kind::Sha384,
            "SHA512" => Kind::Sha512,
            _ => return None,
        };
        Some(Self { kind, keyed })
    }

    pub(crate) fn is_keyed(self) -> bool {
        self.keyed == Keyed::Yes
    }
}

impl Kind {
    fn digest(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Md5 => md5::Md5::digest(bytes).to_vec(),
            Self::Sha1 => sha1::Sha1::digest(bytes).to_vec(),
            Self::Sha256 => sha2::Sha256::digest(bytes).to_vec(),
            Self::Sha384 => sha2::Sha384::digest(bytes).to_vec(),
            Self::Sha512 => sha2::Sha512::digest(bytes).to_vec(),
        }
    }

    /// RFC 2104, 2: H(K XOR opad, H(K XOR ipad, text)).
    fn keyed(self, key: &[u8], bytes: &[u8]) -> Vec<u8> {
        let block = if matches!(self, Self::Sha384 | Self::Sha512) { 128 } else { 64 };
        let mut padded = if key.len() > block { self.digest(key) } else { key.to_vec() };
        padded.resize(block, 0);
        let with = |pad: u8| padded.iter().map(|byte| byte ^ pad).collect::<Vec<u8>>();
        let inner = self.digest(&[with(0x36), bytes.to_vec()].concat());
        self.digest(&[with(0x5c), inner].concat())
    }
}

/// The digest of a name in hexadecimal digits.
pub(super) fn hex_digest(name: &str, bytes: &[u8]) -> Outcome<String> {
    let digest = Digest::of(name).ok_or_else(|| no_algorithm(name))?;
    Ok(hex(&digest.kind.digest(bytes)))
}

fn no_algorithm(name: &str) -> crate::script::run::Fault {
    throw("NoSuchAlgorithmException", format!("{name} MessageDigest not available"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    text.len().is_multiple_of(2).then(|| (0..text.len()).step_by(2).map(digit).collect())?
}

pub(super) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub(super) fn from_base64(machine: &mut Machine<'_>, text: &str) -> Outcome<Value> {
    let text: String = text.split_whitespace().collect();
    let text = text.trim_end_matches('=');
    let decoded = STANDARD_NO_PAD.decode(text).or_else(|_| URL_SAFE_NO_PAD.decode(text));
    let bytes =
        decoded.map_err(|_| throw("IllegalArgumentException", "Illegal base64 character"))?;
    machine.allot(bytes.len())?;
    Ok(Value::Bytes(bytes.into()))
}

/// A value as bytes.
pub(super) fn bytes_of(value: &Value) -> Arc<[u8]> {
    match value {
        Value::Bytes(bytes) => bytes.clone(),
        Value::List(list) => {
            list.items().iter().map(|item| item.as_long().unwrap_or(0) as u8).collect()
        }
        other => other.to_string().into_bytes().into(),
    }
}

/// A text in the bytes of a charset.
pub(super) fn encoded(machine: &mut Machine<'_>, text: &str, charset: &str) -> Outcome<Value> {
    machine.allot(text.len())?;
    let bytes: Vec<u8> = match charset.to_ascii_uppercase().as_str() {
        "ISO-8859-1" | "LATIN1" | "US-ASCII" | "ASCII" => {
            text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap_or(b'?')).collect()
        }
        "UTF-16" | "UTF-16BE" => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        "UTF-16LE" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        _ => text.as_bytes().to_vec(),
    };
    Ok(Value::Bytes(bytes.into()))
}

/// The text of bytes in a charset.
pub(super) fn decoded(bytes: &[u8], charset: &str) -> String {
    match charset.to_ascii_uppercase().as_str() {
        "ISO-8859-1" | "LATIN1" | "US-ASCII" => {
            bytes.iter().map(|byte| char::from(*byte)).collect()
        }
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

pub(super) fn statics(
    machine: &mut Machine<'_>,
    class: &str,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let plain = |class| Ok(Some(Value::object(Object::Plain(class))));
    match (class, name) {
        ("Base64", "getEncoder" | "getMimeEncoder") => plain("Encoder"),
        ("Base64", "getUrlEncoder") => plain("UrlEncoder"),
        ("Base64", "getDecoder" | "getMimeDecoder" | "getUrlDecoder") => plain("Decoder"),
        // Those of Apache's class of this name.
        ("Base64", "encodeBase64String") => {
            machine.text(STANDARD.encode(bytes_of(&call.get(0)))).map(Some)
        }
        ("Base64", "encodeBase64URLSafeString") => {
            machine.text(URL_SAFE_NO_PAD.encode(bytes_of(&call.get(0)))).map(Some)
        }
        ("Base64", "encodeBase64") => {
            let text = STANDARD.encode(bytes_of(&call.get(0)));
            machine.allot(text.len())?;
            Ok(Some(Value::bytes(text.as_bytes())))
        }
        ("Base64", "decodeBase64") => {
            let text = bytes_of(&call.get(0));
            from_base64(machine, &String::from_utf8_lossy(&text)).map(Some)
        }
        ("MessageDigest" | "Mac", "getInstance") => {
            let digest = Digest::of(&call.text(0)).ok_or_else(|| no_algorithm(&call.text(0)))?;
            Ok(Some(Value::object(Object::Digest(digest, Mutex::default()))))
        }
        ("DigestUtils", _) => {
            let kind = name.strip_suffix("Hex").unwrap_or(name);
            let Some(digest) = Digest::of(kind) else { return Ok(None) };
            let digest = digest.kind.digest(&bytes_of(&call.get(0)));
            let is_hex = name.ends_with("Hex");
            Ok(Some(if is_hex { hex(&digest).into() } else { Value::bytes(&digest) }))
        }
        ("Hex", "encodeHexString") => machine.text(hex(&bytes_of(&call.get(0)))).map(Some),
        ("Hex", "decodeHex") => Ok(unhex(&call.text(0)).map(|bytes| Value::bytes(&bytes))),
        ("Charset", "forName") => Ok(Some(call.get(0))),
        ("Charset", "defaultCharset") => Ok(Some("UTF-8".into())),
        _ => Ok(None),
    }
}

/// `encodeToString`, `decode` and their kin.
pub(super) fn base64_method(
    machine: &mut Machine<'_>,
    class: &str,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let bytes = bytes_of(&call.get(0));
    let text = match class {
        "UrlEncoder" => URL_SAFE.encode(&bytes),
        "BareUrlEncoder" => URL_SAFE_NO_PAD.encode(&bytes),
        "BareEncoder" => STANDARD_NO_PAD.encode(&bytes),
        _ => STANDARD.encode(&bytes),
    };
    match (class, name) {
        (_, "withoutPadding") => Ok(Some(Value::object(Object::Plain(match class {
            "UrlEncoder" | "BareUrlEncoder" => "BareUrlEncoder",
            _ => "BareEncoder",
        })))),
        ("Decoder", "decode") => from_base64(machine, &String::from_utf8_lossy(&bytes)).map(Some),
        (_, "encodeToString") => machine.text(text).map(Some),
        (_, "encode") => Ok(Some(Value::bytes(text.as_bytes()))),
        _ => Ok(None),
    }
}

/// A method of a digest. What it is fed stands in `fed`; its key before it, with its length.
pub(super) fn method(
    machine: &mut Machine<'_>,
    digest: Digest,
    fed: &Mutex<Vec<u8>>,
    (name, call): (&str, Arguments<'_>),
) -> Outcome<Option<Value>> {
    let given = match call.get(0) {
        Value::Object(object) => match &*object {
            Object::Key(key) => key.clone(),
            _ => bytes_of(&call.get(0)),
        },
        Value::Null => Arc::default(),
        other => bytes_of(&other),
    };
    machine.allot(given.len())?;
    let mut fed = lock(fed);
    match name {
        "init" => {
            *fed = (given.len() as u64).to_be_bytes().to_vec();
            fed.extend_from_slice(&given);
            Ok(Some(Value::Null))
        }
        "update" => {
            fed.extend_from_slice(&given);
            Ok(Some(Value::Null))
        }
        "reset" => {
            fed.clear();
            Ok(Some(Value::Null))
        }
        "digest" | "doFinal" => {
            let (key, text) = key_and_text(digest, &fed);
            let text = [text, &given].concat();
            let result = match digest.keyed {
                Keyed::Yes => digest.kind.keyed(key, &text),
                Keyed::No => digest.kind.digest(&text),
            };
            let keep = if digest.is_keyed() { 8 + key.len() } else { 0 };
            fed.truncate(keep);
            Ok(Some(Value::bytes(&result)))
        }
        _ => Ok(None),
    }
}

fn key_and_text(digest: Digest, fed: &[u8]) -> (&[u8], &[u8]) {
    match (digest.keyed, fed.split_first_chunk::<8>()) {
        (Keyed::Yes, Some((length, rest))) => {
            let length = usize::try_from(u64::from_be_bytes(*length)).unwrap_or(0);
            rest.split_at(length.min(rest.len()))
        }
        _ => (&[], fed),
    }
}

/// A method of bytes.
pub(super) fn bytes_method(
    machine: &mut Machine<'_>,
    bytes: &Arc<[u8]>,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    match (name, call.len()) {
        ("encodeBase64", 0) => machine.text(base64(bytes)).map(Some),
        ("encodeBase64Url", 0) => machine.text(URL_SAFE_NO_PAD.encode(bytes)).map(Some),
        ("encodeHex", 0) => machine.text(hex(bytes)).map(Some),
        ("size" | "length", 0) => Ok(Some(Value::count(bytes.len()))),
        ("md5", 0) => hex_digest("MD5", bytes).map(|text| Some(text.into())),
        ("digest", 1) => hex_digest(&call.text(0), bytes).map(|text| Some(text.into())),
        ("toString", 0) => machine.text(String::from_utf8_lossy(bytes).into_owned()).map(Some),
        _ => {
            machine.allot(bytes.len() * size_of::<Value>())?;
            let list = List::new(ListKind::Array, byte_values(bytes));
            super::list::method(machine, &list, name, call)
        }
    }
}
