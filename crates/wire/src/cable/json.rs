//! As much JSON (RFC 8259) as a message's envelope needs: members are found where they lie, nothing is built. What is
//! given out raw has been checked.

use std::borrow::Cow;

use super::error::CableError;

/// How deep arrays and objects may lie in one another.
pub const DEPTH_MAX: usize = 128;

/// A string as it lies in a message: perhaps with escapes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Text<'a> {
    raw: &'a str,
    escaped: bool,
}

impl<'a> Text<'a> {
    /// A text that has no escapes.
    pub(super) const fn plain(raw: &'a str) -> Self {
        Self { raw, escaped: false }
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// Whether it says this; it is not copied.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        if self.escaped { Unescape(self.raw).eq(text.chars()) } else { self.raw == text }
    }

    /// Its text; copied only if it has escapes.
    #[must_use]
    pub fn decoded(&self) -> Cow<'a, str> {
        if self.escaped {
            Cow::Owned(Unescape(self.raw).collect())
        } else {
            Cow::Borrowed(self.raw)
        }
    }
}

/// The characters of a checked string. A lone surrogate becomes U+FFFD.
struct Unescape<'a>(&'a str);

impl Iterator for Unescape<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let first = self.0.chars().next()?;
        if first != '\\' {
            self.0 = &self.0[first.len_utf8()..];
            return Some(first);
        }
        let sign = self.0.as_bytes().get(1).copied()?;
        let Some(unit) = unit(self.0) else {
            self.0 = &self.0[2..];
            return Some(simple_escape(sign));
        };
        self.0 = &self.0[6..];
        let low = unit_pair(unit, self.0);
        if low.is_some() {
            self.0 = &self.0[6..];
        }
        Some(low.or_else(|| char::from_u32(unit)).unwrap_or(char::REPLACEMENT_CHARACTER))
    }
}

const fn simple_escape(sign: u8) -> char {
    match sign {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        other => other as char,
    }
}

/// The code unit of `\uXXXX` at the start of the text.
fn unit(text: &str) -> Option<u32> {
    text.strip_prefix("\\u")?.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok())
}

/// The character of a high surrogate and the low one at the start of the text.
fn unit_pair(high: u32, text: &str) -> Option<char> {
    let low = unit(text).filter(|low| (0xdc00..0xe000).contains(low))?;
    let pair = (0xd800..0xdc00).contains(&high);
    pair.then(|| char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))).flatten()
}

