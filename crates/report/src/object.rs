//! JSON under construction: objects with their keys in a fixed order, and lists.

use crate::escape;
use crate::number::go_json;

/// The quantiles of a distribution and their keys.
pub(crate) const QUANTILE_KEYS: [(&str, f64); 7] = [
    ("50th", 0.5),
    ("75th", 0.75),
    ("90th", 0.9),
    ("95th", 0.95),
    ("99th", 0.99),
    ("99.9th", 0.999),
    ("99.99th", 0.9999),
];

/// An object under construction: keys in the order they are put.
pub(crate) struct Object(String);

impl Object {
    pub(crate) fn new() -> Self {
        Self(String::new())
    }

    /// Puts a key with a value that is JSON already.
    pub(crate) fn put(mut self, key: &str, value: impl AsRef<str>) -> Self {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0.push_str(&escape::json(key));
        self.0.push(':');
        self.0.push_str(value.as_ref());
        self
    }

    pub(crate) fn number(self, key: &str, value: u64) -> Self {
        self.put(key, value.to_string())
    }

    pub(crate) fn float(self, key: &str, value: f64) -> Self {
        self.put(key, go_json(value))
    }

    pub(crate) fn text(self, key: &str, value: &str) -> Self {
        self.put(key, escape::json(value))
    }

    pub(crate) fn end(self) -> String {
        if self.0.is_empty() { "{}".to_owned() } else { self.0 + "}" }
    }
}

/// A JSON list of values that are JSON already.
pub(crate) fn json_list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}
