//! What a value looks like: whether a server may have made it up.

/// The look of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Look {
    /// Words, addresses, times, single digits: the same in every session unless its name says otherwise.
    Word,
    /// A number of two digits or more.
    Number,
    /// A short prefix with a number: `N-3657`, `r17`.
    Code,
    /// Made up: a token, a UUID, a key, a digest.
    Random,
}

/// The look of a value.
pub(super) fn look(value: &str) -> Look {
    let length = value.len();
    if value.bytes().all(|byte| byte.is_ascii_digit()) {
        return if length >= 2 { Look::Number } else { Look::Word };
    }
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"<>\"'{}[]()\\^|,;@?&".contains(&byte);
    if length < 2 || !value.bytes().all(plain) || value.contains("://") || value.starts_with('/') {
        return Look::Word;
    }
    let parts = || value.split(['-', '_', '.', ':', '/']).filter(|part| !part.is_empty());
    if is_date(value) {
        return Look::Word;
    }
    if is_code(value) {
        return Look::Code;
    }
    if length >= 6 && parts().any(is_mixture) {
        return Look::Random;
    }
    let longest = parts().map(str::len).max().unwrap_or(0);
    if longest >= 20 { Look::Random } else { Look::Word }
}

/// The letters of a word and the digits of a number in one: `95eeaade700a`, `fljoQoaF1LlqsajA`.
fn is_mixture(part: &str) -> bool {
    let count = |test: fn(&u8) -> bool| part.bytes().filter(test).count();
    let digits = count(u8::is_ascii_digit);
    let upper = count(u8::is_ascii_uppercase);
    let lower = count(u8::is_ascii_lowercase);
    let is_mixed = digits > 0 && upper + lower > 0;
    // Letters and then digits is a name with a number (`page12`, `engine1843`).
    let trimmed = part.trim_end_matches(|char: char| char.is_ascii_digit());
    let is_name = trimmed.bytes().all(|byte| byte.is_ascii_lowercase()) && part.len() < 16;
    let turns = part
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
        .count();
    let is_hump = upper > 0 && lower > 0 && turns * 4 >= part.len() && part.len() >= 8;
    (is_mixed && !is_name && part.len() >= 5)
        || is_hump
        || (part.len() >= 12 && turns >= 3 && upper * 5 >= lower)
}

