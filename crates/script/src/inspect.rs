//! `inspect`: a value as k6's console writes it.

use rquickjs::{Array, Object, Type, Value};

/// Deeper than this, values are `...`.
const DEPTH_MAX: usize = 16;

/// A value as k6's console writes it: strings raw, what holds others with one space inside its brackets.
pub(crate) fn inspect(value: &Value<'_>) -> String {
    match value.as_string() {
        Some(text) => text.to_string().unwrap_or_default(),
        None => nested(value, &mut Vec::new()),
    }
}

/// A value inside of `above`, the objects around it.
fn nested<'js>(value: &Value<'js>, above: &mut Vec<Object<'js>>) -> String {
    match value.type_of() {
        Type::String => {
            let text = value.as_string().and_then(|text| text.to_string().ok());
            format!("\"{}\"", text.unwrap_or_default())
        }
        Type::Undefined if above.is_empty() => "undefined".to_owned(),
        Type::Null | Type::Undefined | Type::Uninitialized => "null".to_owned(),
        Type::Bool => value.as_bool().unwrap_or_default().to_string(),
        Type::Function | Type::Constructor => "[object Function]".to_owned(),
        Type::Symbol => "Symbol()".to_owned(),
        _ => match value.as_object() {
            Some(object) => within(object, above),
            None => plain(value),
        },
    }
}

/// What JavaScript itself makes of a value.
fn plain(value: &Value<'_>) -> String {
    let text = value.get::<rquickjs::Coerced<String>>();
    text.map_or_else(|_| "[object]".to_owned(), |text| text.0)
}

fn within<'js>(object: &Object<'js>, above: &mut Vec<Object<'js>>) -> String {
    if above.contains(object) {
        return "[Circular]".to_owned();
    }
    if above.len() == DEPTH_MAX {
        return "...".to_owned();
    }
    if object.is_error() {
        return plain(object.as_value());
    }
    above.push(object.clone());
    let response = crate::modules::fields_of(object);
    let object = response.as_ref().unwrap_or(object);
    let text = match object.as_array() {
        Some(array) => listed(array, above),
        None => fields(object, above),
    };
    above.pop();
    text
}

fn listed<'js>(array: &Array<'js>, above: &mut Vec<Object<'js>>) -> String {
    let items = array.iter::<Value<'js>>().filter_map(Result::ok);
    let items: Vec<String> = items.map(|item| nested(&item, above)).collect();
    bracketed("[", &items, "]")
}

fn fields<'js>(object: &Object<'js>, above: &mut Vec<Object<'js>>) -> String {
    let fields = object.props::<String, Value<'js>>().filter_map(Result::ok);
    let fields: Vec<String> =
        fields.map(|(name, value)| format!("{name}: {}", nested(&value, above))).collect();
    bracketed("{", &fields, "}")
}

fn bracketed(open: &str, items: &[String], close: &str) -> String {
    if items.is_empty() {
        format!("{open}{close}")
    } else {
        format!("{open} {} {close}", items.join(", "))
    }
}
