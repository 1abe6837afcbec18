//! Members and places: `x.name`, `x[1]`, read and set.

use super::arguments::Arguments;
use super::arguments::out_of;
use super::{call_method, own_method, pattern, statics, text, universal};
use crate::script::Language;
use crate::script::context::Host;
use crate::script::run::{Machine, Outcome, throw};
use crate::script::value::{List, ListKind, Object, Value, byte_values, lock};

/// The getter of a member: `name` has `getName`.
pub(super) fn getter(name: &str) -> String {
    prefixed("get", name)
}

fn prefixed(prefix: &str, name: &str) -> String {
    let mut letters = name.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{prefix}{first}{}", letters.as_str())
}

/// The member of a value.
pub(crate) fn member(machine: &mut Machine<'_>, value: &Value, name: &str) -> Outcome<Value> {
    match (value, name) {
        (Value::Null, _) => {
            return Err(throw(
                "NullPointerException",
                format!("Cannot get property '{name}' on null object"),
            ));
        }
        (Value::Map(map), _) => return Ok(map.get_text(name).unwrap_or_default()),
        (Value::Class(class), _) => {
            if let Some(found) = statics::constant(machine, class, name) {
                return Ok(found);
            }
        }
        (_, "class") => return Ok(Value::Class(value.class())),
        (Value::List(list), "length") => return Ok(Value::count(list.len())),
        (Value::Text(own), "length") => return Ok(Value::count(text::length(own))),
        (Value::Bytes(own), "length") => return Ok(Value::count(own.len())),
        // A member of a list is that of each of its items.
        (Value::List(list), _) if machine.language == Language::Groovy => {
            let mut found = Vec::new();
            for item in list.items() {
                found.push(member(machine, &item, name)?);
            }
            return machine.list(found);
        }
        (Value::Host(Host::Variables | Host::Properties), _) => {
            return call_method(machine, value, "get", &[name.into()]);
        }
        _ => {}
    }
    match by_getter(machine, value, name)? {
        Some(found) => Ok(found),
        None => Err(missing(value, name)),
    }
}

fn by_getter(machine: &mut Machine<'_>, value: &Value, name: &str) -> Outcome<Option<Value>> {
    let none = Arguments(&[]);
    for method in [getter(name), prefixed("is", name), name.to_owned()] {
        if let Some(found) = own_method(machine, value, &method, none)? {
            return Ok(Some(found));
        }
    }
    universal(machine, value, &getter(name), none)
}

fn missing(value: &Value, name: &str) -> crate::script::run::Fault {
    let class = super::full_name(value.class());
    throw("MissingPropertyException", format!("No such property: {name} for class: {class}"))
}

/// Sets the member of a value.
pub(crate) fn set_member(
    machine: &mut Machine<'_>,
    of: &Value,
    name: &str,
    value: Value,
) -> Outcome<()> {
    match of {
        Value::Map(map) => {
            machine.allot(4 * size_of::<Value>())?;
            map.put(name.into(), value);
            Ok(())
        }
        Value::Host(Host::Variables | Host::Properties) => {
            call_method(machine, of, "put", &[name.into(), value]).map(drop)
        }
        _ => {
            let setter = prefixed("set", name);
            let found = own_method(machine, of, &setter, Arguments(&[value]))?;
            found.map(drop).ok_or_else(|| missing(of, name))
        }
    }
}

/// What stands at a place of a value.
pub(crate) fn place(machine: &mut Machine<'_>, value: &Value, at: &Value) -> Outcome<Value> {
    match (value, at) {
        (Value::Null, _) => {
            Err(throw("NullPointerException", "Cannot invoke method getAt() on null object"))
        }
        (Value::Map(map), _) => Ok(map.get(at).unwrap_or_default()),
        (Value::List(list), Value::List(places)) => {
            let items: Vec<Value> = spread(&places.items(), list.len())
                .iter()
                .map(|at| item(machine, list, at))
                .collect::<Outcome<_>>()?;
            machine.list(items)
        }
        (Value::List(list), _) => item(machine, list, at),
        (Value::Text(text), Value::List(places)) => letters(machine, text, places),
        (Value::Text(text), _) => letter(text, at),
        (Value::Bytes(bytes), _) => {
            let list = List::new(ListKind::Array, byte_values(bytes));
            item(machine, &list, at)
        }
        (Value::Object(object), _) => match &**object {
            Object::Matcher(matcher) => pattern::match_at(matcher, at.as_long().unwrap_or(0)),
            Object::Builder(built) => letter(&lock(built), at),
            _ => member(machine, value, &at.to_string()),
        },
        _ => member(machine, value, &at.to_string()),
    }
}

