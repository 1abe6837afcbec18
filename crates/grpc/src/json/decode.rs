//! Messages from JSON.

use prost_reflect::prost::Message as _;
use prost_reflect::{
    DynamicMessage, FieldDescriptor, Kind as FieldKind, MessageDescriptor, ReflectMessage as _,
    Value,
};

use super::scalar::{NULL_VALUE, kind_name, map_key, scalar};
use super::time::{Moment, parse_duration, parse_timestamp};
use super::tree::{JsonError, Kind, Name, Node, Source};
use super::well_known::{is_well_known, is_wrapper, own_name};

/// A message of this type from JSON text.
///
/// # Errors
/// The text is no JSON, or does not fit: the place and the reason, in protojson's words.
pub fn decode(text: &str, of: &MessageDescriptor) -> Result<DynamicMessage, JsonError> {
    let source = Source(text);
    let node = source.parse()?;
    let message = message(&source, &node, of)?;
    check_required(&message)?;
    Ok(message)
}

/// A message from a value.
fn message(
    source: &Source<'_>,
    node: &Node,
    of: &MessageDescriptor,
) -> Result<DynamicMessage, JsonError> {
    if let Some(known) = well_known(source, node, of) {
        return known;
    }
    let Kind::Object(members) = &node.kind else { return Err(source.unexpected(node)) };
    let mut message = DynamicMessage::new(of.clone());
    set_fields(source, members, &mut message)?;
    Ok(message)
}

/// Sets fields from the members of an object.
fn set_fields<'a>(
    source: &Source<'_>,
    members: impl IntoIterator<Item = &'a (Name, Node)>,
    message: &mut DynamicMessage,
) -> Result<(), JsonError> {
    let mut seen = Vec::new();
    let mut oneofs = Vec::new();
    for (name, node) in members {
        let of = message.descriptor();
        let field = of.get_field_by_json_name(&name.text);
        let Some(field) = field.or_else(|| of.get_field_by_name(&name.text)) else {
            let what = format!("unknown field {}", source.raw_name(name));
            return Err(source.value_error(name.start, what));
        };
        if seen.contains(&field.number()) {
            let what = format!("duplicate field {}", source.raw_name(name));
            return Err(source.value_error(name.start, what));
        }
        seen.push(field.number());
        if matches!(node.kind, Kind::Null) && !takes_null(&field) {
            continue;
        }
        if let Some(oneof) = field.containing_oneof() {
            if oneofs.contains(&oneof.full_name().to_owned()) {
                let what = format!(
                    "error parsing {}, oneof {} is already set",
                    source.raw_name(name),
                    oneof.full_name()
                );
                return Err(source.value_error(name.start, what));
            }
            oneofs.push(oneof.full_name().to_owned());
        }
        let value = field_value(source, node, &field)?;
        message.set_field(&field, value);
    }
    Ok(())
}

/// Whether null is a value of the field, and not its absence.
fn takes_null(field: &FieldDescriptor) -> bool {
    if field.is_list() || field.is_map() {
        return false;
    }
    match field.kind() {
        FieldKind::Message(of) => of.full_name() == "google.protobuf.Value",
        FieldKind::Enum(of) => of.full_name() == NULL_VALUE,
        _ => false,
    }
}

fn field_value(
    source: &Source<'_>,
    node: &Node,
    field: &FieldDescriptor,
) -> Result<Value, JsonError> {
    if field.is_list() {
        return list(source, node, field);
    }
    if field.is_map() {
        return map(source, node, field);
    }
    single(source, node, field)
}

/// One value of a field.
fn single(source: &Source<'_>, node: &Node, field: &FieldDescriptor) -> Result<Value, JsonError> {
    let kind = field.kind();
    if let FieldKind::Message(of) = &kind {
        return Ok(Value::Message(message(source, node, of)?));
    }
    scalar(source, node, &kind).ok_or_else(|| {
        let (kind, name) = (kind_name(&kind), field.json_name());
        let what = format!("invalid value for {kind} field {name}: {}", source.raw(node));
        source.value_error(node.start, what)
    })
}

/// The values of a field that has several.
fn list(source: &Source<'_>, node: &Node, field: &FieldDescriptor) -> Result<Value, JsonError> {
    let Kind::Array(items) = &node.kind else { return Err(source.unexpected(node)) };
    let items = items.iter().map(|item| single(source, item, field));
    Ok(Value::List(items.collect::<Result<_, _>>()?))
}

/// The entries of a map.
fn map(source: &Source<'_>, node: &Node, field: &FieldDescriptor) -> Result<Value, JsonError> {
    let Kind::Object(members) = &node.kind else { return Err(source.unexpected(node)) };
    let FieldKind::Message(entry) = field.kind() else { return Err(source.unexpected(node)) };
    let (key_of, value_of) = (entry.map_entry_key_field().kind(), entry.map_entry_value_field());
    let mut all = std::collections::HashMap::new();
    for (name, node) in members {
        let Some(key) = map_key(&name.text, &key_of) else {
            let what =
                format!("invalid value for {} key: {}", kind_name(&key_of), source.raw_name(name));
            return Err(source.value_error(name.start, what));
        };
        if all.contains_key(&key) {
            let what = format!("duplicate map key {}", source.raw_name(name));
            return Err(source.value_error(name.start, what));
        }
        all.insert(key, single(source, node, &value_of)?);
    }
    Ok(Value::Map(all))
}

/// The fields of proto2 that must be set are, in the message and in those inside it.
fn check_required(message: &DynamicMessage) -> Result<(), JsonError> {
    for field in message.descriptor().fields() {
        if field.is_required() && !message.has_field(&field) {
            return Err(JsonError::Required(field.full_name().to_owned()));
        }
    }
    message.fields().try_for_each(|(_, value)| check_value(value))
}

