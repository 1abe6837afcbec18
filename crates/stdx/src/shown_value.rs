//! Values that are wrong, as messages show them: `found "…"`. What stands there may be anything, also a URL with a password or a
//! header with a credential that was mistyped.

use std::borrow::Cow;

use crate::redaction::{MARK, names_secret_field};
use crate::shown_url::url_without_secrets;

/// A value that was found where another was expected: passwords of URLs and of `USER:PASSWORD@HOST`, values of queries that say that
/// they are secrets, and what follows the name of a credential have become `***`.
#[must_use]
pub fn shown_value(text: &str) -> Cow<'_, str> {
    let (mut shown, mut at) = (String::new(), 0);
    for word in text.split_inclusive(char::is_whitespace) {
        if let Some(begin) = credential(word)
            && !text[at + begin..].trim().is_empty()
        {
            return Cow::Owned(shown + &word[..begin] + MARK);
        }
        shown.push_str(&without_secret(word));
        at += word.len();
    }
    if shown == text { Cow::Borrowed(text) } else { Cow::Owned(shown) }
}

/// A message with its values, which stand in quotation marks, as [`shown_value`] shows them.
#[must_use]
pub fn shown_message(text: &str) -> Cow<'_, str> {
    let parts: Vec<Cow<'_, str>> = text
        .split('"')
        .enumerate()
        .map(|(at, part)| if at % 2 == 1 { shown_value(part) } else { Cow::Borrowed(part) })
        .collect();
    match parts.iter().all(|part| matches!(part, Cow::Borrowed(_))) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(parts.join("\"")),
    }
}

/// The reason why a command failed: as [`shown_message`], and URLs outside of quotation marks without their secrets.
#[must_use]
pub fn shown_error(text: &str) -> Cow<'_, str> {
    let message = shown_message(text);
    if !message.contains("://") && !message.contains('@') {
        return message;
    }
    let words = message.split_inclusive(ENDS);
    let shown: String = words.map(without_secret).collect();
    if shown == text { Cow::Borrowed(text) } else { Cow::Owned(shown) }
}

/// A word without the password of a URL, or of what is written like the beginning of one.
fn without_secret(word: &str) -> Cow<'_, str> {
    if !word.contains(['@', '=', '#']) {
        return Cow::Borrowed(word);
    }
    let body = word.trim_end_matches(ENDS);
    let shown = without_user(url_without_secrets(body));
    Cow::Owned(shown + &word[body.len()..])
}

/// With what words end.
const ENDS: [char; 7] = [' ', '\n', '\t', '\'', '"', '(', ')'];

/// What has no scheme without the password before its `@`.
fn without_user(shown: String) -> String {
    if shown.contains("://") {
        return shown;
    }
    let hidden = shown.rfind('@').and_then(|at| {
        let colon = shown[..at].rfind("//").map_or(0, |slashes| slashes + 2);
        let colon = colon + shown[colon..at].find(':')?;
        let is_hidden = shown[colon..at].bytes().all(|byte| b":*".contains(&byte));
        (!is_hidden).then(|| format!("{}:{MARK}{}", &shown[..colon], &shown[at..]))
    });
    hidden.unwrap_or(shown)
}

/// Where the secret begins that a word names: behind `token=` or `"password":`, or behind all of `Authorization` and `Bearer`, whose
/// secrets are the words that follow.
fn credential(word: &str) -> Option<usize> {
    let end = word.find([':', '=']).unwrap_or(word.trim_end().len());
    let name = word[..end].trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
    let is_one =
        names_secret_field(name) || SCHEMES.iter().any(|scheme| scheme.eq_ignore_ascii_case(name));
    is_one.then(|| word.len().min(end + 1))
}

/// Schemes of the field `Authorization`, before their credentials.
const SCHEMES: [&str; 4] = ["Bearer", "Basic", "Digest", "Negotiate"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issue_42_no_value_that_is_found_shows_a_secret() {
        for (text, expect) in [
            ("Authorization Bearer abc", "Authorization ***"),
            ("authorization", "authorization"),
            ("X-Api-Key=abc def", "X-Api-Key=***"),
            ("Bearer abc", "Bearer ***"),
            ("{\"authorization\": \"abc", "{\"authorization\":***"),
            ("GET password:abc", "GET password:***"),
            ("u:pw@h:p", "u:***@h:p"),
            ("::u:pw@x", ":***@x"),
            ("ht!tp://u:pw@x:y/?a=b", "ht!tp://u:***@x:y/?a=b"),
            ("http://u:pw@h:1/?token=abc&a=b", "http://u:***@h:1/?token=***&a=b"),
            ("FOO http://u:pw@h/", "FOO http://u:***@h/"),
            ("u:***@h", "u:***@h"),
            ("no field", "no field"),
            ("5 parsecs", "5 parsecs"),
            ("a@b", "a@b"),
            ("", ""),
        ] {
            assert_eq!(shown_value(text), expect, "{text}");
        }
    }

    #[test]
    fn issue_42_messages_and_errors_hide_what_they_name() {
        for (text, message, error) in [
            ("found \"Cookie a=b; c=d\" (nothing)", "found \"Cookie ***\" (nothing)", None),
            ("\"u:pw@h\" is no address", "\"u:***@h\" is no address", None),
            ("the password of u is wrong", "the password of u is wrong", None),
            (
                "http://u:pw@h/s.js?token=abc: no such file",
                "http://u:pw@h/s.js?token=abc: no such file",
                Some("http://u:***@h/s.js?token=*** no such file"),
            ),
            (
                "import x from 'https://u:pw@h/m.js?api_key=abc';",
                "import x from 'https://u:pw@h/m.js?api_key=abc';",
                Some("import x from 'https://u:***@h/m.js?api_key=***';"),
            ),
            ("open \"token abc", "open \"token ***", None),
        ] {
            assert_eq!(shown_message(text), message);
            assert_eq!(shown_error(text), error.unwrap_or(message));
        }
    }
}
