//! JSON: read into lists and maps, and written.

use super::arguments::Arguments;
use super::json_read;
use crate::date;
use crate::script::run::{Machine, Outcome, throw};
use crate::script::value::{InstantKind, Object, Value, lock};

/// Values stand in one another so deep at most.
const DEPTH_MAX: u32 = 64;
/// Letters of a text at most.
const LETTERS_MAX: usize = 16 << 20;

/// The value of a text.
pub(super) fn parse(machine: &mut Machine<'_>, text: &Value) -> Outcome<Value> {
    if text.is_null() || text.to_string().trim().is_empty() {
        return Err(throw("IllegalArgumentException", "Text must not be null or empty"));
    }
    let text = match text {
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => other.to_string(),
    };
    machine.allot(text.len().saturating_mul(4))?;
    let checked: Result<serde_json::Value, _> = serde_json::from_str(&text);
    checked.map_err(|error| throw("JsonException", format!("Unable to parse JSON: {error}")))?;
    Ok(json_read::read(&text))
}

/// A value as JSON.
pub(crate) fn text(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text, 0);
    text
}

fn write(value: &Value, text: &mut String, depth: u32) {
    if depth > DEPTH_MAX || text.len() > LETTERS_MAX {
        return text.push_str("null");
    }
    match value {
        Value::Null => text.push_str("null"),
        Value::Truth(_) => text.push_str(&value.to_string()),
        number if number.is_number() => text.push_str(&number.to_string()),
        Value::List(list) => {
            text.push('[');
            for (at, item) in list.items().iter().enumerate() {
                text.push_str(if at > 0 { "," } else { "" });
                write(item, text, depth + 1);
            }
            text.push(']');
        }
        Value::Map(map) => {
            text.push('{');
            for (at, (key, value)) in map.rows().iter().enumerate() {
                text.push_str(if at > 0 { "," } else { "" });
                quote(&key.to_string(), text);
                text.push(':');
                write(value, text, depth + 1);
            }
            text.push('}');
        }
        Value::Object(object) => match &**object {
            Object::Json(inner) => write(&lock(inner).clone(), text, depth + 1),
            Object::Instant(_) => quote(&moment(value, object), text),
            _ => quote(&value.to_string(), text),
        },
        other => quote(&other.to_string(), text),
    }
}

/// A moment: of the older kinds as Groovy's JSON has them.
fn moment(value: &Value, object: &Object) -> String {
    match object.instant() {
        Some(at) if matches!(at.kind, InstantKind::Date | InstantKind::Calendar) => {
            date::format("yyyy-MM-dd'T'HH:mm:ssZ", at.unix_ms, 0)
        }
        _ => value.to_string(),
    }
}

/// A text in quotes, in Groovy's letters: what is not ASCII is written by its code.
fn quote(plain: &str, text: &mut String) {
    text.push('"');
    for letter in plain.chars() {
        match letter {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            ' '..='~' => text.push(letter),
            other => {
                let mut units = [0; 2];
                let codes = other.encode_utf16(&mut units).iter();
                text.extend(codes.map(|unit| format!("\\u{unit:04x}")));
            }
        }
    }
    text.push('"');
}

/// JSON with lines and spaces; what it says stays letter for letter. An empty list or map has a line of its own, as Groovy has it.
fn pretty(json: &str) -> Option<String> {
    serde_json::from_str::<serde_json::Value>(json).ok()?;
    let (mut text, mut depth) = (String::new(), 0_usize);
    let (mut is_quoted, mut is_escaped) = (false, false);
    let line = |text: &mut String, depth: usize| {
        text.push('\n');
        text.push_str(&"    ".repeat(depth));
    };
    for letter in json.chars() {
        if is_quoted {
            is_quoted = letter != '"' || is_escaped;
            is_escaped = letter == '\\' && !is_escaped;
            text.push(letter);
            continue;
        }
        match letter {
            '{' | '[' => {
                depth += 1;
                text.push(letter);
                line(&mut text, depth);
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut text, depth);
                text.push(letter);
            }
            ',' => {
                text.push(',');
                line(&mut text, depth);
            }
            ':' => text.push_str(": "),
            blank if blank.is_ascii_whitespace() => {}
            other => {
                is_quoted = other == '"';
                text.push(other);
            }
        }
    }
    Some(text)
}

pub(super) fn statics(
    machine: &mut Machine<'_>,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    match (name, call.len()) {
        ("toJson", 1) => machine.text(text(&call.get(0))).map(Some),
        ("stringify", _) if call.len() > 0 => machine.text(text(&call.get(0))).map(Some),
        ("parse", 1) => parse(machine, &call.get(0)).map(Some),
        ("prettyPrint", 1) => match pretty(&call.text(0)) {
            Some(text) => machine.text(text).map(Some),
            None => Err(throw("JsonException", "Unable to parse JSON")),
        },
        _ => Ok(None),
    }
}

/// A method of `JsonBuilder`.
pub(super) fn builder_method(
    machine: &mut Machine<'_>,
    object: &Object,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let Object::Json(content) = object else { return Ok(None) };
    let value = lock(content).clone();
    match (name, call.len()) {
        ("toString", 0) => machine.text(text(&value)).map(Some),
        ("toPrettyString", 0) => match pretty(&text(&value)) {
            Some(text) => machine.text(text).map(Some),
            None => Ok(None),
        },
        ("getContent", 0) => Ok(Some(value)),
        ("call", 1) if !matches!(call.get(0), Value::Closure(_)) => {
            *lock(content) = call.get(0);
            Ok(Some(call.get(0)))
        }
        _ => Ok(None),
    }
}
