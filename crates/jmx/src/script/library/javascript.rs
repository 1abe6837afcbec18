//! What JavaScript has otherwise than Java.

use std::sync::Arc;

use super::arguments::Arguments;
use super::{closures, instant, pattern, text};
use crate::functions::encode::url_decode;
use crate::pattern::Pattern;
use crate::script::run::{Machine, Outcome, normal, throw};
use crate::script::value::{List, Object, Value};

/// A function without an object.
pub(super) fn global(
    machine: &mut Machine<'_>,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    Ok(Some(match name {
        "parseInt" => whole_prefix(&call.text(0), call.long(1)),
        "parseFloat" => float_prefix(&call.text(0)),
        "Number" => match super::loose_number(&call.get(0)) {
            Some(number) => number.as_double().map_or(Value::Null, normal),
            None => Value::Double(f64::NAN),
        },
        "String" => {
            let text = machine.written(&call.get(0));
            machine.text(text)?
        }
        "Boolean" => machine.truth(&call.get(0))?.into(),
        "isNaN" => {
            let number = super::loose_number(&call.get(0)).and_then(|number| number.as_double());
            number.is_none_or(f64::is_nan).into()
        }
        "encodeURIComponent" => machine.text(percent_encoded(&call.text(0), "-_.!~*'()"))?,
        "encodeURI" => machine.text(percent_encoded(&call.text(0), "-_.!~*'();/?:@&=+$,#"))?,
        "decodeURIComponent" | "decodeURI" => {
            machine.text(url_decode(&call.text(0).replace('+', "%2B")))?
        }
        "Array" => Value::list(call.all().to_vec()),
        "Date" => instant::new_date(machine, Arguments(&[]))?,
        _ => return Ok(None),
    }))
}

/// The whole number that a text begins with.
fn whole_prefix(text: &str, radix: i64) -> Value {
    let text = text.trim();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) if radix == 0 || radix == 16 => (16, hex),
        _ => (u32::try_from(radix).ok().filter(|r| (2..=36).contains(r)).unwrap_or(10), digits),
    };
    let mut number = None;
    for digit in digits.chars().map_while(|letter| letter.to_digit(radix)) {
        number = Some(number.unwrap_or(0.0) * f64::from(radix) + f64::from(digit));
    }
    number.map_or(Value::Double(f64::NAN), |number| normal(sign * number))
}

fn float_prefix(text: &str) -> Value {
    let text = text.trim();
    let is_part =
        |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-' | '+' | 'e' | 'E');
    let mut end = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    while end > 0 {
        if let Ok(number) = text[..end].parse::<f64>() {
            return normal(number);
        }
        end -= 1;
    }
    Value::Double(f64::NAN)
}

