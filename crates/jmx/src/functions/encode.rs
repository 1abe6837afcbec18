//! Functions that write texts in another way.

use std::fmt::Write as _;

use md5::Digest as _;

use crate::arguments::Arguments;
use crate::scope::Scope;
use crate::thrown::Thrown;

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

/// `${__urldecode(text)}`, with the exceptions of Java's `URLDecoder`.
pub(super) fn url_decoded(call: &Arguments, _: &mut dyn Scope) -> Result<String, Thrown> {
    let text = call.text(0);
    for (at, _) in text.match_indices('%') {
        check_escape(&text[at + 1..])?;
    }
    Ok(url_decode(&text))
}

/// Checks what stands behind a `%`.
fn check_escape(rest: &str) -> Result<(), Thrown> {
    let code: String = rest.chars().take(2).collect();
    let why = match code.chars().position(|letter| !letter.is_ascii_hexdigit()) {
        _ if code.chars().count() < 2 => "Incomplete trailing escape (%) pattern".to_owned(),
        None => return Ok(()),
        Some(at) => {
            let at = format!("Error at index {at} in: \"{code}\"");
            format!("Illegal hex characters in escape (%) pattern - {at}")
        }
    };
    Err(Thrown::argument(format!("URLDecoder: {why}")))
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

/// `${__unescape(text)}`: the escapes of Java's literals.
pub(super) fn unescape(call: &Arguments, _: &mut dyn Scope) -> Result<String, Thrown> {
    let text = call.text(0);
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let (letters, taken) = escaped(&rest[at + 1..])?;
        plain.push_str(&letters);
        rest = &rest[at + 1 + taken..];
    }
    Ok(plain + rest)
}

/// What an escape stands for, and the bytes of it behind its backslash.
fn escaped(rest: &str) -> Result<(String, usize), Thrown> {
    let Some(letter) = rest.chars().next() else { return Ok(("\\".to_owned(), 0)) };
    let plain = match letter {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'u' => return unicode(rest),
        '0'..='7' => return Ok(octal(rest)),
        other => other,
    };
    Ok((plain.to_string(), letter.len_utf8()))
}

/// `u0041`, with any number of `u`.
fn unicode(rest: &str) -> Result<(String, usize), Thrown> {
    let digits = rest.trim_start_matches('u');
    let start = rest.len() - digits.len();
    let code: String = digits.chars().take(4).collect();
    if code.chars().count() < 4 {
        return Err(Thrown::argument(format!(
            "Less than 4 hex digits in unicode value: '\\{rest}' due to end of CharSequence"
        )));
    }
    let unit = u16::from_str_radix(&code, 16)
        .map_err(|_| Thrown::argument(format!("Unable to parse unicode value: {code}")))?;
    Ok((String::from_utf16_lossy(&[unit]), start + code.len()))
}

/// One to three digits of octal, `377` at most.
fn octal(rest: &str) -> (String, usize) {
    let most = if rest.starts_with(['0', '1', '2', '3']) { 3 } else { 2 };
    let digits: String = rest.chars().take(most).take_while(|digit| digit.is_digit(8)).collect();
    let letter = u8::from_str_radix(&digits, 8).map_or('\0', char::from);
    (letter.to_string(), digits.len())
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
    let changed = match mode.to_uppercase().as_str() {
        "" | "UPPER" => text.to_uppercase(),
        "LOWER" => text.to_lowercase(),
        "CAPITALIZE" => {
            let mut letters = text.chars();
            let first = letters.next().map(|first| first.to_uppercase().to_string());
            first.unwrap_or_default() + letters.as_str()
        }
        _ => {
            scope.log("ERROR", &format!("Unknown mode {mode}, returning {text} unchanged"));
            text
        }
    };
    call.stored(scope, 2, changed)
}

/// `${__digest(ALGORITHM,text,salt,UPPER,variable)}`.
pub(super) fn digest(call: &Arguments, scope: &mut dyn Scope) -> String {
    let algorithm = call.text(0);
    let text = call.text(1);
    let salt = call.text(2);
    let text = text + &salt;
    let name = algorithm.to_ascii_uppercase().replace('-', "");
    let mut value = match name.as_str() {
        "MD5" => hex(&md5::Md5::digest(&text)),
        "SHA1" | "SHA" => hex(&sha1::Sha1::digest(&text)),
        "SHA224" => hex(&sha2::Sha224::digest(&text)),
        "SHA256" => hex(&sha2::Sha256::digest(&text)),
        "SHA384" => hex(&sha2::Sha384::digest(&text)),
        "SHA512" => hex(&sha2::Sha512::digest(&text)),
        "SHA512/256" => hex(&sha2::Sha512_256::digest(&text)),
        _ => {
            scope.log("ERROR", &format!("Error calling __digest: no algorithm {algorithm}"));
            return "null".to_owned();
        }
    };
    if call.get(3).is_some_and(|word| word.eq_ignore_ascii_case("true")) {
        value = value.to_ascii_uppercase();
    }
    call.stored(scope, 4, value)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
