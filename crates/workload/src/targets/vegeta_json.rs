//! A JSON target as Vegeta's parser takes it: what it lets pass, and its words for what it does not. It asks for token after
//! token, and says where it stood and which value it had seen last.

use std::sync::Arc;

use serde::de::IgnoredAny;

use super::bare::BareTarget;
use super::problem::ProblemKind;

/// Reads a line's object. Keys that it does not know are skipped, `null` counts as missing.
pub(super) fn target(line: &str) -> Result<BareTarget, ProblemKind> {
    let mut scanner = Scanner::new(line.trim());
    let found = scanner.object().map_err(|reason| ProblemKind::Json { reason })?;
    if found.method.is_empty() {
        return Err(ProblemKind::NoMethod);
    }
    if found.url.is_empty() {
        return Err(ProblemKind::NoUrl);
    }
    let mut target = BareTarget::new(&found.method, &found.url);
    target.body = Some(Arc::from(found.body)).filter(|body: &Arc<[u8]>| !body.is_empty());
    target.headers = found.headers;
    Ok(target)
}

#[derive(Default)]
struct TargetFields {
    method: String,
    url: String,
    body: Vec<u8>,
    headers: Vec<(String, String)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Delimiter(u8),
    Text,
    /// A number, or `true` or `false`.
    Other,
    Null,
}

/// What the parser says.
type Fault = String;

struct Scanner<'a> {
    line: &'a [u8],
    /// What was not scanned yet begins here.
    at: usize,
    /// The token begins here.
    start: usize,
    /// Scanned, and not taken yet.
    token: Option<Token>,
    /// The last text or number, whatever came after it.
    value: Vec<u8>,
    /// Nothing stood in this object or list yet.
    is_first: bool,
    /// The comma or colon that must come next; 0 for none.
    separator: u8,
}

impl<'a> Scanner<'a> {
    fn new(line: &'a str) -> Self {
        let (line, value) = (line.as_bytes(), Vec::new());
        Self { line, at: 0, start: 0, token: None, value, is_first: false, separator: 0 }
    }

    /// The whole line.
    fn object(&mut self) -> Result<TargetFields, Fault> {
        let mut found = TargetFields::default();
        if self.peek()? == Token::Null {
            self.ends()?;
            return Ok(found);
        }
        self.delimiter(b'{')?;
        while self.peek()? != Token::Delimiter(b'}') {
            let key = self.text()?;
            self.expect(b':');
            if self.peek()? == Token::Null {
                self.token = None;
            } else {
                match key.as_str() {
                    "method" => found.method = self.text()?,
                    "url" => found.url = self.text()?,
                    "body" => found.body = self.base64()?,
                    "header" => found.headers = self.headers()?,
                    _ => self.skip()?,
                }
            }
            self.expect(b',');
        }
        self.delimiter(b'}')?;
        self.ends()?;
        Ok(found)
    }

    fn headers(&mut self) -> Result<Vec<(String, String)>, Fault> {
        let mut fields: Vec<(String, Vec<String>)> = Vec::new();
        self.delimiter(b'{')?;
        while self.peek()? != Token::Delimiter(b'}') {
            let name = self.text()?;
            self.expect(b':');
            let values = self.values()?;
            // A name given again has its last values.
            fields.retain(|(known, _)| *known != name);
            fields.push((name, values));
            self.expect(b',');
        }
        self.delimiter(b'}')?;
        let each = fields
            .into_iter()
            .flat_map(|(name, values)| values.into_iter().map(move |value| (name.clone(), value)));
        Ok(each.collect())
    }

    fn values(&mut self) -> Result<Vec<String>, Fault> {
        let mut values = Vec::new();
        if self.peek()? == Token::Null {
            self.token = None;
            return Ok(values);
        }
        self.delimiter(b'[')?;
        while self.peek()? != Token::Delimiter(b']') {
            values.push(self.text()?);
            self.expect(b',');
        }
        self.delimiter(b']')?;
        Ok(values)
    }

    /// What must stand before the next token.
    fn expect(&mut self, separator: u8) {
        (self.separator, self.is_first) = (separator, false);
    }

    /// The next token, which stays the next.
    fn peek(&mut self) -> Result<Token, Fault> {
        let token = match self.token {
            Some(token) => token,
            None => self.scan()?,
        };
        self.token = Some(token);
        Ok(token)
    }

    fn delimiter(&mut self, wanted: u8) -> Result<(), Fault> {
        if self.peek()? != Token::Delimiter(wanted) {
            return Err(self.unexpected(&char::from(wanted).to_string()));
        }
        self.token = None;
        Ok(())
    }

