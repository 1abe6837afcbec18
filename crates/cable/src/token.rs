//! Tokens: what a message carries so that it is known again, wherever in its text a server puts it. Letters and digits
//! alone, since neither JSON nor MessagePack writes those in another way.

use std::fmt::Write as _;

/// What tokens begin with.
const WORD: &str = "brunt";
/// Digits of each number in a token.
const DIGITS: usize = 8;
/// The word and the run's number.
const MARK_LEN: usize = WORD.len() + DIGITS;
/// A whole token.
const TOKEN_LEN: usize = MARK_LEN + 2 * DIGITS;

/// What all tokens of a run begin with: another run's are not taken for ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunToken([u8; MARK_LEN]);

/// Which message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// The message's number.
    pub(crate) number: u32,
    /// The number of the user that sent it, from 0.
    pub(crate) user: u32,
}

impl RunToken {
    /// The mark of a run with this seed.
    pub(crate) fn of_run(seed: u64) -> Self {
        let text = format!("{WORD}{:08x}", stdx::mix(seed, 0) as u32);
        let mut mark = [0; MARK_LEN];
        mark.copy_from_slice(text.as_bytes());
        Self(mark)
    }

    /// Writes a token over what `out` held.
    pub(crate) fn write(self, token: Token, out: &mut String) {
        out.clear();
        out.extend(self.0.iter().map(|byte| char::from(*byte)));
        // Writing to a String cannot fail.
        let _ = write!(out, "{:08x}{:08x}", token.number, token.user);
    }

    /// The tokens in a message, in their order.
    pub(crate) fn tokens(self, message: &[u8]) -> impl Iterator<Item = Token> + '_ {
        let mut rest = message;
        std::iter::from_fn(move || {
            loop {
                let at = rest.windows(MARK_LEN).position(|window| window == self.0)?;
                let token = rest.get(at..at + TOKEN_LEN).and_then(token);
                rest = &rest[at + MARK_LEN..];
                if token.is_some() {
                    return token;
                }
            }
        })
    }
}

/// The numbers behind a mark.
fn token(bytes: &[u8]) -> Option<Token> {
    let text = std::str::from_utf8(&bytes[MARK_LEN..]).ok()?;
    let number = |digits: &str| u32::from_str_radix(digits, 16).ok();
    let (first, second) = text.split_at_checked(DIGITS)?;
    Some(Token { number: number(first)?, user: number(second)? })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens(seed: u64, message: &[u8]) -> Vec<Token> {
        RunToken::of_run(seed).tokens(message).collect()
    }

    #[test]
    fn what_is_no_token_of_ours_is_none() {
        let mut text = String::new();
        RunToken::of_run(1).write(Token { number: 42, user: 7 }, &mut text);
        assert_eq!(text.len(), TOKEN_LEN);
        assert_eq!(tokens(2, text.as_bytes()), [], "another run's");
        for cut in 0..TOKEN_LEN {
            assert_eq!(tokens(1, &text.as_bytes()[..cut]), [], "cut at {cut}");
        }
        let spoilt = format!("{}zzzzzzzzzzzzzzzz {text}", &text[..MARK_LEN]);
        assert_eq!(tokens(1, spoilt.as_bytes()), [Token { number: 42, user: 7 }]);
    }

    proptest! {
        #[test]
        fn tokens_are_found_wherever_they_stand(
            numbers in proptest::collection::vec(any::<(u32, u32)>(), 0..4),
            noise in proptest::collection::vec(any::<u8>(), 0..40),
            seed: u64,
        ) {
            let (mut message, mut text) = (noise.clone(), String::new());
            for (number, user) in &numbers {
                RunToken::of_run(seed).write(Token { number: *number, user: *user }, &mut text);
                message.extend_from_slice(text.as_bytes());
                message.extend_from_slice(&noise);
            }
            let expect: Vec<Token> =
                numbers.iter().map(|(number, user)| Token { number: *number, user: *user }).collect();
            prop_assert_eq!(tokens(seed, &message), expect);
        }
    }
}
