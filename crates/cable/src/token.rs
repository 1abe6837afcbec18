//! Tokens: what a message carries so that it is known again, wherever in its text a server puts it. Letters and digits
//! alone, since neither JSON nor MessagePack writes those in another way.

use std::fmt::Write as _;

use stdx::Nanos;

/// What tokens begin with.
const WORD: &str = "brunt";
/// Digits of each number in a token.
const DIGITS: usize = 8;
/// The word and the run's number.
const MARK_LEN: usize = WORD.len() + DIGITS;
/// A whole token.
const TOKEN_LEN: usize = MARK_LEN + 2 * DIGITS;
/// Digits of the time in a token, where it has one.
const TIME_DIGITS: usize = 16;

/// What all tokens of a run begin with: another run's are not taken for ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunToken {
    mark: [u8; MARK_LEN],
    /// Tokens say when they were sent: other machines have to know it.
    has_time: bool,
}

/// Which message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// The message's number.
    pub(crate) number: u32,
    /// The number of the user that sent it, from 0.
    pub(crate) user: u32,
    /// When it was sent, where several machines share the run; else 0.
    pub(crate) sent: Nanos,
}

impl RunToken {
    /// The mark of a run with this seed, on one machine.
    pub(crate) fn of_run(seed: u64) -> Self {
        let text = format!("{WORD}{:08x}", stdx::mix(seed, 0) as u32);
        let mut mark = [0; MARK_LEN];
        mark.copy_from_slice(text.as_bytes());
        Self { mark, has_time: false }
    }

    /// The same where several machines share the run.
    pub(crate) fn with_times(self) -> Self {
        Self { has_time: true, ..self }
    }

    fn token_len(self) -> usize {
        if self.has_time { TOKEN_LEN + TIME_DIGITS } else { TOKEN_LEN }
    }

    /// Writes a token over what `out` held.
    pub(crate) fn write(self, token: Token, out: &mut String) {
        out.clear();
        out.extend(self.mark.iter().map(|byte| char::from(*byte)));
        // Writing to a String cannot fail.
        let _ = write!(out, "{:08x}{:08x}", token.number, token.user);
        if self.has_time {
            let _ = write!(out, "{:016x}", token.sent.0);
        }
    }

    /// The tokens in a message, in their order.
    pub(crate) fn tokens(self, message: &[u8]) -> impl Iterator<Item = Token> + '_ {
        let mut rest = message;
        std::iter::from_fn(move || {
            loop {
                let at = rest.windows(MARK_LEN).position(|window| window == self.mark)?;
                let token = rest.get(at..at + self.token_len()).and_then(token);
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
    let (first, rest) = text.split_at_checked(DIGITS)?;
    let (second, time) = rest.split_at_checked(DIGITS)?;
    let sent = if time.is_empty() { 0 } else { u64::from_str_radix(time, 16).ok()? };
    Some(Token { number: number(first)?, user: number(second)?, sent: Nanos(sent) })
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
        RunToken::of_run(1).write(Token { number: 42, user: 7, sent: Nanos::ZERO }, &mut text);
        assert_eq!(text.len(), TOKEN_LEN);
        assert_eq!(tokens(2, text.as_bytes()), [], "another run's");
        for cut in 0..TOKEN_LEN {
            assert_eq!(tokens(1, &text.as_bytes()[..cut]), [], "cut at {cut}");
        }
        let spoilt = format!("{}zzzzzzzzzzzzzzzz {text}", &text[..MARK_LEN]);
        assert_eq!(
            tokens(1, spoilt.as_bytes()),
            [Token { number: 42, user: 7, sent: Nanos::ZERO }]
        );
    }

    #[test]
    fn tokens_of_several_machines_say_when_they_were_sent() {
        let (run, mut text) = (RunToken::of_run(1).with_times(), String::new());
        let token = Token { number: 42, user: 7, sent: Nanos(u64::MAX - 1) };
        run.write(token, &mut text);
        assert_eq!(text.len(), TOKEN_LEN + TIME_DIGITS);
        let found: Vec<Token> = run.tokens(format!("x{text}y{text}").as_bytes()).collect();
        assert_eq!(found, [token, token]);
        assert_eq!(run.tokens(&text.as_bytes()[..TOKEN_LEN]).count(), 0);
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
                RunToken::of_run(seed).write(Token { number: *number, user: *user, sent: Nanos::ZERO }, &mut text);
                message.extend_from_slice(text.as_bytes());
                message.extend_from_slice(&noise);
            }
            let expect: Vec<Token> =
                numbers.iter().map(|(number, user)| Token { number: *number, user: *user, sent: Nanos::ZERO }).collect();
            prop_assert_eq!(tokens(seed, &message), expect);
        }
    }
}
