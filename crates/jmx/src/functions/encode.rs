//! Functions that write texts in another way.

use std::fmt::Write as _;

use md5::Digest as _;

use crate::arguments::Arguments;
use crate::scope::Scope;

/// A text for forms and queries, as Java's `URLEncoder` writes it.
#[must_use]
pub fn url_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' => encoded.push('+'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => {
                encoded.push(char::from(byte));
            }
            _ => write!(encoded, "%{byte:02X}").expect("a text takes all"),
        }
    }
    encoded
}

pub(crate) fn url_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = text.get(at + 1..at + 3).and_then(|code| u8::from_str_radix(code, 16).ok());
        match (bytes[at], code) {
            (b'%', Some(code)) => {
                decoded.push(code);
                at += 2;
            }
            (b'+', _) => decoded.push(b' '),
            (byte, _) => decoded.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// The names of the letters from U+00A0 to U+00FF.
const LATIN: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 \
    acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig \
    Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave \
    Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave \
    iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";

pub(super) fn escape_html(call: &Arguments, _: &mut dyn Scope) -> String {
    let mut escaped = String::new();
    for letter in call.text(0).chars() {
        let latin = u32::from(letter).checked_sub(0xa0).filter(|at| *at < 96);
        match (letter, latin.and_then(|at| LATIN.split_whitespace().nth(at as usize))) {
            (_, Some(name)) => escaped.extend(["&", name, ";"]),
            ('&', _) => escaped.push_str("&amp;"),
            ('<', _) => escaped.push_str("&lt;"),
            ('>', _) => escaped.push_str("&gt;"),
            ('"', _) => escaped.push_str("&quot;"),
            (other, _) => escaped.push(other),
        }
    }
    escaped
}

pub(super) fn escape_xml(call: &Arguments, _: &mut dyn Scope) -> String {
    let text = call.text(0);
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&apos;")
}

pub(super) fn unescape(call: &Arguments, _: &mut dyn Scope) -> String {
    let text = call.text(0);
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            plain.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some('r') => plain.push('\r'),
            Some('u') => {
                let code: String = letters.by_ref().take(4).collect();
                plain.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32));
            }
            other => plain.extend(other),
        }
    }
    plain
}

/// A text that stands for itself in a regular expression.
pub(super) fn escape_regex(call: &Arguments, scope: &mut dyn Scope) -> String {
    let text = call.text(0);
    let mut escaped = String::new();
    for letter in text.chars() {
        if !letter.is_alphanumeric() && letter != '_' {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    call.stored(scope, 1, escaped)
}

pub(super) fn char_codes(call: &Arguments, _: &mut dyn Scope) -> String {
    let mut text = String::new();
    for at in 0..call.values.len() {
        let code = call.text(at);
        let code = code.trim();
        let number = match code.strip_prefix("0x").or_else(|| code.strip_prefix("0X")) {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => code.parse().ok(),
        };
        text.extend(number.and_then(char::from_u32));
    }
    text
}

pub(super) fn change_case(call: &Arguments, scope: &mut dyn Scope) -> String {
    let text = call.text(0);
    let mode = call.text(1);
    let changed = match mode.trim().to_ascii_uppercase().as_str() {
        "LOWER" => text.to_lowercase(),
        "CAPITALIZE" => {
            let mut letters = text.chars();
            let first = letters.next().map(|first| first.to_uppercase().to_string());
            first.unwrap_or_default() + letters.as_str()
        }
        _ => text.to_uppercase(),
    };
    call.stored(scope, 2, changed)
}

/// `${__digest(ALGORITHM,text,salt,UPPER,variable)}`.
pub(super) fn digest(call: &Arguments, scope: &mut dyn Scope) -> String {
    let algorithm = call.text(0);
    let text = call.text(1);
    let salt = call.text(2);
    let text = text + &salt;
    let name = algorithm.trim().to_ascii_uppercase().replace('-', "");
    let mut value = match name.as_str() {
        "MD5" => hex(&md5::Md5::digest(&text)),
        "SHA1" | "SHA" => hex(&sha1::Sha1::digest(&text)),
        "SHA256" => hex(&sha2::Sha256::digest(&text)),
        "SHA384" => hex(&sha2::Sha384::digest(&text)),
        "SHA512" => hex(&sha2::Sha512::digest(&text)),
        _ => String::new(),
    };
    if call.get(3).is_some_and(|word| word.trim() == "true") {
        value = value.to_ascii_uppercase();
    }
    call.stored(scope, 4, value)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
