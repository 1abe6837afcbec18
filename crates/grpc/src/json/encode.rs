//! Messages as JSON, unset fields among them.

use base64::Engine as _;
use prost_reflect::{
    DynamicMessage, EnumDescriptor, FieldDescriptor, Kind as FieldKind, MapKey, MessageDescriptor,
    ReflectMessage as _, Syntax, Value,
};

use super::scalar::NULL_VALUE;
use super::time::{Moment, format_duration, format_timestamp};
use super::tree::JsonError;
use super::well_known::{is_well_known, is_wrapper, own_name};

/// How messages inside an `Any` are found by their names.
type Resolve<'a> = &'a dyn Fn(&str) -> Option<MessageDescriptor>;

/// The JSON of a message.
///
/// # Errors
/// A time is out of range, or an `Any` holds an unknown type.
pub fn encode(message: &DynamicMessage) -> Result<String, JsonError> {
    let pool = message.descriptor().parent_pool().clone();
    encode_with(message, &|name| pool.get_message_by_name(name))
}

/// The same with another way to find what an `Any` holds.
pub(crate) fn encode_with(
    message: &DynamicMessage,
    resolve: Resolve<'_>,
) -> Result<String, JsonError> {
    let mut writer = Writer { out: String::new(), resolve, nested: 0 };
    writer.message(message)?;
    Ok(writer.out)
}

/// The JSON of what an `Any` holds.
///
/// # Errors
/// The type is unknown, or the bytes are none of its messages.
pub(crate) fn encode_any(
    url: &str,
    bytes: &[u8],
    resolve: Resolve<'_>,
) -> Result<String, JsonError> {
    let mut writer = Writer { out: String::new(), resolve, nested: 0 };
    writer.any(url, bytes)?;
    Ok(writer.out)
}

/// So many messages may stand in each other. Each `Any` is decoded by itself, so that the decoder's own limit begins anew in it; it counts
/// twice, for itself and for what it holds, so that a hundred of them may stand in each other.
const NESTED_MAX: u32 = 200;

struct Writer<'a> {
    out: String,
    resolve: Resolve<'a>,
    /// The messages that it is inside of.
    nested: u32,
}

