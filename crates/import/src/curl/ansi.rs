//! `$'…'` of the shell: bytes and characters by number.

use super::bash::Lexer;
use crate::ImportError;

impl Lexer<'_, '_> {
    /// `$'…'`: bytes by number may form UTF-8 together.
    pub(super) fn ansi_quoted(&mut self, out: &mut String) -> Result<(), ImportError> {
        let line = self.line;
        self.at += 2;
        let mut bytes: Vec<u8> = vec![];
        let push = |bytes: &mut Vec<u8>, char: char| {
            bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        };
        loop {
            match self.next() {
                Some('\'') => break,
                Some('\\') => {
                    let Some(char) = self.next() else { return Err(self.unclosed(line, '\'')) };
                    match char {
                        'n' => bytes.push(b'\n'),
                        'r' => bytes.push(b'\r'),
                        't' => bytes.push(b'\t'),
                        'a' => bytes.push(7),
                        'b' => bytes.push(8),
                        'f' => bytes.push(12),
                        'v' => bytes.push(11),
                        'e' | 'E' => bytes.push(27),
                        'x' => bytes.push(u8::try_from(self.number(16, 2)).unwrap_or(b'?')),
                        'u' => push(&mut bytes, self.escaped_unit()),
                        'U' => push(
                            &mut bytes,
                            char::from_u32(self.number(16, 8)).unwrap_or('\u{fffd}'),
                        ),
                        '0'..='7' => {
                            self.at -= 1;
                            bytes.push((self.number(8, 3) & 0xff) as u8);
                        }
                        other if "\\'\"?".contains(other) => push(&mut bytes, other),
                        other => {
                            bytes.push(b'\\');
                            push(&mut bytes, other);
                        }
                    }
                }
                Some(char) => push(&mut bytes, char),
                None => return Err(self.unclosed(line, '\'')),
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if matches!(text, std::borrow::Cow::Owned(_)) {
            let problem = "the bytes of $'…' are no text: those are sent as U+FFFD".to_owned();
            self.out.problems.push((line, problem));
        }
        out.push_str(&text);
        Ok(())
    }

    /// `\uXXXX`; Chrome writes what lies above as two of them.
    fn escaped_unit(&mut self) -> char {
        let first = self.number(16, 4);
        if (0xd800..0xdc00).contains(&first) && self.takes("\\u") {
            let second = self.number(16, 4);
            let joined =
                0x1_0000 + ((first - 0xd800) << 10) + (second.wrapping_sub(0xdc00) & 0x3ff);
            return char::from_u32(joined).unwrap_or('\u{fffd}');
        }
        char::from_u32(first).unwrap_or('\u{fffd}')
    }

    fn number(&mut self, radix: u32, digits: usize) -> u32 {
        let mut number = 0;
        for _ in 0..digits {
            let Some(digit) = self.peek().and_then(|char| char.to_digit(radix)) else { break };
            number = number * radix + digit;
            self.next();
        }
        number
    }
}