    /// A text, its escapes read.
    fn text(&mut self) -> Result<String, Fault> {
        if self.peek()? != Token::Text {
            return Err(self.unexpected("string"));
        }
        self.value = unescaped(&self.value).map_err(|reason| self.wrong(reason))?;
        self.token = None;
        Ok(String::from_utf8_lossy(&self.value).into_owned())
    }

    fn base64(&mut self) -> Result<Vec<u8>, Fault> {
        self.text()?;
        decoded(&self.value).map_err(|at| {
            format!("parse error: illegal base64 data at input byte {at} near offset 0 of ''")
        })
    }

    /// Passes over a value of whatever kind.
    fn skip(&mut self) -> Result<(), Fault> {
        let token = self.peek()?;
        self.token = None;
        let Token::Delimiter(open @ (b'{' | b'[')) = token else { return Ok(()) };
        let close = if open == b'{' { b'}' } else { b']' };
        let after =
            |reason: &str, at: usize| format!("parse error: {reason} near offset {at} of ''");
        let (end, len) = (end_of(&self.line[self.at..], open, close), self.line.len());
        let Some(end) = end else {
            return Err(after("EOF reached while skipping array/object or token", len));
        };
        self.at += end;
        match serde_json::from_slice::<IgnoredAny>(&self.line[self.start..self.at]) {
            Ok(_) => Ok(()),
            Err(_) => Err(after("skipped array/object json value is invalid", len)),
        }
    }

    /// Nothing but blanks follows.
    fn ends(&mut self) -> Result<(), Fault> {
        let rest = &self.line[self.at..];
        let blanks = rest.iter().take_while(|byte| b" \t\r\n".contains(byte)).count();
        let Some(byte) = rest.get(blanks) else { return Ok(()) };
        let (byte, at) = (char::from(*byte), self.at + blanks);
        let rest = String::from_utf8_lossy(&rest[blanks..]);
        Err(format!(
            "parse error: invalid character '{byte}' after top-level value near offset {at} of '{rest}'"
        ))
    }

    /// Scans the next token.
    fn scan(&mut self) -> Result<Token, Fault> {
        self.start = self.at;
        while let Some(&byte) = self.line.get(self.at) {
            match byte {
                b':' | b',' if self.separator == byte => self.separator = 0,
                b' ' | b'\t' | b'\r' | b'\n' => {}
                _ => return self.scan_value(byte),
            }
            self.at += 1;
            self.start = self.at;
        }
        Err("EOF".to_owned())
    }

    fn scan_value(&mut self, byte: u8) -> Result<Token, Fault> {
        let closes = matches!(byte, b'}' | b']');
        let is_due =
            if closes { self.is_first || self.separator == b',' } else { self.separator == 0 };
        if !is_due {
            return Err(self.wrong("syntax error"));
        }
        match byte {
            b'{' | b'[' | b'}' | b']' => {
                self.is_first = !closes;
                self.separator = 0;
                self.at += 1;
                Ok(Token::Delimiter(byte))
            }
            b'"' => self.scan_text(),
            b'0'..=b'9' | b'-' => self.scan_number(),
            b'n' => self.scan_word(b"null", Token::Null),
            b't' => self.scan_word(b"true", Token::Other),
            b'f' => self.scan_word(b"false", Token::Other),
            _ => Err(self.wrong("syntax error")),
        }
    }

