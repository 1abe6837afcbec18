//! An example of a message's JSON: every field once, so that one can be written by filling it in.

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use serde_json::{Map, Value, json};

/// How deep messages are shown in messages.
const DEPTH_MAX: usize = 6;

/// An example of a message's JSON. A message that contains itself is shown once.
#[must_use]
pub fn json_template(message: &MessageDescriptor) -> Value {
    of_message(message, &mut Vec::new())
}

fn of_message(message: &MessageDescriptor, above: &mut Vec<String>) -> Value {
    if let Some(known) = well_known(message.full_name()) {
        return known;
    }
    if above.len() >= DEPTH_MAX || above.iter().any(|name| name == message.full_name()) {
        return json!({});
    }
    above.push(message.full_name().to_owned());
    let mut object = Map::new();
    for field in message.fields().filter(is_shown) {
        object.insert(field.json_name().to_owned(), of_field(&field, above));
    }
    above.pop();
    Value::Object(object)
}

/// Of a oneof only one field may be set.
fn is_shown(field: &FieldDescriptor) -> bool {
    let Some(one) = field.containing_oneof() else { return true };
    one.fields().next().is_none_or(|first| first.number() == field.number())
}

fn of_field(field: &FieldDescriptor, above: &mut Vec<String>) -> Value {
    match field.kind() {
        Kind::Message(entry) if entry.is_map_entry() => {
            let value = entry.get_field_by_name("value");
            let value = value.map_or(Value::Null, |value| of_kind(&value.kind(), above));
            let is_text =
                entry.get_field_by_name("key").is_none_or(|key| matches!(key.kind(), Kind::String));
            json!({ if is_text { "" } else { "0" }: value })
        }
        kind if field.is_list() => json!([of_kind(&kind, above)]),
        kind => of_kind(&kind, above),
    }
}

fn of_kind(kind: &Kind, above: &mut Vec<String>) -> Value {
    match kind {
        Kind::Message(message) => of_message(message, above),
        Kind::Enum(of) => of.values().next().map_or(json!(0), |value| json!(value.name())),
        Kind::Bool => json!(false),
        Kind::String | Kind::Bytes => json!(""),
        // protojson writes them as texts: a number of JavaScript has not their digits.
        Kind::Int64 | Kind::Uint64 | Kind::Sint64 | Kind::Fixed64 | Kind::Sfixed64 => json!("0"),
        _ => json!(0),
    }
}

/// Messages whose JSON is no object of their fields.
fn well_known(name: &str) -> Option<Value> {
    Some(match name.strip_prefix("google.protobuf.")? {
        "Timestamp" => json!("2006-01-02T15:04:05Z"),
        "Duration" => json!("0s"),
        "FieldMask" | "StringValue" | "BytesValue" => json!(""),
        "BoolValue" => json!(false),
        "Int64Value" | "UInt64Value" => json!("0"),
        "Int32Value" | "UInt32Value" | "DoubleValue" | "FloatValue" => json!(0),
        "Any" => json!({"@type": "type.googleapis.com/google.protobuf.Empty", "value": {}}),
        "Struct" | "Empty" => json!({}),
        "Value" => Value::Null,
        "ListValue" => json!([]),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use grpc::json;

    use super::*;
    use crate::method::tests::{SHOP, definitions};

    #[test]
    fn an_example_can_be_sent() {
        let message = definitions(SHOP).message("shop.v1.Item").expect("a message");
        let example = json_template(&message);
        let expect =
            r#"{"by":{"":"GREY"},"count":"0","flag":false,"name":"","parts":[{}],"price":0}"#;
        assert_eq!(example.to_string(), expect);
        assert!(json::decode(&example.to_string(), &message).is_ok());
    }
}
