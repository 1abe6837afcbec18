//! The methods of maps.

use super::arguments::Arguments;
use super::{closures, entries};
use crate::script::run::{Machine, Outcome};
use crate::script::value::{List, ListKind, Map, Value, groovy_text};

/// A method of a map.
pub(super) fn method(
    machine: &mut Machine<'_>,
    map: &Map,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    if let Some(value) = question(machine, map, name, call)? {
        return Ok(Some(value));
    }
    if let Some(value) = change(machine, map, name, call)? {
        return Ok(Some(value));
    }
    let rows = map.rows();
    machine.allot(rows.len() * 2 * size_of::<Value>())?;
    let found = closures::method(machine, entries(&rows), name, call)?;
    match (name, found) {
        ("each" | "eachWithIndex", Some(_)) => Ok(Some(Value::Map(map.clone()))),
        ("findAll" | "sort" | "take" | "drop" | "toSorted", Some(Value::List(list))) => {
            Ok(Some(Value::Map(Map::new(list.items().iter().filter_map(entry)))))
        }
        (_, found) => Ok(found),
    }
}

/// The key and the value of an entry.
fn entry(value: &Value) -> Option<(Value, Value)> {
    match value {
        Value::Object(object) => match &**object {
            crate::script::value::Object::Entry(key, value) => Some((key.clone(), value.clone())),
            _ => None,
        },
        _ => None,
    }
}

fn question(
    machine: &mut Machine<'_>,
    map: &Map,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    machine.spend(1)?;
    Ok(Some(match (name, call.len()) {
        ("size", 0) => Value::count(map.len()),
        ("isEmpty", 0) => map.is_empty().into(),
        ("get" | "getAt", 1) => map.get(&call.get(0)).unwrap_or_default(),
        ("getOrDefault", 2) => map.get(&call.get(0)).unwrap_or_else(|| call.get(1)),
        ("getProperty", 1) => map.get(&call.get(0)).unwrap_or_default(),
        ("containsKey", 1) => map.get(&call.get(0)).is_some().into(),
        ("containsValue", 1) => {
            let wanted = call.get(0);
            map.values().iter().any(|value| value.equals(&wanted)).into()
        }
        ("keySet", 0) => set(machine, map.keys())?,
        ("values", 0) => machine.list(map.values())?,
        ("entrySet", 0) => set(machine, entries(&map.rows()))?,
        ("clone" | "asImmutable", 0) => {
            machine.allot(map.len() * 2 * size_of::<Value>())?;
            Value::Map(Map::new(map.rows()))
        }
        ("subMap", 1) => {
            let keys = super::iterable(machine, &call.get(0))?;
            let row = |key: Value| map.get(&key).map(|value| (key, value));
            Value::Map(Map::new(keys.into_iter().filter_map(row)))
        }
        ("collect" | "any" | "every" | "find", 0) => return Ok(None),
        _ => return Ok(None),
    }))
}

fn set(machine: &mut Machine<'_>, items: Vec<Value>) -> Outcome<Value> {
    machine.allot(items.len() * size_of::<Value>())?;
    Ok(Value::List(List::new(ListKind::Set, items)))
}

fn change(
    machine: &mut Machine<'_>,
    map: &Map,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, call.len()) {
        ("put" | "putAt" | "replace" | "setProperty", 2) => {
            machine.allot(4 * size_of::<Value>())?;
            map.put(call.get(0), call.get(1)).unwrap_or_default()
        }
        ("putIfAbsent", 2) => match map.get(&call.get(0)) {
            Some(value) => value,
            None => {
                machine.allot(4 * size_of::<Value>())?;
                map.put(call.get(0), call.get(1)).unwrap_or_default()
            }
        },
        ("get", 2) => match map.get(&call.get(0)) {
            Some(value) => value,
            None => {
                map.put(call.get(0), call.get(1));
                call.get(1)
            }
        },
        ("putAll", 1) => {
            if let Value::Map(other) = call.get(0) {
                machine.allot(other.len() * 4 * size_of::<Value>())?;
                other.rows().into_iter().for_each(|(key, value)| drop(map.put(key, value)));
            }
            Value::Null
        }
        ("remove", 1) => {
            machine.spend(map.len() as u64 / 16)?;
            map.remove(&call.get(0)).unwrap_or_default()
        }
        ("clear", 0) => {
            map.clear();
            Value::Null
        }
        ("minus", 1) => {
            let Value::Map(other) = call.get(0) else { return Ok(None) };
            machine.allot(map.len() * 4 * size_of::<Value>())?;
            let is_left = |(key, value): &(Value, Value)| {
                !other.get(key).is_some_and(|other| other.equals(value))
            };
            Value::Map(Map::new(map.rows().into_iter().filter(is_left)))
        }
        ("toMapString", 0) => machine.text(groovy_text(&Value::Map(map.clone())))?,
        ("leftShift" | "plus", 1) => {
            if let Value::Map(other) = call.get(0) {
                machine.allot((map.len() + other.len()) * 4 * size_of::<Value>())?;
                let target = if name == "plus" { Map::new(map.rows()) } else { map.clone() };
                other.rows().into_iter().for_each(|(key, value)| drop(target.put(key, value)));
                return Ok(Some(Value::Map(target)));
            }
            return Ok(None);
        }
        _ => return Ok(None),
    }))
}
