//! Values as texts, in Java's and Groovy's letters.

use std::fmt::{self, Write};

use super::object::lock;
use super::{InstantKind, Object, Value};
use crate::date;

/// Lists stand in one another so deep at most in a text.
const DEPTH_MAX: u32 = 32;
/// Letters of a text that a value is written as, at most: lists may hold one another many times.
const LETTERS_MAX: usize = 16 << 20;

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        write(self, &mut text, (MapForm::Java, 0));
        out.write_str(&text)
    }
}

/// A value as Groovy writes it: maps have brackets, however deep they stand.
pub(crate) fn groovy_text(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text, (MapForm::Groovy, 0));
    text
}

/// How maps are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MapForm {
    /// `{a=1}`.
    Java,
    /// `[a:1]`.
    Groovy,
}

/// The form of maps, and how deep a value stands.
type Place = (MapForm, u32);

fn below((form, depth): Place) -> Place {
    (form, depth + 1)
}

/// Writes a value at the end of a text.
fn write(value: &Value, text: &mut String, place: Place) {
    if place.1 > DEPTH_MAX || text.len() > LETTERS_MAX {
        text.push_str("...");
        return;
    }
    match value {
        Value::Null => text.push_str("null"),
        Value::Truth(truth) => text.push_str(if *truth { "true" } else { "false" }),
        Value::Int(number) => number_text(text, *number),
        Value::Long(number) => number_text(text, *number),
        Value::Double(number) => text.push_str(&double_text(*number)),
        Value::Decimal(decimal) => number_text(text, decimal),
        Value::Letter(letter) => text.push(*letter),
        Value::Text(other) => text.push_str(other),
        Value::Bytes(bytes) => write_list(text, &byte_values(bytes), place),
        Value::List(list) => write_list(text, &list.items(), place),
        Value::Map(map) => write_map(text, &map.rows(), place),
        Value::Closure(_) => text.push_str("Script1$_run_closure1"),
        Value::Object(object) => write_object(object, text, place),
        Value::Host(host) => text.push_str(host.class()),
        Value::Class(name) => text.extend(["class ", &super::super::library::full_name(name)]),
    }
}

fn number_text(text: &mut String, number: impl fmt::Display) {
    write!(text, "{number}").expect("a text takes all");
}

/// The numbers of bytes, which have signs in Java.
pub(crate) fn byte_values(bytes: &[u8]) -> Vec<Value> {
    bytes.iter().map(|byte| Value::Int(i32::from(*byte as i8))).collect()
}

fn write_list(text: &mut String, items: &[Value], place: Place) {
    text.push('[');
    for (at, item) in items.iter().enumerate() {
        text.push_str(if at > 0 { ", " } else { "" });
        write(item, text, below(place));
    }
    text.push(']');
}

fn write_map(text: &mut String, rows: &[(Value, Value)], place: Place) {
    let [open, between, close] = match place.0 {
        MapForm::Groovy if rows.is_empty() => return text.push_str("[:]"),
        MapForm::Groovy => ['[', ':', ']'],
        MapForm::Java => ['{', '=', '}'],
    };
    text.push(open);
    for (at, (key, value)) in rows.iter().enumerate() {
        text.push_str(if at > 0 { ", " } else { "" });
        write(key, text, below(place));
        text.push(between);
        write(value, text, below(place));
    }
    text.push(close);
}

fn write_object(object: &Object, text: &mut String, place: Place) {
    match object {
        Object::Builder(built) => text.push_str(&lock(built)),
        Object::Uuid(uuid) => text.push_str(uuid),
        Object::Counter(count) => number_text(text, *lock(count)),
        Object::Entry(key, value) => {
            write(key, text, below(place));
            text.push('=');
            write(value, text, below(place));
        }
        Object::Instant(_) => text.push_str(&instant_text(object)),
        Object::Zone(zone) => text.push_str(zone),
        Object::Duration(ms) => text.push_str(&duration_text(*ms)),
        Object::Pattern(pattern) => text.push_str(pattern),
        Object::Json(value) => text.push_str(&super::super::library::json_text(&lock(value))),
        Object::Pair(_, name, value) => text.extend([&**name, ": ", &**value]),
        Object::Thrown(thrown) => {
            text.push_str(&super::super::library::full_name(thrown.class));
            text.extend(thrown.message.iter().flat_map(|message| [": ", &**message]));
        }
        other => text.extend([&super::super::library::full_name(other.class()), "@1b2c3d4e"]),
    }
}

