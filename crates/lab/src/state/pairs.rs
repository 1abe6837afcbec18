//! Names with values, as lists of pairs in JSON.

use serde_json::{Value, json};

/// `[["name", "value"], …]`.
pub(crate) fn pairs_to_json(list: &[(String, String)]) -> Value {
    list.iter().map(|(name, value)| json!([name, value])).collect()
}

/// The pairs of such a list; `None` for anything else.
pub(crate) fn pairs_from_json(list: &Value) -> Option<Vec<(String, String)>> {
    let pair = |pair: &Value| Some((pair[0].as_str()?.to_owned(), pair[1].as_str()?.to_owned()));
    list.as_array()?.iter().map(pair).collect()
}