/// The places of a range with a negative end, `1..-1` or `-1..0`: it counts from the list's.
fn spread(places: &[Value], length: usize) -> Vec<Value> {
    let number = |value: Option<&Value>| value.and_then(Value::as_long);
    let (Some(first), Some(last)) = (number(places.first()), number(places.last())) else {
        return places.to_vec();
    };
    let (count, length) = (places.len() as i64, length as i64);
    match (first >= 0, last >= 0) {
        (true, false) if first - last == count - 1 => {
            (first..=last + length).map(Value::whole).collect()
        }
        (false, true) if last - first == count - 1 => {
            (last..=first + length).rev().map(Value::whole).collect()
        }
        _ => places.to_vec(),
    }
}

/// An item of a list. Groovy has nothing beyond its end, and counts negative numbers from there.
fn item(machine: &Machine<'_>, list: &List, at: &Value) -> Outcome<Value> {
    let number = at.as_long().or_else(|| at.to_string().parse().ok());
    let Some(number) = number else { return Ok(Value::Null) };
    let is_array = list.kind() == ListKind::Array;
    let found = match machine.language {
        Language::Groovy => list.place(number),
        _ => usize::try_from(number).ok(),
    };
    match found.and_then(|place| list.get(place)) {
        Some(value) => Ok(value),
        None if machine.language == Language::JavaScript => Ok(Value::Null),
        None if machine.language == Language::Groovy && !is_array && number >= 0 => Ok(Value::Null),
        None if is_array => Err(throw(
            "ArrayIndexOutOfBoundsException",
            format!("Index {number} out of bounds for length {}", list.len()),
        )),
        None => Err(out_of(number, list.len())),
    }
}

fn letter(text: &str, at: &Value) -> Outcome<Value> {
    let length = text.chars().count() as i64;
    let number = at.as_long().unwrap_or(0);
    let place = usize::try_from(if number < 0 { number + length } else { number }).ok();
    let letter = place.and_then(|place| text.chars().nth(place));
    letter.map(|letter| letter.to_string().into()).ok_or_else(|| {
        throw("StringIndexOutOfBoundsException", format!("index {number}, length {length}"))
    })
}

/// Whether places follow one another.
fn is_range(places: &[Value]) -> bool {
    let numbers: Vec<i64> = places.iter().filter_map(Value::as_long).collect();
    let step = |pair: &[i64]| pair[1] - pair[0];
    numbers.windows(2).all(|pair| step(pair).abs() == 1)
        && numbers.windows(3).all(|three| step(three) == step(&three[1..]))
}

/// The letters at places: of a range, from its first to its last.
fn letters(machine: &mut Machine<'_>, text: &str, places: &List) -> Outcome<Value> {
    let all: Vec<char> = text.chars().collect();
    let length = all.len() as i64;
    let bound = |at: i64| if at < 0 { at + length } else { at };
    let places = places.items();
    if !is_range(&places) {
        let picked: Outcome<Vec<Value>> = places.iter().map(|at| letter(text, at)).collect();
        let picked: String = picked?.iter().map(Value::to_string).collect();
        return machine.text(picked);
    }
    let (first, last) = (places.first(), places.last());
    let from = bound(first.and_then(Value::as_long).unwrap_or(0));
    let to = bound(last.and_then(Value::as_long).unwrap_or(-1));
    let is_there = |at: i64| (0..length).contains(&at);
    if places.is_empty() || !is_there(from) || !is_there(to) {
        return Err(throw(
            "StringIndexOutOfBoundsException",
            format!("begin {from}, end {to}, length {length}"),
        ));
    }
    let (from, to) = (from as usize, to as usize);
    let part: String = match from <= to {
        true => all[from..=to].iter().collect(),
        false => all[to..=from].iter().rev().collect(),
    };
    machine.text(part)
}

/// Sets what stands at a place.
pub(crate) fn set_place(
    machine: &mut Machine<'_>,
    of: &Value,
    at: &Value,
    value: Value,
) -> Outcome<()> {
    match of {
        Value::Map(map) => {
            machine.allot(4 * size_of::<Value>())?;
            map.put(at.clone(), value);
            Ok(())
        }
        Value::List(list) => set_item(machine, list, at.as_long().unwrap_or(-1), value),
        Value::Null => {
            Err(throw("NullPointerException", "Cannot invoke method putAt() on null object"))
        }
        _ => set_member(machine, of, &at.to_string(), value),
    }
}

/// Lists of Groovy and JavaScript grow where they are set beyond their end.
fn set_item(machine: &mut Machine<'_>, list: &List, number: i64, value: Value) -> Outcome<()> {
    let place = list.place(number).ok_or_else(|| out_of(number, list.len()))?;
    let length = list.len();
    let grows = list.kind() != ListKind::Array
        && matches!(machine.language, Language::Groovy | Language::JavaScript);
    if place >= length && !grows {
        return Err(out_of(number, length));
    }
    machine.allot((place + 1).saturating_sub(length).saturating_mul(size_of::<Value>()))?;
    let mut items = list.lock();
    if place >= items.len() {
        items.resize(place + 1, Value::Null);
    }
    items[place] = value;
    Ok(())
}
