//! Charsets of requests and responses: UTF-8, and the Latin ones as Java reads and writes them.

use std::borrow::Cow;

/// The charset that a `Content-Type` names; `None` where it names none.
pub(crate) fn charset_of(content_type: &str) -> Option<String> {
    let lower = content_type.to_ascii_lowercase();
    let at = lower.find("charset=")? + "charset=".len();
    let rest = content_type[at..].trim_matches(['"', '\'', ' ']);
    let end = rest.find([';', '"', '\'', ' ', ',']).unwrap_or(rest.len());
    (!rest[..end].is_empty()).then(|| rest[..end].to_owned())
}

fn is_latin(charset: &str) -> bool {
    let name = charset.trim().to_ascii_lowercase();
    matches!(
        name.as_str(),
        "iso-8859-1" | "latin1" | "iso8859-1" | "windows-1252" | "cp1252" | "iso-8859-15"
    )
}

fn is_ascii(charset: &str) -> bool {
    matches!(charset.trim().to_ascii_lowercase().as_str(), "us-ascii" | "ascii")
}

/// Bytes as a text.
pub(crate) fn decode<'a>(bytes: &'a [u8], charset: &str) -> Cow<'a, str> {
    if is_latin(charset) {
        return bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into();
    }
    String::from_utf8_lossy(bytes)
}

/// A text as bytes; what the charset lacks becomes a question mark.
pub(crate) fn encode(text: &str, charset: &str) -> Vec<u8> {
    let most = match (is_latin(charset), is_ascii(charset)) {
        (true, _) => 0xff,
        (_, true) => 0x7f,
        _ => return text.as_bytes().to_vec(),
    };
    text.chars()
        .map(|letter| {
            u8::try_from(u32::from(letter)).ok().filter(|byte| *byte <= most).unwrap_or(b'?')
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_charsets() {
        assert_eq!(
            charset_of("text/html; Charset=\"ISO-8859-1\"; x=y").as_deref(),
            Some("ISO-8859-1")
        );
        assert_eq!(charset_of("text/html"), None);
        assert_eq!(decode(b"\xe9", "iso-8859-1"), "é");
        assert_eq!(decode("é".as_bytes(), "UTF-8"), "é");
        assert_eq!(encode("é€", "ISO-8859-1"), b"\xe9?");
        assert_eq!(encode("é", "us-ascii"), b"?");
        assert_eq!(encode("é", "utf-8"), "é".as_bytes());
    }
}