    fn scan_text(&mut self) -> Result<Token, Fault> {
        self.at += 1;
        let rest = &self.line[self.at..];
        let mut escaped = false;
        let end = rest.iter().position(|&byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        let Some(end) = end else {
            self.at = self.line.len();
            return Err(self.wrong("unterminated string literal"));
        };
        self.value = rest[..end].to_vec();
        self.at += end + 1;
        Ok(Token::Text)
    }

    fn scan_number(&mut self) -> Result<Token, Fault> {
        let (mut exponent, mut sign, mut point) = (false, false, false);
        self.at += 1;
        while let Some(&byte) = self.line.get(self.at) {
            match byte {
                b'0'..=b'9' => sign = false,
                b'.' if !point => point = true,
                b'e' | b'E' if !exponent => (exponent, sign, point) = (true, true, true),
                b'+' | b'-' if sign => sign = false,
                _ if ends_token(byte) => break,
                _ => return Err(self.wrong("syntax error")),
            }
            self.at += 1;
        }
        self.value = self.line[self.start..self.at].to_vec();
        Ok(Token::Other)
    }

    fn scan_word(&mut self, word: &[u8], token: Token) -> Result<Token, Fault> {
        let rest = &self.line[self.at..];
        if !rest.starts_with(word) || rest.get(word.len()).is_some_and(|&byte| !ends_token(byte)) {
            return Err(self.wrong("syntax error"));
        }
        self.at += word.len();
        Ok(token)
    }

    /// The words for a line that is no JSON: with what follows, or with all of it near its end.
    fn wrong(&self, reason: &str) -> Fault {
        let rest = &self.line[self.at.min(self.line.len())..];
        let shown =
            if rest.len() <= SHOWN_MAX { String::from_utf8_lossy(self.line) } else { cut(rest) };
        format!("parse error: {reason} near offset {} of '{shown}'", self.at)
    }

    /// The words for JSON of another kind: with the last value.
    fn unexpected(&self, expected: &str) -> Fault {
        let value = &self.value;
        let shown =
            if value.len() <= SHOWN_MAX { String::from_utf8_lossy(value) } else { cut(value) };
        format!("parse error: expected {expected} near offset {} of '{shown}'", self.at)
    }
}

/// The most bytes that are shown whole.
const SHOWN_MAX: usize = 13;

fn cut(text: &[u8]) -> std::borrow::Cow<'_, str> {
    (String::from_utf8_lossy(&text[..SHOWN_MAX - 3]) + "...").into_owned().into()
}

fn ends_token(byte: u8) -> bool {
    b" \t\r\n[]{},:".contains(&byte)
}

/// Where a list or object that is open ends, its last byte included.
fn end_of(rest: &[u8], open: u8, close: u8) -> Option<usize> {
    let (mut level, mut quoted, mut escaped) = (1, false, false);
    for (at, &byte) in rest.iter().enumerate() {
        match byte {
            b'"' if !escaped => quoted = !quoted,
            _ if quoted => {}
            _ if byte == open => level += 1,
            _ if byte == close => level -= 1,
            _ => {}
        }
        escaped = quoted && byte == b'\\' && !escaped;
        if level == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// A text with its escapes decoded, or the error for a malformed one.
fn unescaped(text: &[u8]) -> Result<Vec<u8>, &'static str> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let (&letter, after) =
            rest.split_first().ok_or("incorrect escape symbol \\ at the end of token")?;
        rest = after;
        match letter {
            b'"' | b'/' | b'\\' => out.push(letter),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => {
                let (letter, len) = unit(rest).ok_or("incorrectly escaped \\uXXXX sequence")?;
                out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[len..];
            }
            _ => return Err("incorrectly escaped bytes"),
        }
    }
    Ok(out)
}

/// The letter of four hexadecimal digits, or of two such escapes that are one, and their length.
fn unit(rest: &[u8]) -> Option<(char, usize)> {
    let digits = |rest: &[u8]| {
        let text = std::str::from_utf8(rest.get(..4)?).ok()?;
        text.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(text, 16).ok())?
    };
    let high = digits(rest)?;
    let low = rest.get(4..).and_then(|rest| rest.strip_prefix(b"\\u")).and_then(digits);
    match low {
        Some(low) if (0xd800..0xdc00).contains(&high) && (0xdc00..0xe000).contains(&low) => {
            let both = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
            Some((char::from_u32(both)?, 10))
        }
        _ => Some((char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER), 4)),
    }
}

/// The bytes of base64 with its padding, or where Go finds it wrong. Line ends are passed over. RFC 4648, 4.
fn decoded(text: &[u8]) -> Result<Vec<u8>, usize> {
    let mut out = Vec::new();
    let (mut bits, mut have) = (0u32, 0);
    let mut letters = text.iter().enumerate().filter(|(_, byte)| !b"\r\n".contains(byte));
    while let Some((at, &byte)) = letters.next() {
        if byte == b'=' {
            let left = PartialGroup { bits, sextets: have };
            out.extend(padded(left, at, text.len(), letters)?);
            return Ok(out);
        }
        bits = (bits << 6) | u32::from(sextet(byte).ok_or(at)?);
        have += 1;
        if have == 4 {
            out.extend_from_slice(&bits.to_be_bytes()[1..]);
            (bits, have) = (0, 0);
        }
    }
    if have > 0 { Err(text.len() - have) } else { Ok(out) }
}

/// The bits of a group of base64 that is not whole.
#[derive(Clone, Copy)]
struct PartialGroup {
    bits: u32,
    sextets: usize,
}

