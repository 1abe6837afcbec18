//! A value in a list of a page: what stands before it stands before the items above it as well, so its number finds it again.

use super::surroundings::{is_made_up, is_word, right_of};
use crate::Between;

/// How far to the left of a value the text that finds it may begin, in bytes.
const LEFT_BYTES_MAX: usize = 80;
/// How many items may stand before the one that is taken.
const ITEMS_MAX: usize = 200;

/// What stands around the item at `start..end` of a text, and how many places before it have the same on their left.
pub(super) fn item_at(text: &str, start: usize, end: usize) -> Option<(Between, usize)> {
    let is_inside = text[..start].ends_with(is_word) || text[end..].starts_with(is_word);
    if is_inside {
        return None;
    }
    let left = stable_left(&text[..start])?;
    let from = start - left.len();
    let mut places = text.match_indices(left).take(ITEMS_MAX).map(|(at, _)| at);
    let nth = places.position(|at| at == from)?;
    let right = right_of(text, start, end).filter(|right| !right.is_empty())?;
    Some((Between { left: left.to_owned(), right }, nth))
}

/// The end of `before`, from the tag or the line on that it ends in, without what another session has otherwise.
fn stable_left(before: &str) -> Option<&str> {
    let mut from = before.len().saturating_sub(LEFT_BYTES_MAX);
    while !before.is_char_boundary(from) {
        from += 1;
    }
    let near = &before[from..];
    let near = near.rfind(['<', '\n']).map_or(near, |at| &near[at..]);
    let mut left = near.trim_start_matches(|char: char| from > 0 && is_word(char));
    if near.starts_with(['<', '\n']) {
        left = near;
    }
    while is_made_up(left) {
        left = after_first_part(left);
    }
    let has_name = left.bytes().any(|byte| byte.is_ascii_alphabetic());
    (left.len() >= 3 && has_name).then_some(left)
}

/// The text behind its first run of letters and digits.
fn after_first_part(text: &str) -> &str {
    let is_part = |char: char| is_word(char) || "-_".contains(char);
    let start = text.find(is_part).unwrap_or(text.len());
    text[start..].trim_start_matches(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nth(text: &str, value: &str) -> Option<(String, usize)> {
        let start = text.rfind(value)?;
        let (between, nth) = item_at(text, start, start + value.len())?;
        Some((between.left, nth))
    }

    #[test]
    fn items_are_counted_by_what_stands_before_them() {
        let list = "<li><a href=\"/p/95eeaade700a\">P</a><li><a href=\"/p/4c123b1612\">P</a><li><a href=\"/p/b3216fdaee\">P</a>";
        assert_eq!(nth(list, "b3216fdaee"), Some(("<a href=\"/p/".to_owned(), 2)));
        assert_eq!(nth(list, "95eeaade700a"), Some(("<a href=\"/p/".to_owned(), 0)));
        let rows = "<tr data-account=\"23896512\"><a href=\"/accounts/23896512/view\"><tr data-account=\"23896513\"><a href=\"/accounts/23896513/view\">";
        assert_eq!(nth(rows, "23896513"), Some(("<a href=\"/accounts/".to_owned(), 1)));
        // What is made up on the left is no part of it.
        let pairs = "x = {k: 'a8f3b2c1d0e9', v: 'T05g0VL1goK'}";
        assert_eq!(nth(pairs, "T05g0VL1goK"), Some(("', v: '".to_owned(), 0)));
        assert_eq!(nth("a8f3b2c1d0e9/95eeaade700a", "95eeaade700a"), None);
        assert_eq!(nth("<a href=\"/p/x95eeaade700a", "95eeaade700a"), None);
    }
}