fn percent_encoded(text: &str, plain: &str) -> String {
    let letter = |byte: u8| match byte {
        byte if byte.is_ascii_alphanumeric() || plain.contains(char::from(byte)) => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(letter).collect()
}

/// A method of a text.
pub(super) fn text_method(
    machine: &mut Machine<'_>,
    value: &str,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let length = text::length(value) as i64;
    let clamp = |place: i64| place.clamp(0, length) as usize;
    let from_end = |place: i64| clamp(if place < 0 { place + length } else { place });
    let end = if call.len() > 1 { call.long(1) } else { length };
    let part = |from: usize, to: usize| text::part(value, from, to).unwrap_or_default();
    Ok(Some(match (name, call.len()) {
        ("substring", 1 | 2) => {
            let (one, two) = (clamp(call.long(0)), clamp(end));
            machine.text(part(one.min(two), one.max(two)))?
        }
        ("slice", 1 | 2) => machine.text(part(from_end(call.long(0)), from_end(end)))?,
        ("substr", 1 | 2) => {
            let from = from_end(call.long(0));
            let count = if call.len() > 1 { call.long(1).max(0) } else { length };
            machine.text(part(from, clamp(from as i64 + count)))?
        }
        ("charAt", 1) => machine.text(part(clamp(call.long(0)), clamp(call.long(0) + 1)))?,
        ("charCodeAt", 0 | 1) => {
            let unit = value.encode_utf16().nth(clamp(call.long(0)));
            unit.map_or(Value::Double(f64::NAN), |unit| Value::Int(i32::from(unit)))
        }
        ("includes", 1) => value.contains(&call.text(0)).into(),
        ("padStart" | "padEnd", _) => {
            let method = if name == "padStart" { "padLeft" } else { "padRight" };
            return text::method(machine, value, method, call);
        }
        ("toLocaleUpperCase", 0) => machine.text(value.to_uppercase())?,
        ("toLocaleLowerCase", 0) => machine.text(value.to_lowercase())?,
        ("split", 1 | 2) if !is_regex(&call.get(0)) => {
            let separator = call.text(0);
            let parts: Vec<Value> = match separator.is_empty() {
                true => value.chars().map(|letter| letter.to_string().into()).collect(),
                false => value.split(&separator).map(Value::from).collect(),
            };
            machine.list(parts)?
        }
        ("replace", 2) if !is_regex(&call.get(0)) => {
            machine.text(value.replacen(&call.text(0), &call.text(1), 1))?
        }
        ("replace" | "replaceAll" | "match" | "search" | "split", _) if is_regex(&call.get(0)) => {
            regex(machine, value, name, call)?
        }
        _ => return Ok(None),
    }))
}

fn is_regex(value: &Value) -> bool {
    matches!(value, Value::Object(object) if matches!(**object, Object::Pattern(_)))
}

/// The pattern of a regular expression with its flags in Java's letters, and whether it is for all matches.
fn java_pattern(written: &str) -> (String, bool) {
    let (flags, pattern) = written.split_once('/').unwrap_or(("", written));
    let letters: String = flags.chars().filter(|flag| "ims".contains(*flag)).collect();
    let prefix = if letters.is_empty() { String::new() } else { format!("(?{letters})") };
    (format!("{prefix}{pattern}"), flags.contains('g'))
}

fn regex(
    machine: &mut Machine<'_>,
    value: &str,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Value> {
    let (pattern, is_global) = java_pattern(&call.text(0));
    match name {
        "split" => {
            let own = [Value::text(pattern), Value::Int(-1)];
            let parts = pattern::text_method(machine, value, "split", Arguments(&own))?;
            Ok(parts.unwrap_or_default())
        }
        "match" | "search" => {
            let compiled = Pattern::of(&pattern)
                .map_err(|error| throw("ScriptException", error.to_string()))?;
            let found = compiled.matches(value, if is_global { 10_000 } else { 1 });
            let text = |group: &Option<String>| group.as_deref().map_or(Value::Null, Value::from);
            match (name, found.first()) {
                ("search", first) => {
                    let whole = first.and_then(|found| found.groups.first()?.as_deref());
                    let at = whole.and_then(|whole| value.find(whole));
                    Ok(at.map_or(Value::Int(-1), |at| Value::count(text::length(&value[..at]))))
                }
                (_, None) => Ok(Value::Null),
                (_, Some(_)) if is_global => {
                    let all = found.iter().filter_map(|found| found.groups.first().map(text));
                    machine.list(all.collect())
                }
                (_, Some(first)) => machine.list(first.groups.iter().map(text).collect()),
            }
        }
        _ => {
            let max = if is_global || name == "replaceAll" { 100_000 } else { 1 };
            pattern::replaced(machine, value, &pattern, (&call.get(1), max))
        }
    }
}

/// `test` and `exec`.
pub(super) fn regex_method(
    machine: &mut Machine<'_>,
    written: &Arc<str>,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Value> {
    let own = [Value::object(Object::Pattern(format!("/{}", java_pattern(written).0).into()))];
    let found = regex(machine, &call.text(0), "match", Arguments(&own))?;
    Ok(if name == "test" { Value::Truth(!found.is_null()) } else { found })
}

/// A method of a list.
pub(super) fn list_method(
    machine: &mut Machine<'_>,
    list: &List,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let length = list.len() as i64;
    Ok(Some(match (name, call.len()) {
        ("push", _) => {
            machine.allot(call.len() * size_of::<Value>())?;
            list.extend(call.all().iter().cloned());
            Value::count(list.len())
        }
        ("shift", 0) if length > 0 => {
            super::list::charge_moves(machine, list.len(), (name, 0))?;
            list.lock().remove(0)
        }
        ("unshift", 1) => {
            super::list::charge_moves(machine, list.len(), (name, 1))?;
            machine.allot(size_of::<Value>())?;
            list.lock().insert(0, call.get(0));
            Value::count(list.len())
        }
        ("slice", _) => {
            let place = |at: i64| (if at < 0 { at + length } else { at }).clamp(0, length) as usize;
            let end = if call.len() > 1 { place(call.long(1)) } else { list.len() };
            let items = list.items();
            machine.list(items.get(place(call.long(0))..end).unwrap_or_default().to_vec())?
        }
        ("concat", 1) => {
            let mut items = list.items();
            match call.get(0) {
                Value::List(other) => items.extend(other.items()),
                other => items.push(other),
            }
            machine.list(items)?
        }
        ("includes", 1) => list.position(&call.get(0)).is_some().into(),
        ("join", 0) => {
            return closures::method(machine, list.items(), "join", Arguments(&[",".into()]));
        }
        ("toString", 0) => {
            return closures::method(machine, list.items(), "join", Arguments(&[",".into()]));
        }
        ("reverse", 0) => {
            list.lock().reverse();
            Value::List(list.clone())
        }
        ("sort", 0) => {
            let items = list.items();
            let mut keys = Vec::with_capacity(items.len());
            for item in &items {
                keys.push(machine.text(item.to_string())?);
            }
            list.replace(closures::order(machine, keys, items)?);
            Value::List(list.clone())
        }
        ("findIndex", 1) => return closures::method(machine, list.items(), "findIndexOf", call),
        _ => return Ok(None),
    }))
}
