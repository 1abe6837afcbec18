//! The tags of a row: a JSON object whose values are texts, such as `{"group":"::cart","scenario":"buyers"}`.

use std::collections::BTreeMap;

use serde_json::Value;

/// These tags as a row has them, by name; the last value of a name counts. Empty without tags.
#[must_use]
pub fn row_tags<'a>(tags: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let tags: BTreeMap<&str, &str> = tags.collect();
    if tags.is_empty() { String::new() } else { serde_json::json!(tags).to_string() }
}

/// The value of a tag in the text of a row; `None` where it has none of this name.
#[must_use]
pub fn row_tag(text: &str, name: &str) -> Option<String> {
    match serde_json::from_str::<Value>(text).ok()?.get_mut(name)?.take() {
        Value::String(value) => Some(value),
        Value::Null => None,
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_found_in_the_text() {
        let tags = [("scenario", "buyers"), ("a\"b", "x\n"), ("scenario", "sellers"), ("none", "")];
        let text = row_tags(tags.into_iter());
        assert_eq!(text, r#"{"a\"b":"x\n","none":"","scenario":"sellers"}"#);
        assert_eq!(row_tag(&text, "scenario").as_deref(), Some("sellers"));
        assert_eq!(row_tag(&text, "a\"b").as_deref(), Some("x\n"));
        assert_eq!(row_tag(&text, "none").as_deref(), Some(""));
        assert_eq!(row_tag(&text, "group"), None);
        for foreign in ["", "[]", "7", "{"] {
            assert_eq!(row_tag(foreign, "group"), None, "{foreign}");
        }
        assert_eq!(row_tag(r#"{"vu":7}"#, "vu").as_deref(), Some("7"));
        assert_eq!(row_tags(std::iter::empty()), "");
    }
}