/// The last bytes of base64 of this length, from the bits that are left and its first `=` on.
fn padded<'a>(
    left: PartialGroup,
    at: usize,
    len: usize,
    mut rest: impl Iterator<Item = (usize, &'a u8)>,
) -> Result<Vec<u8>, usize> {
    let last = match left.sextets {
        2 => match rest.next() {
            None => return Err(len),
            Some((at, &byte)) if byte != b'=' => return Err(at - 1),
            Some(_) => vec![(left.bits >> 4) as u8],
        },
        3 => ((left.bits >> 2) as u16).to_be_bytes().to_vec(),
        _ => return Err(at),
    };
    rest.next().map_or(Ok(last), |(at, _)| Err(at))
}

fn sextet(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_vegeta_lets_pass() {
        let line = r#" {"x":{"a":["]}\"",{}]},"y":true,"z":1e5,"method":"P\u004fST","url":"http:\/\/a/\ud83d\ude00",
            "body":"aG\nk=","header":{"A":["1","2"],"B":null,"A":["3"],"C":[]},"name":null} "#;
        let target = target(&line.replace('\n', " ")).unwrap_or_else(|kind| panic!("{kind:?}"));
        assert_eq!((target.method.as_str(), target.url.as_str()), ("POST", "http://a/\u{1f600}"));
        assert_eq!(target.headers, [("A".to_owned(), "3".to_owned())]);
        assert_eq!(target.body.as_deref(), Some(&b"hi"[..]));
    }

    /// Vegeta 12.13 of each of these lines.
    #[test]
    fn what_vegeta_says() {
        let cases = [
            ("x", "syntax error near offset 0 of 'x'"),
            (r#"{"method":1,"url":"u"}"#, "expected string near offset 11 of '1'"),
            (
                r#"{"url":"u","body":"!"}"#,
                "illegal base64 data at input byte 0 near offset 0 of ''",
            ),
            (
                r#"{"url":"u","body":"aGk"}"#,
                "illegal base64 data at input byte 0 near offset 0 of ''",
            ),
            (r#"{"url":"http://h/","header":{"a":"b"}}"#, "expected [ near offset 36 of 'b'"),
            (r#"{"url":"http://h/","header":["a"]}"#, "expected { near offset 29 of 'header'"),
            ("[]", "expected { near offset 1 of ''"),
            ("\"x\"", "expected { near offset 3 of 'x'"),
            ("true", "expected { near offset 4 of ''"),
            ("12", "expected { near offset 2 of '12'"),
            (r#"{}x"#, "invalid character 'x' after top-level value near offset 2 of 'x'"),
            (
                r#"{"method":"GET" "url":"u"}"#,
                "syntax error near offset 16 of '{\"method\":\"GET\" \"url\":\"u\"}'",
            ),
            (
                r#"{"method":"GET" "url":"http://h/"}"#,
                "syntax error near offset 16 of '\"url\":\"htt...'",
            ),
            (r#"{"url":"u",}"#, "syntax error near offset 11 of '{\"url\":\"u\",}'"),
            (
                r#"{"method":"GE\x","url":"u"}"#,
                "incorrectly escaped bytes near offset 16 of '{\"method\":\"GE\\x\",\"url\":\"u\"}'",
            ),
            (r#"{"url":"u"#, "unterminated string literal near offset 9 of '{\"url\":\"u'"),
            (r#"{"x":[1,]}"#, "skipped array/object json value is invalid near offset 10 of ''"),
            (r#"{"x":[1"#, "EOF reached while skipping array/object or token near offset 7 of ''"),
        ];
        for (line, says) in cases {
            let Err(ProblemKind::Json { reason }) = target(line) else { panic!("{line}") };
            assert_eq!(reason, format!("parse error: {says}"), "{line}");
        }
        for line in ["{", r#"{"url":"u""#] {
            assert_eq!(target(line), Err(ProblemKind::Json { reason: "EOF".to_owned() }));
        }
        assert_eq!(target("null"), Err(ProblemKind::NoMethod));
        assert_eq!(target(r#"{"METHOD":"GET","url":"u"}"#), Err(ProblemKind::NoMethod));
    }

    #[test]
    fn base64_is_gos() {
        for (text, bytes) in
            [("", &b""[..]), ("aGk=", b"hi"), ("aGl=", b"hi"), ("aA==", b"h"), ("aA=\n=\n", b"h")]
        {
            assert_eq!(decoded(text.as_bytes()).as_deref(), Ok(bytes), "{text:?}");
        }
        for (text, at) in
            [("a", 0), ("aGkx!", 4), ("=", 0), ("a=", 1), ("aA=", 3), ("aA=x", 2), ("aA==x", 4)]
        {
            assert_eq!(decoded(text.as_bytes()), Err(at), "{text:?}");
        }
    }
}
