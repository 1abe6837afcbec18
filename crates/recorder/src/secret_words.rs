//! Which names say that their value is a secret, and which values are long enough to be looked for beside their own place.

use stdx::{names_secret, names_secret_field};

/// The shortest secret that is looked for in texts beside its own place, in characters: a shorter one stands there by chance.
const SEARCHED_CHARS_MIN: usize = 8;
/// The same of one without a digit.
const SEARCHED_WORD_CHARS_MIN: usize = 16;
/// Last words of names of secrets, beside those that every command knows.
const LAST_WORDS: [&str; 10] =
    ["pw", "psw", "pswd", "passw", "passwort", "kennwort", "contrasena", "cvv", "cvc", "cvv2"];

/// Whether the value of a field, a parameter or a member of this name is a secret, whatever it is.
pub(crate) fn names_value_secret(name: &str) -> bool {
    let last =
        name.rsplit(|char: char| !char.is_ascii_alphanumeric()).find(|word| !word.is_empty());
    let is_own = |last: &str| {
        LAST_WORDS.iter().any(|word| last.eq_ignore_ascii_case(word)) || last.ends_with("Pw")
    };
    names_secret(name) || last.is_some_and(is_own)
}

/// Whether it may be one: `key`, `auth`, `session` and the like name other things too.
pub(crate) fn may_name_secret(name: &str) -> bool {
    names_value_secret(name) || names_secret_field(name)
}

/// Whether a secret is looked for in texts: a short one, or a word, stands there by chance.
pub(crate) fn is_searched(secret: &str) -> bool {
    let len = secret.chars().take(SEARCHED_WORD_CHARS_MIN).count();
    let has_digit = || secret.contains(|char: char| char.is_ascii_digit());
    len == SEARCHED_WORD_CHARS_MIN || (len >= SEARCHED_CHARS_MIN && has_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_secret_surely_or_perhaps() {
        for (name, surely, perhaps) in [
            ("pw", true, true),
            ("user[pw]", true, true),
            ("userPw", true, true),
            ("Passwort", true, true),
            ("password", true, true),
            ("auth", false, true),
            ("session", false, true),
            ("key", false, true),
            ("Sec-WebSocket-Key", false, false),
            ("keyboard", false, false),
            ("page", false, false),
            ("", false, false),
        ] {
            assert_eq!(
                (names_value_secret(name), may_name_secret(name)),
                (surely, perhaps),
                "{name}"
            );
        }
    }

    #[test]
    fn short_values_and_words_are_not_searched() {
        for (value, expect) in [
            ("abc123", false),
            ("abcd1234", true),
            ("abcdefghijklmno", false),
            ("abcdefghijklmnop", true),
            ("", false),
        ] {
            assert_eq!(is_searched(value), expect, "{value}");
        }
    }
}