/// Goes over a text and checks it.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Goes over the members of an object; `each` takes a member's value off the scanner.
    pub(super) fn members(
        &mut self,
        each: &mut dyn FnMut(&mut Self, Text<'a>) -> Result<(), CableError>,
    ) -> Result<(), CableError> {
        self.expect(b'{')?;
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            let name = self.string()?;
            self.expect(b':')?;
            each(self, name)?;
            if self.take(b'}') {
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    /// Goes over the elements of an array.
    pub(super) fn elements(
        &mut self,
        each: &mut dyn FnMut(&mut Self) -> Result<(), CableError>,
    ) -> Result<(), CableError> {
        self.expect(b'[')?;
        if self.take(b']') {
            return Ok(());
        }
        loop {
            each(self)?;
            if self.take(b']') {
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    /// Nothing but white space may follow.
    pub(super) fn end(&mut self) -> Result<(), CableError> {
        if self.peek().is_none() { Ok(()) } else { Err(CableError::Json(self.at)) }
    }

    /// A value as it lies there, checked.
    pub(super) fn value(&mut self) -> Result<&'a str, CableError> {
        self.peek();
        let start = self.at;
        self.skip(DEPTH_MAX)?;
        Ok(&self.text[start..self.at])
    }

    /// A string's text; nothing for `null`.
    pub(super) fn text(&mut self) -> Result<Text<'a>, CableError> {
        if self.peek() == Some(b'"') {
            return self.string();
        }
        self.literal("null").map(|()| Text::default())
    }

    /// A boolean; `None` for `null`.
    pub(super) fn flag(&mut self) -> Result<Option<bool>, CableError> {
        match self.peek() {
            Some(b't') => self.literal("true").map(|()| Some(true)),
            Some(b'f') => self.literal("false").map(|()| Some(false)),
            _ => self.literal("null").map(|()| None),
        }
    }

    /// The next byte that is no white space, which is skipped.
    pub(super) fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| b" \t\r\n".contains(byte)).count();
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, byte: u8) -> Result<(), CableError> {
        if self.take(byte) { Ok(()) } else { Err(CableError::Json(self.at)) }
    }

    fn literal(&mut self, word: &str) -> Result<(), CableError> {
        self.peek();
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(CableError::Json(self.at));
        }
        self.at += word.len();
        Ok(())
    }

    /// A string without its quotes.
    fn string(&mut self) -> Result<Text<'a>, CableError> {
        self.expect(b'"')?;
        let (start, bytes) = (self.at, self.text.as_bytes());
        let mut escaped = false;
        loop {
            match bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.at += self.escape_len()?;
                }
                Some(0x20..) => self.at += 1,
                _ => return Err(CableError::Json(self.at)),
            }
        }
        self.at += 1;
        Ok(Text { raw: &self.text[start..self.at - 1], escaped })
    }

    fn escape_len(&self) -> Result<usize, CableError> {
        let rest = &self.text.as_bytes()[self.at + 1..];
        match rest.first() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(2),
            Some(b'u') if rest.len() >= 5 && rest[1..5].iter().all(u8::is_ascii_hexdigit) => Ok(6),
            _ => Err(CableError::Json(self.at)),
        }
    }

    /// Skips a value of at most so many levels.
    fn skip(&mut self, levels: usize) -> Result<(), CableError> {
        let Some(levels) = levels.checked_sub(1) else { return Err(CableError::Depth) };
        match self.peek() {
            Some(b'{') => self.members(&mut |scanner, _| scanner.skip(levels)),
            Some(b'[') => self.elements(&mut |scanner| scanner.skip(levels)),
            Some(b'"') => self.string().map(drop),
            Some(b't') => self.literal("true"),
            Some(b'f') => self.literal("false"),
            Some(b'n') => self.literal("null"),
            _ => self.number(),
        }
    }

    fn number(&mut self) -> Result<(), CableError> {
        let bytes = self.text.as_bytes();
        let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        let start = self.at + usize::from(bytes.get(self.at) == Some(&b'-'));
        let whole = digits(start);
        let mut end = start + whole;
        // RFC 8259, 6: no leading zeros.
        let mut good = whole == 1 || (whole > 1 && bytes[start] != b'0');
        if bytes.get(end) == Some(&b'.') {
            let fraction = digits(end + 1);
            good &= fraction > 0;
            end += 1 + fraction;
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            end += 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end);
            good &= exponent > 0;
            end += exponent;
        }
        if !good {
            return Err(CableError::Json(self.at));
        }
        self.at = end;
        Ok(())
    }
}

/// Appends a string with its quotes.
pub(super) fn push_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut kept = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&text.as_bytes()[kept..at]);
        kept = at + 1;
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        }
    }
    out.extend_from_slice(&text.as_bytes()[kept..]);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_checked() {
        let good = [
            "null",
            "-0.5e+3",
            "[]",
            "{}",
            " [1, {\"a\\\"\":\"\\ud83d\\ude00\"} ,true] ",
            "0",
            "1E5",
            "\"\u{7f}é\"",
        ];
        for text in good {
            let mut scanner = Scanner::new(text);
            assert_eq!(scanner.value(), Ok(text.trim()), "{text}");
            assert_eq!(scanner.end(), Ok(()));
        }
        let bad = [
            "",
            "nul",
            "01",
            "-",
            "1.",
            "1e",
            ".5",
            "+1",
            "[1,]",
            "{\"a\"}",
            "{a:1}",
            "\"\n\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"",
            "[",
            "{\"a\":1,}",
            "1 2",
        ];
        for text in bad {
            let mut scanner = Scanner::new(text);
            assert!(scanner.value().and_then(|_| scanner.end()).is_err(), "{text}");
        }
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(Scanner::new(&deep(DEPTH_MAX)).value().is_ok());
        assert_eq!(Scanner::new(&deep(DEPTH_MAX + 1)).value(), Err(CableError::Depth));
        assert_eq!(Scanner::new(&"[".repeat(1 << 20)).value(), Err(CableError::Depth));
    }

    #[test]
    fn strings_survive_the_way_there_and_back() {
        for text in ["", "plain", "a\"b\\c\n\r\t\u{1}é😀/", "\u{0}"] {
            let mut out = Vec::new();
            push_string(text, &mut out);
            let json = String::from_utf8(out).expect("UTF-8");
            let found = Scanner::new(&json).text().expect("a string");
            assert!(found.is(text) && !found.is("other"), "{json}");
            assert_eq!(found.decoded(), text);
        }
        let cases = [
            ("\"\\ud83d\\ude00\\/\\b\\f\"", "😀/\u{8}\u{c}"),
            ("\"\\ud83d\\u0041\"", "\u{fffd}A"),
            ("\"\\ude00x\"", "\u{fffd}x"),
        ];
        for (json, text) in cases {
            assert_eq!(Scanner::new(json).text().expect("a string").decoded(), text, "{json}");
        }
    }
}