/// A floating number as Java writes it: `3.0`, `1.0E10`, `NaN`.
fn double_text(number: f64) -> String {
    let size = number.abs();
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if size == 0.0 || (1e-3..1e7).contains(&size) {
        return format!("{number:?}");
    }
    let written = format!("{number:E}");
    match written.split_once('E') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0E{exponent}"),
        _ => written,
    }
}

fn instant_text(object: &Object) -> String {
    let Some(instant) = object.instant() else { return String::new() };
    let write = |format: &str| date::format(format, instant.unix_ms, instant.offset_s);
    // ISO 8601 leaves out what is zero at the end.
    let fraction = if instant.unix_ms.rem_euclid(1_000) == 0 { "" } else { ".SSS" };
    let seconds = if instant.unix_ms.rem_euclid(60_000) == 0 { "" } else { ":ss" };
    match instant.kind {
        InstantKind::Date | InstantKind::Calendar => write("EEE MMM dd HH:mm:ss z yyyy"),
        InstantKind::Instant => {
            date::format(&format!("yyyy-MM-dd'T'HH:mm:ss{fraction}'Z'"), instant.unix_ms, 0)
        }
        InstantKind::LocalDate => write("yyyy-MM-dd"),
        InstantKind::LocalDateTime => write(&format!("yyyy-MM-dd'T'HH:mm{seconds}{fraction}")),
        InstantKind::LocalTime => write(&format!("HH:mm{seconds}{fraction}")),
        InstantKind::Zoned => write(&format!("yyyy-MM-dd'T'HH:mm{seconds}{fraction}XXX")),
    }
}

/// A duration as ISO 8601 has it: `PT1M30.5S`.
fn duration_text(ms: i64) -> String {
    let (hours, minutes) = (ms / 3_600_000, ms / 60_000 % 60);
    let seconds = (ms % 60_000) as f64 / 1_000.0;
    let part = |number: i64, unit: &str| match number {
        0 => String::new(),
        number => format!("{number}{unit}"),
    };
    let seconds = if seconds == 0.0 && ms != 0 { String::new() } else { format!("{seconds}S") };
    format!("PT{}{}{seconds}", part(hours, "H"), part(minutes, "M"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::value::{List, ListKind, Map};

    #[test]
    fn values_are_written_as_java_writes_them() {
        let list = Value::list(vec![Value::Int(1), "a".into(), Value::Null]);
        for (value, expect) in [
            (Value::Double(3.0), "3.0"),
            (Value::Double(0.1), "0.1"),
            (Value::Double(1e10), "1.0E10"),
            (Value::Double(-1.5e-7), "-1.5E-7"),
            (Value::Double(123_456.75), "123456.75"),
            (list.clone(), "[1, a, null]"),
            (Value::Map(Map::new([("k".into(), list)])), "{k=[1, a, null]}"),
            (Value::bytes(&[1, 255]), "[1, -1]"),
            (Value::object(Object::Duration(90_500)), "PT1M30.5S"),
        ] {
            assert_eq!(value.to_string(), expect);
        }
    }

    #[test]
    fn a_list_in_itself_has_an_end() {
        let list = List::new(ListKind::List, vec![]);
        list.add(Value::List(list.clone()));
        assert!(Value::List(list.clone()).to_string().ends_with("]"));
        assert!(!Value::List(list.clone()).equals(&Value::list(vec![Value::Int(1)])));
        list.replace(vec![]);
    }
}
