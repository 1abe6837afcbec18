//! Texts that may name URLs, as they may be shown: names of checks, values of tags, selectors of metrics.

use std::borrow::Cow;

use crate::shown_url::{redacted_message, shown_url, without_password};

/// A text of words, with the URLs in it as [`shown_url`] shows them.
#[must_use]
pub fn shown_text(text: &str) -> Cow<'_, str> {
    match without_passwords(text) {
        None => Cow::Borrowed(text),
        Some(shown) => Cow::Owned(redacted_message(&shown).unwrap_or(shown)),
    }
}

/// A metric or a gate with a selector, `http_reqs{page:http://…}`, whose values are shown as those of the samples are that they
/// select.
#[must_use]
pub fn shown_selector(text: &str) -> Cow<'_, str> {
    let Some((begin, end)) = text.find('{').zip(text.rfind('}')).filter(|(begin, end)| begin < end)
    else {
        return shown_text(text);
    };
    let pairs: Vec<Cow<'_, str>> = text[begin + 1..end].split(',').map(shown_pair).collect();
    if pairs.iter().all(|pair| matches!(pair, Cow::Borrowed(_))) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}{}{}", &text[..=begin], pairs.join(","), &text[end..]))
}

/// `name:value`, whose value may stand in quotation marks.
fn shown_pair(pair: &str) -> Cow<'_, str> {
    let Some((name, value)) = pair.split_once(':') else { return Cow::Borrowed(pair) };
    let inside = value.trim().trim_matches(['"', '\'']);
    let shown = match name.trim() {
        "check" | "group" => shown_text(inside),
        _ => shown_url(inside),
    };
    match shown {
        shown if inside.is_empty() || shown == inside => Cow::Borrowed(pair),
        shown => Cow::Owned(format!("{name}:{}", value.replacen(inside, &shown, 1))),
    }
}

/// A text of another's as far as a message shows it: no more than so many bytes, and `…` where that is not all.
#[must_use]
pub fn cut_text(text: &str, bytes_max: usize) -> Cow<'_, str> {
    if text.len() <= bytes_max {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", &text[..text.floor_char_boundary(bytes_max)]))
}

/// The text without passwords; `None` where it names neither one nor a key.
fn without_passwords(text: &str) -> Option<String> {
    let words = || text.split_inclusive([' ', '"', '\'', '\n', '\t']).map(without_password);
    text.contains(['@', '=']).then(|| words().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_of_urls_are_hidden() {
        for (text, expect) in [
            ("http://u:pw@h/ is up", "http://u:***@h/ is up"),
            ("is \"http://u:pw@h/\"", "is \"http://u:***@h/\""),
            ("a\thttp://u:pw@h/", "a\thttp://u:***@h/"),
            ("status is 200", "status is 200"),
        ] {
            assert_eq!(shown_text(text), expect);
            assert_eq!(shown_url(text), expect);
        }
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        for (text, expect) in [("", ""), ("abcd", "abcd"), ("abcde", "abcd…"), ("abcé", "abc…")]
        {
            assert_eq!(cut_text(text, 4), expect);
        }
    }

    #[test]
    fn values_of_selectors_are_hidden() {
        for (text, expect) in [
            ("http_reqs", "http_reqs"),
            ("http_reqs{name:http://****:****@h/}", "http_reqs{name:http://****:****@h/}"),
            ("t{page:http://u:pw@h/}", "t{page:http://u:***@h/}"),
            ("t{page: \"http://u:pw@h\",a:b}", "t{page: \"http://u:***@h\",a:b}"),
            ("p99{page:http://u:pw@h/}>1s", "p99{page:http://u:***@h/}>1s"),
            ("checks{check:http://u:pw@h is up}", "checks{check:http://u:***@h is up}"),
            ("checks{check:http://u:pw@h", "checks{check:http://u:***@h"),
            ("t{}", "t{}"),
            ("}{", "}{"),
            ("t{a:}", "t{a:}"),
        ] {
            assert_eq!(shown_selector(text), expect);
        }
    }
}