fn check_value(value: &Value) -> Result<(), JsonError> {
    match value {
        Value::Message(message) => check_required(message),
        Value::List(items) => items.iter().try_for_each(check_value),
        Value::Map(entries) => entries.values().try_for_each(check_value),
        _ => Ok(()),
    }
}

/// A message of such a type; `None` of other types.
fn well_known(
    source: &Source<'_>,
    node: &Node,
    of: &MessageDescriptor,
) -> Option<Result<DynamicMessage, JsonError>> {
    Some(match own_name(of)? {
        "Any" => any(source, node, of),
        "Duration" => moment(source, node, of, parse_duration),
        "Timestamp" => moment(source, node, of, parse_timestamp),
        "FieldMask" => field_mask(source, node, of),
        "Struct" => with_field(of, 1, |field| map(source, node, field)),
        "ListValue" => with_field(of, 1, |field| list(source, node, field)),
        "Value" => value(source, node, of),
        name if is_wrapper(name) => with_field(of, 1, |field| single(source, node, field)),
        _ => return None,
    })
}

/// A message of which one field is set.
fn with_field(
    of: &MessageDescriptor,
    number: u32,
    value: impl FnOnce(&FieldDescriptor) -> Result<Value, JsonError>,
) -> Result<DynamicMessage, JsonError> {
    let mut message = DynamicMessage::new(of.clone());
    if let Some(field) = of.get_field(number) {
        message.set_field(&field, value(&field)?);
    }
    Ok(message)
}

fn moment(
    source: &Source<'_>,
    node: &Node,
    of: &MessageDescriptor,
    parse: fn(&str) -> Option<Moment>,
) -> Result<DynamicMessage, JsonError> {
    let Kind::String(text) = &node.kind else { return Err(source.unexpected(node)) };
    let Some(Moment { seconds, nanos }) = parse(text) else {
        let what = format!("invalid {} value {}", of.full_name(), source.raw(node));
        return Err(source.value_error(node.start, what));
    };
    let mut message = DynamicMessage::new(of.clone());
    message.set_field_by_number(1, Value::I64(seconds));
    message.set_field_by_number(2, Value::I32(nanos));
    Ok(message)
}

fn field_mask(
    source: &Source<'_>,
    node: &Node,
    of: &MessageDescriptor,
) -> Result<DynamicMessage, JsonError> {
    let Kind::String(text) = &node.kind else { return Err(source.unexpected(node)) };
    let mut paths = Vec::new();
    for path in text.trim().split(',').filter(|_| !text.trim().is_empty()) {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.';
        if path.is_empty() || !path.chars().all(is_part) {
            let what = format!("{}.paths contains invalid path: {path:?}", of.full_name());
            return Err(source.value_error(node.start, what));
        }
        paths.push(Value::String(snake_case(path)));
    }
    let mut message = DynamicMessage::new(of.clone());
    message.set_field_by_number(1, Value::List(paths));
    Ok(message)
}

fn snake_case(path: &str) -> String {
    let mut out = String::new();
    for c in path.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

fn value(
    source: &Source<'_>,
    node: &Node,
    of: &MessageDescriptor,
) -> Result<DynamicMessage, JsonError> {
    let number = match node.kind {
        Kind::Null => 1,
        Kind::Number => 2,
        Kind::String(_) => 3,
        Kind::Bool(_) => 4,
        Kind::Object(_) => 5,
        Kind::Array(_) => 6,
    };
    with_field(of, number, |field| single(source, node, field))
}

fn any(
    source: &Source<'_>,
    node: &Node,
    of: &MessageDescriptor,
) -> Result<DynamicMessage, JsonError> {
    let Kind::Object(members) = &node.kind else { return Err(source.unexpected(node)) };
    let mut message = DynamicMessage::new(of.clone());
    if members.is_empty() {
        return Ok(message);
    }
    let Some((_, at)) = members.iter().find(|(name, _)| name.text == "@type") else {
        return Err(source.value_error(node.start, "missing \"@type\" field".to_owned()));
    };
    let Kind::String(url) = &at.kind else {
        let what = format!("@type field value is not a string: {}", source.raw(at));
        return Err(source.value_error(at.start, what));
    };
    let name = url.rsplit('/').next().unwrap_or(url);
    let Some(inner) = of.parent_pool().get_message_by_name(name) else {
        let what = format!("unable to resolve {}: \"not found\"", source.raw(at));
        return Err(source.value_error(at.start, what));
    };
    let inner = embedded(source, node, members, &inner)?;
    message.set_field_by_number(1, Value::String(url.clone()));
    message.set_field_by_number(2, Value::Bytes(inner.encode_to_vec().into()));
    Ok(message)
}

fn embedded(
    source: &Source<'_>,
    node: &Node,
    members: &[(Name, Node)],
    of: &MessageDescriptor,
) -> Result<DynamicMessage, JsonError> {
    let others = members.iter().filter(|(name, _)| name.text != "@type");
    if !is_well_known(of) {
        let mut inner = DynamicMessage::new(of.clone());
        set_fields(source, others, &mut inner)?;
        return Ok(inner);
    }
    let mut inner = None;
    for (name, at) in others {
        if name.text != "value" {
            let what = format!("unknown field {}", source.raw_name(name));
            return Err(source.value_error(name.start, what));
        }
        inner = Some(message(source, at, of)?);
    }
    inner.ok_or_else(|| source.value_error(node.start, "missing \"value\" field".to_owned()))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
