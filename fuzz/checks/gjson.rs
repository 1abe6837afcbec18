//! A path of GJSON's on the first line, then a JSON text: what the path names is JSON as well.

#[allow(dead_code, clippy::needless_pass_by_value, reason = "its users are in its own crate")]
#[path = "../../crates/script/src/api/http/select.rs"]
mod select;

/// What the path names in the text.
///
/// # Panics
/// It is no JSON.
pub(crate) fn check(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (path, json) = text.split_once('\n')?;
    let named = select::select(json, path)?;
    let parsed = serde_json::from_str::<serde::de::IgnoredAny>(&named);
    assert!(parsed.is_ok(), "{path} names {named}");
    Some(named.into_owned())
}
