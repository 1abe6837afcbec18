//! The methods that values of scripts have: a table of Java's, Groovy's and JMeter's own, and nothing beside it.

mod arguments;
mod builder;
mod calendar;
mod classes;
mod closures;
mod construct;
mod digest;
mod global;
mod host;
mod instant;
mod javascript;
mod json;
mod json_read;
mod list;
mod map;
mod math;
mod member;
mod number;
mod object;
mod pattern;
mod random;
mod sample;
mod statics;
mod text;
mod text_format;

pub(crate) use classes::{class_named, full_name, is_kind_of, is_reserved};
pub(crate) use construct::construct;
pub(crate) use digest::Digest;
pub(crate) use global::call_global;
pub(crate) use instant::moved_days;
pub(crate) use json::text as json_text;
pub(crate) use member::{member, place, set_member, set_place};
pub(crate) use number::{loose_number, parse_number};
pub(crate) use pattern::matcher;

use arguments::Arguments;

use super::run::{Machine, Outcome, missing_method, throw};
use super::value::{Object, Value, byte_values};

/// Calls a method of a value.
pub(crate) fn call_method(
    machine: &mut Machine<'_>,
    value: &Value,
    name: &str,
    arguments: &[Value],
) -> Outcome<Value> {
    let found = own_method(machine, value, name, Arguments(arguments))?;
    if let Some(found) = found {
        return Ok(found);
    }
    match universal(machine, value, name, Arguments(arguments))? {
        Some(found) => Ok(found),
        None => Err(missing_method(&full_name(value.class()), name, arguments)),
    }
}

/// A method of a value's own class; `None` where it has none of this name.
fn own_method(
    machine: &mut Machine<'_>,
    value: &Value,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    match value {
        Value::Text(text) => text::method(machine, text, name, call),
        Value::Letter(letter) => text::method(machine, &letter.to_string(), name, call),
        Value::List(list) => list::method(machine, list, name, call),
        Value::Bytes(bytes) => digest::bytes_method(machine, bytes, name, call),
        Value::Map(map) => map::method(machine, map, name, call),
        Value::Object(object) => object::method(machine, value, object, name, call),
        Value::Host(host) => host::method(machine, *host, name, call),
        Value::Class(class) => statics::method(machine, class, name, call),
        Value::Closure(closure) => closures::of_closure(machine, closure, name, call),
        Value::Truth(_) => Ok(None),
        number if number.is_number() => number::method(machine, number, name, call),
        _ => Ok(None),
    }
}

/// Methods of every value.
fn universal(
    machine: &mut Machine<'_>,
    value: &Value,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, call.len()) {
        ("toString", 0) => machine.text(machine.written(value))?,
        ("equals", 1) => value.equals(&call.get(0)).into(),
        ("is", 1) => value.is_same(&call.get(0)).into(),
        ("hashCode", 0) => Value::Int(text::hash(&value.to_string())),
        ("getClass", 0) => Value::Class(value.class()),
        ("booleanValue" | "asBoolean", 0) => value.is_true().into(),
        ("compareTo", 1) => match value.order(&call.get(0)) {
            Some(order) => Value::Int(order as i32),
            None => return Err(throw("ClassCastException", "these cannot be compared")),
        },
        ("inspect", 0) => machine.text(inspected(value))?,
        ("dump", 0) => machine.text(value.to_string())?,
        ("with" | "tap" | "identity", 1) => match call.get(0) {
            Value::Closure(closure) => {
                let result = machine.call(&closure, vec![value.clone()])?;
                if name == "tap" { value.clone() } else { result }
            }
            _ => return Ok(None),
        },
        ("print" | "println", 1) => host::print(machine, &call.text(0)),
        _ => return Ok(None),
    }))
}

/// A value as Groovy shows it: texts in quotes.
fn inspected(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("'{text}'"),
        other => other.to_string(),
    }
}

/// The values of what can be gone through.
pub(crate) fn iterable(machine: &mut Machine<'_>, value: &Value) -> Outcome<Vec<Value>> {
    let items = match value {
        Value::List(list) => list.items(),
        Value::Map(map) => entries(&map.rows()),
        Value::Bytes(bytes) => byte_values(bytes),
        Value::Text(text) => text.chars().map(|letter| Value::text(letter.to_string())).collect(),
        Value::Object(object) => match &**object {
            Object::Iterator(left) => {
                left.lock().map_or_else(|_| Vec::new(), |left| left.iter().rev().cloned().collect())
            }
            Object::Matcher(matcher) => pattern::found(matcher),
            _ => vec![value.clone()],
        },
        Value::Null => Vec::new(),
        other => vec![other.clone()],
    };
    machine.spend(items.len() as u64 / 16)?;
    machine.allot(items.len() * 4)?;
    Ok(items)
}

/// The entries of a map.
fn entries(rows: &[(Value, Value)]) -> Vec<Value> {
    let entry =
        |(key, value): &(Value, Value)| Value::object(Object::Entry(key.clone(), value.clone()));
    rows.iter().map(entry).collect()
}

/// `<<`: adds to a list, a text or a builder.
pub(crate) fn left_shift(machine: &mut Machine<'_>, one: &Value, two: &Value) -> Outcome<Value> {
    match one {
        Value::List(list) => {
            machine.add_item(list, two.clone())?;
            Ok(one.clone())
        }
        Value::Text(text) => {
            let builder = Value::object(Object::Builder(text.to_string().into()));
            call_method(machine, &builder, "append", std::slice::from_ref(two))
        }
        _ => call_method(machine, one, "append", std::slice::from_ref(two)),
    }
}
