//! Numbers and words in a line's bytes.

use stdx::Nanos;

/// Bytes of a path or another text; the rest is cut off.
pub const PATH_MAX: usize = 2 << 10;

/// The number that `text` is, whole or with a fraction, times ten to the power of `digits`: seconds have nine digits below
/// them, milliseconds six, microseconds three. `None` where it is no number, or too large.
pub(super) fn nanos(text: &[u8], digits: u32) -> Option<Nanos> {
    let (value, rest) = leading(text, digits)?;
    rest.is_empty().then_some(value)
}

/// The same of the number that `text` begins with, and what follows it.
pub(super) fn leading(text: &[u8], digits: u32) -> Option<(Nanos, &[u8])> {
    let whole = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut value = unsigned(&text[..whole])?.checked_mul(10u64.pow(digits))?;
    let [b'.', fraction @ ..] = &text[whole..] else { return Some((Nanos(value), &text[whole..])) };
    let below = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if below == 0 {
        return None;
    }
    let mut unit = 10u64.pow(digits);
    for digit in &fraction[..below] {
        unit /= 10;
        value = value.checked_add(u64::from(digit - b'0') * unit)?;
    }
    Some((Nanos(value), &fraction[below..]))
}

/// The whole number that `text` is.
pub(super) fn unsigned(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |sum, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })
}

/// The status that `text` is: three digits.
pub(super) fn status(text: &[u8]) -> Option<u16> {
    let value = unsigned(text).filter(|_| text.len() == 3)?;
    u16::try_from(value).ok()
}

/// Where `word` first occurs in `text`.
pub(super) fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).position(|window| window == word)
}

/// The text before the first `word`, and the text after it.
pub(super) fn split<'a>(text: &'a [u8], word: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = find(text, word)?;
    Some((&text[..at], &text[at + word.len()..]))
}

/// A text of the row: at most [`PATH_MAX`] bytes, what is not UTF-8 replaced, all else as the log has it.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(PATH_MAX)]).into_owned()
}

/// Is it a method's name?
pub(super) fn is_method(text: &[u8]) -> bool {
    (1..=20).contains(&text.len())
        && text.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_exactly() {
        let cases = [
            ("13", 6, Some(13_000_000)),
            ("4.4", 6, Some(4_400_000)),
            ("0.07034", 9, Some(70_340_000)),
            ("0.1234567891234", 9, Some(123_456_789)),
            ("1234", 3, Some(1_234_000)),
            ("", 9, None),
            (".5", 9, None),
            ("5.", 9, None),
            ("-1", 9, None),
            ("1e5", 9, None),
            ("99999999999999999999", 9, None),
            ("18446744074", 9, None),
        ];
        for (text, digits, expected) in cases {
            assert_eq!(nanos(text.as_bytes(), digits), expected.map(Nanos), "{text}");
        }
        assert_eq!(leading(b"4.4ms |", 6), Some((Nanos(4_400_000), &b"ms |"[..])));
    }

    #[test]
    fn statuses_have_three_digits() {
        assert_eq!(status(b"200"), Some(200));
        for text in [&b"20"[..], b"2000", b"2x0", b""] {
            assert_eq!(status(text), None);
        }
    }
}