impl Writer<'_> {
    fn text(&mut self, text: &str) {
        self.out.push_str(&serde_json::to_string(text).unwrap_or_default());
    }

    fn message(&mut self, message: &DynamicMessage) -> Result<(), JsonError> {
        let of = message.descriptor();
        self.go_deeper(of.full_name())?;
        if is_well_known(&of) {
            self.well_known(message, &of)?;
        } else {
            self.out.push('{');
            self.fields(message)?;
            self.out.push('}');
        }
        self.nested -= 1;
        Ok(())
    }

    /// One message more stands around what comes next.
    fn go_deeper(&mut self, name: &str) -> Result<(), JsonError> {
        if self.nested >= NESTED_MAX {
            return Err(JsonError::Unwritable(format!("{name}: exceeded max recursion depth")));
        }
        self.nested += 1;
        Ok(())
    }

    /// The members of an object, after what stands in it already.
    fn fields(&mut self, message: &DynamicMessage) -> Result<(), JsonError> {
        for field in message.descriptor().fields() {
            let is_set = message.has_field(&field);
            if !is_set && field.containing_oneof().is_some() {
                continue;
            }
            self.separate('{');
            self.text(field.json_name());
            self.out.push(':');
            if !is_set && is_null_where_unset(&field) {
                self.out.push_str("null");
            } else {
                self.field(&message.get_field(&field), &field)?;
            }
        }
        Ok(())
    }

    /// A comma, unless nothing stands before.
    fn separate(&mut self, open: char) {
        if !self.out.ends_with(open) {
            self.out.push(',');
        }
    }

    fn field(&mut self, value: &Value, field: &FieldDescriptor) -> Result<(), JsonError> {
        match value {
            Value::List(items) => {
                self.out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        self.out.push(',');
                    }
                    self.single(item, &field.kind())?;
                }
                self.out.push(']');
                Ok(())
            }
            Value::Map(entries) => {
                let FieldKind::Message(entry) = field.kind() else { return Ok(()) };
                let kind = entry.map_entry_value_field().kind();
                let mut entries: Vec<_> =
                    entries.iter().map(|(key, value)| (key_text(key), value)).collect();
                entries.sort_unstable_by(|one, other| one.0.cmp(&other.0));
                self.out.push('{');
                for (at, (key, value)) in entries.into_iter().enumerate() {
                    if at > 0 {
                        self.out.push(',');
                    }
                    self.text(&key);
                    self.out.push(':');
                    self.single(value, &kind)?;
                }
                self.out.push('}');
                Ok(())
            }
            single => self.single(single, &field.kind()),
        }
    }

    fn single(&mut self, value: &Value, kind: &FieldKind) -> Result<(), JsonError> {
        match value {
            Value::Bool(value) => self.out.push_str(&value.to_string()),
            Value::I32(value) => self.out.push_str(&value.to_string()),
            Value::U32(value) => self.out.push_str(&value.to_string()),
            Value::I64(value) => self.text(&value.to_string()),
            Value::U64(value) => self.text(&value.to_string()),
            Value::F32(value) => self.float(f64::from(*value), &value.to_string()),
            Value::F64(value) => self.float(*value, &value.to_string()),
            Value::String(text) => self.text(text),
            Value::Bytes(bytes) => {
                let text = base64::engine::general_purpose::STANDARD.encode(bytes);
                self.text(&text);
            }
            Value::EnumNumber(number) => self.enumerated(*number, kind.as_enum()),
            Value::Message(message) => return self.message(message),
            Value::List(_) | Value::Map(_) => {}
        }
        Ok(())
    }

    fn float(&mut self, value: f64, text: &str) {
        match value {
            value if value.is_nan() => self.out.push_str("\"NaN\""),
            f64::INFINITY => self.out.push_str("\"Infinity\""),
            f64::NEG_INFINITY => self.out.push_str("\"-Infinity\""),
            _ => self.out.push_str(text),
        }
    }

    fn enumerated(&mut self, number: i32, of: Option<&EnumDescriptor>) {
        match of {
            Some(of) if of.full_name() == NULL_VALUE => self.out.push_str("null"),
            Some(of) => match of.get_value(number) {
                Some(value) => self.text(value.name()),
                None => self.out.push_str(&number.to_string()),
            },
            None => self.out.push_str(&number.to_string()),
        }
    }

    fn well_known(
        &mut self,
        message: &DynamicMessage,
        of: &MessageDescriptor,
    ) -> Result<(), JsonError> {
        let name = own_name(of).unwrap_or_default();
        match name {
            "Any" => {
                let url = message.get_field_by_number(1);
                let bytes = message.get_field_by_number(2);
                let url = url.as_deref().and_then(Value::as_str).unwrap_or_default();
                let bytes = bytes.as_deref().and_then(Value::as_bytes);
                self.any(url, bytes.map(|bytes| &bytes[..]).unwrap_or_default())
            }
            "Duration" => self.moment(message, format_duration),
            "Timestamp" => self.moment(message, format_timestamp),
            "FieldMask" => self.field_mask(message),
            "Value" => self.value(message),
            "Empty" => {
                self.out.push_str("{}");
                Ok(())
            }
            _ => {
                debug_assert!(is_wrapper(name) || matches!(name, "Struct" | "ListValue"));
                let Some(field) = of.get_field(1) else { return Ok(()) };
                self.field(&message.get_field(&field), &field)
            }
        }
    }

    fn any(&mut self, url: &str, bytes: &[u8]) -> Result<(), JsonError> {
        if url.is_empty() && bytes.is_empty() {
            self.out.push_str("{}");
            return Ok(());
        }
        let unwritable =
            |what: String| JsonError::Unwritable(format!("google.protobuf.Any: {what}"));
        self.go_deeper("google.protobuf.Any")?;
        let name = url.rsplit('/').next().unwrap_or(url);
        let inner = (self.resolve)(name)
            .ok_or_else(|| unwritable(format!("unable to resolve {url:?}: \"not found\"")))?;
        let is_well_known = is_well_known(&inner);
        let inner = DynamicMessage::decode(inner, bytes)
            .map_err(|error| unwritable(format!("unable to unmarshal {url:?}: {error}")))?;
        self.out.push_str("{\"@type\":");
        self.text(url);
        if is_well_known {
            self.out.push_str(",\"value\":");
            self.message(&inner)?;
        } else {
            self.fields(&inner)?;
        }
        self.nested -= 1;
        self.out.push('}');
        Ok(())
    }

    fn moment(
        &mut self,
        message: &DynamicMessage,
        format: fn(Moment) -> Option<String>,
    ) -> Result<(), JsonError> {
        let seconds = message.get_field_by_number(1).and_then(|value| value.as_i64());
        let nanos = message.get_field_by_number(2).and_then(|value| value.as_i32());
        let moment =
            Moment { seconds: seconds.unwrap_or_default(), nanos: nanos.unwrap_or_default() };
        let Some(text) = format(moment) else {
            let (name, Moment { seconds, nanos }) = (message.descriptor(), moment);
            let name = name.full_name();
            let what = format!("{name}: out of range: seconds {seconds}, nanos {nanos}");
            return Err(JsonError::Unwritable(what));
        };
        self.text(&text);
        Ok(())
    }

    fn field_mask(&mut self, message: &DynamicMessage) -> Result<(), JsonError> {
        let paths = message.get_field_by_number(1);
        let paths = paths.as_deref().and_then(Value::as_list).unwrap_or_default();
        let paths = paths.iter().filter_map(Value::as_str).map(|path| {
            camel_case(path).ok_or_else(|| {
                let what =
                    format!("google.protobuf.FieldMask.paths contains invalid path: {path:?}");
                JsonError::Unwritable(what)
            })
        });
        let paths: Vec<String> = paths.collect::<Result<_, _>>()?;
        self.text(&paths.join(","));
        Ok(())
    }

    fn value(&mut self, message: &DynamicMessage) -> Result<(), JsonError> {
        let Some((field, value)) = message.fields().next() else {
            let what = "google.protobuf.Value: none of the oneof fields is set";
            return Err(JsonError::Unwritable(what.to_owned()));
        };
        if value.as_f64().is_some_and(|value| !value.is_finite()) {
            let what = "google.protobuf.Value cannot have NaN or Infinity";
            return Err(JsonError::Unwritable(what.to_owned()));
        }
        self.field(value, &field)
    }
}

/// Whether a field that is not set has no value at all.
fn is_null_where_unset(field: &FieldDescriptor) -> bool {
    if field.is_list() || field.is_map() {
        return false;
    }
    let is_proto2 = field.parent_file().syntax() == Syntax::Proto2;
    is_proto2 || matches!(field.kind(), FieldKind::Message(_))
}

fn key_text(key: &MapKey) -> String {
    match key {
        MapKey::Bool(key) => key.to_string(),
        MapKey::I32(key) => key.to_string(),
        MapKey::I64(key) => key.to_string(),
        MapKey::U32(key) => key.to_string(),
        MapKey::U64(key) => key.to_string(),
        MapKey::String(key) => key.clone(),
    }
}

/// `a_b` as `aB`; `None` where the way back would lead elsewhere.
fn camel_case(path: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = path.chars();
    while let Some(c) = chars.next() {
        match c {
            '_' => out.push(chars.next().filter(char::is_ascii_lowercase)?.to_ascii_uppercase()),
            c if c.is_ascii_uppercase() => return None,
            c => out.push(c),
        }
    }
    Some(out)
}
