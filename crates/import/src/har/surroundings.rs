//! What stands around a value in a text, and finds it in another text of the kind.

use super::look::{Look, look};

/// A letter or a digit, which may be a part of the value.
pub(super) fn is_word(char: char) -> bool {
    char.is_ascii_alphanumeric()
}

/// What ends the value: the shortest text behind it that it does not have in itself.
pub(super) fn right_of(text: &str, start: usize, end: usize) -> Option<String> {
    let value = &text[start..end];
    let mut right = String::new();
    for char in text[end..].chars().take(12) {
        right.push(char);
        if !value.contains(&right) {
            break;
        }
    }
    if right.is_empty() {
        return Some(right);
    }
    (!value.contains(&right)).then(|| stop(&right, value))
}

/// The shortest text before the value that stands first in the whole text at that place, if nothing in it is made up.
pub(super) fn left_of(text: &str, start: usize) -> Option<&str> {
    let mut from = start;
    let mut left = "";
    for char in text[..start].chars().rev().take(200) {
        from -= char.len_utf8();
        left = &text[from..start];
        let is_start = !text[..from].ends_with(is_word) || !char.is_ascii_alphanumeric();
        if left.len() >= 3 && is_start && text.find(left) == Some(from) {
            break;
        }
    }
    let is_first = !left.is_empty() && text.find(left) == Some(from);
    (is_first && !is_made_up(left)).then_some(left)
}

/// The shortest end of `right` that ends the value: its last character alone if the value has none of them.
fn stop(right: &str, value: &str) -> String {
    let last = right.chars().next().map(String::from).unwrap_or_default();
    if value.contains(&last) { right.to_owned() } else { last }
}

/// Whether a part of a text is another in each session.
pub(super) fn is_made_up(text: &str) -> bool {
    let is_break = |char: char| !(char.is_ascii_alphanumeric() || "-_".contains(char));
    text.split(is_break).any(|part| {
        let found = look(part);
        found == Look::Random || (found == Look::Number && part.len() >= 3)
    })
}
