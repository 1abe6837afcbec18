//! Text inputs that begin with a byte order mark, as editors and shells of Windows write them.

/// The mark of UTF-8.
const UTF_8: &[u8] = b"\xef\xbb\xbf";

/// A text's bytes without the mark of UTF-8 before them.
#[must_use]
pub fn without_byte_order_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(UTF_8).unwrap_or(bytes)
}

/// Whether a text begins with the mark of UTF-16, in either order. No text of UTF-8 does.
#[must_use]
pub fn is_utf_16(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")
}

/// A text input in UTF-8, without a byte order mark: what begins with the mark of UTF-16 is converted (a half of a pair that has no
/// other becomes U+FFFD), all else is as it was.
///
/// # Examples
/// ```
/// assert_eq!(stdx::plain_text(b"\xef\xbb\xbfGET".to_vec()), b"GET");
/// assert_eq!(stdx::plain_text(b"\xff\xfeG\0E\0T\0".to_vec()), b"GET");
/// assert_eq!(stdx::plain_text(b"GET \xff".to_vec()), b"GET \xff");
/// ```
#[must_use]
pub fn plain_text(mut bytes: Vec<u8>) -> Vec<u8> {
    if is_utf_16(&bytes) {
        let little = bytes[0] == 0xff;
        let unit = |pair: &[u8]| {
            let pair = [pair[0], pair[1]];
            if little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) }
        };
        let units = bytes[2..].chunks_exact(2).map(unit);
        let text: String =
            char::decode_utf16(units).map(|letter| letter.unwrap_or('\u{fffd}')).collect();
        return text.into_bytes();
    }
    if bytes.starts_with(UTF_8) {
        bytes.drain(..UTF_8.len());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_windows_are_texts() {
        for (bytes, expect) in [
            (&b""[..], &b""[..]),
            (b"\xef\xbb", b"\xef\xbb"),
            (b"\xef\xbb\xbf", b""),
            (b"\xfe\xff\0a\xd8\x3d\xde\x00", "a\u{1f600}".as_bytes()),
            (b"\xff\xfea\0b", b"a"),
            (b"\xff\xfe\x00\xd8", "\u{fffd}".as_bytes()),
        ] {
            assert_eq!(plain_text(bytes.to_vec()), expect, "{bytes:?}");
        }
        assert_eq!(without_byte_order_mark(b"\xef\xbb\xbfa"), b"a");
    }
}
