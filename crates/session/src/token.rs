//! `Token`: the secret in the URL of a page, which only those have who were given the URL.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};

/// Characters of a token: 128 bits in hexadecimal.
const CHARS: usize = 32;

/// A secret of 128 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A new one.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub fn new() -> io::Result<Self> {
        let mut bytes = [0; CHARS / 2];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        let mut text = String::with_capacity(CHARS);
        for byte in bytes {
            write!(text, "{byte:02x}").expect("a String takes any text");
        }
        Ok(Self(text))
    }

    /// The token as text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether it stands among pairs `name=value` with this between them: of a query.
    #[must_use]
    pub fn is_in(&self, pairs: &str, between: char, name: &str) -> bool {
        let pairs = pairs.split(between).filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(known, _)| *known == name).any(|(_, value)| self.is(value))
    }

    /// Whether a text is it. The comparison takes the same time wherever two differ.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        let differ = |all: u8, (a, b): (u8, u8)| all | (a ^ b);
        text.len() == CHARS && text.bytes().zip(self.0.bytes()).fold(0, differ) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_by_its_name() {
        let (token, other) = (Token::new().unwrap(), Token::new().unwrap());
        assert_ne!(token, other);
        let text = token.text();
        assert!(token.is(text) && !token.is("xyz"));
        assert!(token.is_in(&format!("a=b&token={text}"), '&', "token"));
        for pairs in ["", "token=", "token", &*format!("tok={text}"), &*format!("token={text}x")] {
            assert!(!token.is_in(pairs, '&', "token"), "{pairs}");
        }
        assert!(!token.is_in(&format!("token={}", other.text()), '&', "token"));
    }
}
