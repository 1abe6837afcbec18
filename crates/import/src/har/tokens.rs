//! Tokens of a text: its runs of letters and digits, by which answers and requests are compared.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Runs of letters and digits; escapes of addresses and of JSON are no part of them.
pub(super) fn tokens_of(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            match bytes[at] {
                b'%' if bytes.len() > at + 2 => at += 3,
                b'\\' if bytes.get(at + 1) == Some(&b'u') => at += 6,
                b'\\' => at += 2,
                byte if byte.is_ascii_alphanumeric() => {
                    let start = at;
                    while bytes.get(at).is_some_and(u8::is_ascii_alphanumeric) {
                        at += 1;
                    }
                    return text.get(start..at);
                }
                _ => at += 1,
            }
        }
        None
    })
}

pub(super) fn hash(token: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    token.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_the_same_in_every_writing() {
        let tokens = |text| tokens_of(text).collect::<Vec<_>>();
        assert_eq!(tokens("a/b9+=="), ["a", "b9"]);
        assert_eq!(tokens("a%2Fb9%2B%3D"), ["a", "b9"]);
        assert_eq!(tokens("a\\u002fb9\\/c"), ["a", "b9", "c"]);
        assert_eq!(tokens("\u{fc}a%2"), ["a", "2"]);
    }
}
