//! Values of a collection as texts.

use serde_json::Value;

use crate::Text;

/// A member that is a text.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// A value as the text that it is replaced by.
pub(super) fn value_text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// A header field's value: line ends in it would end the field.
pub(super) fn in_one_line(value: &Text) -> Text {
    crate::variables::encoded_for(value, |text| text.replace(['\r', '\n'], " "))
}