/// At most four letters, perhaps a separator, and two digits or more.
fn is_code(value: &str) -> bool {
    let letters = value.bytes().take_while(u8::is_ascii_alphabetic).count();
    let rest = value[letters..].trim_start_matches(['-', '_']);
    (1..=4).contains(&letters) && rest.len() >= 2 && rest.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_date(value: &str) -> bool {
    let bytes = value.as_bytes();
    bytes.len() >= 10
        && bytes[4] == b'-'
        && bytes[7] == b'-'
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && (bytes.len() == 10 || bytes[10] == b'T')
}

/// Whether a number stands hardly ever for something else than what an answer gave it for: no year, nothing round.
pub(super) fn is_rare(number: &str) -> bool {
    let is_year = number.len() == 4 && (number.starts_with("19") || number.starts_with("20"));
    number.len() >= 4 && !is_year && !number.ends_with("00")
}

/// Whether a server may have made up a name in a path, though it looks like a word: more than small letters, and some letter.
pub(super) fn may_be_made(value: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    value.len() >= 4
        && value.bytes().all(is_part)
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !value.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Letters, and behind them a number of three digits or more: `ORD-3654`, `room3655`.
pub(super) fn is_numbered(value: &str) -> bool {
    let stem = value.trim_end_matches(|char: char| char.is_ascii_digit());
    let letters = stem.trim_end_matches(['-', '_']);
    value.len() - stem.len() >= 3
        && !letters.is_empty()
        && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Whether a name is that of one thing of a list: `jobs` and `job`, `categories` and `category`.
pub(super) fn is_named(list: &str, one: &str) -> bool {
    let ends = [("ies", "y"), ("es", ""), ("s", "")];
    ends.iter().any(|(many, few)| {
        let stem = list.strip_suffix(many).filter(|stem| !stem.is_empty());
        stem.is_some_and(|stem| is_same_name(&format!("{stem}{few}"), one))
    })
}

/// Whether it is a UUID of version 4, as browsers make them.
pub(super) fn is_uuid4(value: &str) -> bool {
    let bytes = value.as_bytes();
    bytes.len() == 36
        && bytes[14] == b'4'
        && matches!(bytes[19].to_ascii_lowercase(), b'8' | b'9' | b'a' | b'b')
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Whether a name is one of things that a server makes up.
pub(super) fn is_token_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    TOKEN_WORDS.iter().any(|word| name.contains(word)) || TOKEN_NAMES.contains(&name.as_str())
}

const TOKEN_WORDS: &[&str] = &[
    "csrf",
    "xsrf",
    "token",
    "nonce",
    "signature",
    "viewstate",
    "eventvalidation",
    "cursor",
    "ticket",
    "secret",
    "form_key",
    "formkey",
    "session",
];

const TOKEN_NAMES: &[&str] = &[
    "state",
    "code",
    "sig",
    "sid",
    "key",
    "after",
    "before",
    "etag",
    "lt",
    "execution",
    "tx",
    "_key",
];

/// Whether a name is one of an identifier: `id`, `order_id`, `orderId`, `uuid`.
pub(super) fn is_id_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let last = lower.rsplit(['_', '-', '.', '[']).next().unwrap_or_default();
    ID_NAMES.contains(&last.trim_end_matches(']')) || ID_ENDS.iter().any(|end| name.ends_with(end))
}

const ID_NAMES: &[&str] = &[
    "id", "ids", "uuid", "guid", "key", "number", "no", "nr", "code", "version", "rev", "revision",
    "seq", "ref", "slug", "handle", "lock",
];

const ID_ENDS: &[&str] = &["Id", "ID", "Key", "Number", "Version"];

/// Whether two names mean the same: `csrf-token` and `X-CSRF-Token`.
pub(super) fn is_same_name(a: &str, b: &str) -> bool {
    let plain = |name: &str| -> String {
        let name = name.to_ascii_lowercase();
        let name = name.strip_prefix("x-").unwrap_or(&name);
        name.chars().filter(char::is_ascii_alphanumeric).collect()
    };
    let (a, b) = (plain(a), plain(b));
    !a.is_empty() && a == b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_servers_make_up_looks_so() {
        for (value, expect) in [
            ("b2f14c94-2e05-419a-8b5c-74273f98e277", Look::Random),
            ("T05g0VL1goK_Jmr4yjXpcCfC1pggxIWDUvQN", Look::Random),
            ("fljoQoaF1LlqsajA", Look::Random),
            ("95eeaade700a", Look::Random),
            ("4c123b1612", Look::Random),
            ("k_G8NPRVdD5", Look::Random),
            ("SplxlOBuvSwMFLZDe1f8rESQedU-_", Look::Random),
            ("3657", Look::Number),
            ("17", Look::Number),
            ("N-3657", Look::Code),
            ("r3659", Look::Code),
            ("5", Look::Word),
            ("red-shoes-42", Look::Word),
            ("application/json", Look::Word),
            ("ada@todo.example", Look::Word),
            ("engine-1843", Look::Word),
            ("engine1843", Look::Word),
            ("https://pics.example/1a2b3c4d5e.png", Look::Word),
            ("2026-11-27T04:10:09Z", Look::Word),
            ("authorization_code", Look::Word),
            ("XMLHttpRequest", Look::Word),
        ] {
            assert_eq!(look(value), expect, "{value}");
        }
        assert!(is_rare("4711") && !is_rare("2026") && !is_rare("5000") && !is_rare("471"));
        assert!(may_be_made("job-SrCGIZEG") && may_be_made("Qwertzu") && !may_be_made("settings"));
        assert!(!may_be_made("2024-01") && !may_be_made("v1.2"));
        assert!(is_numbered("ORD-3654") && is_numbered("room3655") && !is_numbered("page12"));
        assert!(!is_numbered("3654") && !is_numbered("a-b-123"));
        assert!(is_named("jobs", "job") && is_named("categories", "category"));
        assert!(!is_named("jobs", "jobs") && !is_named("s", ""));
        assert!(is_uuid4("f12954f5-25db-4c7e-b5f8-7448ed765676"));
        assert!(!is_uuid4("f12954f5-25db-1c7e-b5f8-7448ed765676"));
    }

    #[test]
    fn names_are_compared_by_their_letters() {
        assert!(is_same_name("csrf-token", "X-CSRF-Token"));
        assert!(is_same_name("access_token", "accessToken"));
        assert!(!is_same_name("id", "item"));
        assert!(is_id_name("item_id") && is_id_name("orderId") && is_id_name("version"));
        assert!(!is_id_name("price") && is_token_name("authenticity_token"));
    }
}
