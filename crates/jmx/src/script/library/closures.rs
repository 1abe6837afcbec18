//! Methods that call a closure for each of many values: `each`, `collect`, `find` and others.

use std::cmp::Ordering;
use std::sync::Arc;

use super::arguments::Arguments;
use crate::script::run::{Closure, Machine, Outcome, throw};
use crate::script::tree::Binary;
use crate::script::value::{List, ListKind, Map, Object, Value};

/// A method over values; `None` where there is none of this name.
pub(super) fn method(
    machine: &mut Machine<'_>,
    items: Vec<Value>,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    if let Some(value) = without_closure(machine, &items, name, call)? {
        return Ok(Some(value));
    }
    let last = call.all().last();
    let Some(Value::Closure(closure)) = last else { return Ok(None) };
    let closure = closure.clone();
    match name {
        "inject" | "reduce" => inject(machine, items, call, &closure).map(Some),
        "sort" | "toSorted" => sorted(machine, items, &closure).map(Some),
        "max" | "min" => extreme(machine, &items, name, &closure).map(Some),
        "groupBy" | "countBy" | "collectEntries" => {
            to_map(machine, items, name, &closure).map(Some)
        }
        _ => each(machine, items, name, &closure),
    }
}

/// Methods that need no closure.
fn without_closure(
    machine: &mut Machine<'_>,
    items: &[Value],
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    machine.spend(items.len() as u64 / 16)?;
    Ok(Some(match (name, call.len()) {
        ("join", 0 | 1) => {
            let separator = call.text(0);
            machine.joined(items, &separator)?
        }
        ("sum", 0) => match items.split_first() {
            Some((first, rest)) => added(machine, first.clone(), rest.to_vec())?,
            None => Value::Null,
        },
        ("max" | "min", 0) => {
            let wanted = if name == "max" { Ordering::Greater } else { Ordering::Less };
            extreme_of(items, items, wanted)?
        }
        ("sort" | "toSorted", _) if call.all().iter().all(|one| matches!(one, Value::Truth(_))) => {
            let keys = items.to_vec();
            let items = order(machine, keys, items.to_vec())?;
            machine.list(items)?
        }
        ("reverse", 0) => machine.list(items.iter().rev().cloned().collect())?,
        ("unique" | "toUnique" | "toSet", 0) => {
            let set = List::new(ListKind::Set, Vec::new());
            machine.add_items(&set, items.to_vec())?;
            let kind = if name == "toSet" { ListKind::Set } else { ListKind::List };
            Value::List(List::new(kind, set.items()))
        }
        ("flatten", 0) => {
            let mut flat = Vec::new();
            flatten(machine, items, &mut flat, 0)?;
            machine.list(flat)?
        }
        ("count", 1) if !matches!(call.get(0), Value::Closure(_)) => {
            let wanted = call.get(0);
            Value::count(items.iter().filter(|item| item.equals(&wanted)).count())
        }
        ("count", 0) => Value::count(items.len()),
        ("toList" | "asList" | "collect", 0) => machine.list(items.to_vec())?,
        _ => return slices(machine, items, name, call),
    }))
}

/// Methods that take a part of the values.
fn slices(
    machine: &mut Machine<'_>,
    items: &[Value],
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let count = usize::try_from(call.long(0)).unwrap_or(0).min(items.len());
    let part = match (name, call.len()) {
        ("first" | "head", 0) => return end(items.first()),
        ("last", 0) => return end(items.last()),
        ("take", 1) => &items[..count],
        ("drop", 1) => &items[count..],
        ("takeRight", 1) => &items[items.len() - count..],
        ("dropRight", 1) => &items[..items.len() - count],
        ("tail", 0) => items.get(1..).unwrap_or_default(),
        ("init", 0) => items.split_last().map_or(items, |(_, before)| before),
        ("step", 1) if count > 0 => {
            return machine.list(items.iter().step_by(count).cloned().collect()).map(Some);
        }
        ("collate", 1) if count > 0 => {
            let parts = items.chunks(count).map(|part| Value::list(part.to_vec())).collect();
            return machine.list(parts).map(Some);
        }
        ("indexed", 0) => {
            machine.allot(items.len() * 4 * size_of::<Value>())?;
            let rows = items.iter().enumerate().map(|(at, item)| (Value::count(at), item.clone()));
            return Ok(Some(Value::Map(Map::new(rows))));
        }
        ("transpose", 0) => return transposed(machine, items).map(Some),
        ("withIndex", 0) => {
            let pair =
                |(at, item): (usize, &Value)| Value::list(vec![item.clone(), Value::count(at)]);
            let pairs = items.iter().enumerate().map(pair).collect();
            return machine.list(pairs).map(Some);
        }
        _ => return Ok(None),
    };
    machine.list(part.to_vec()).map(Some)
}

/// The first items of lists, then the second ones, as far as all lists have them.
fn transposed(machine: &mut Machine<'_>, lists: &[Value]) -> Outcome<Value> {
    let mut rows = Vec::new();
    for list in lists {
        rows.push(super::iterable(machine, list)?);
    }
    let length = rows.iter().map(Vec::len).min().unwrap_or(0);
    machine.allot(length * rows.len() * size_of::<Value>())?;
    let column = |at: usize| Value::list(rows.iter().map(|row| row[at].clone()).collect());
    machine.list((0..length).map(column).collect())
}

fn end(item: Option<&Value>) -> Outcome<Option<Value>> {
    let missing = || throw("NoSuchElementException", "Cannot access an element of an empty list");
    item.cloned().map(Some).ok_or_else(missing)
}

fn flatten(
    machine: &mut Machine<'_>,
    items: &[Value],
    flat: &mut Vec<Value>,
    depth: u32,
) -> Outcome<()> {
    machine.allot(size_of_val(items))?;
    machine.spend(1)?;
    for item in items {
        match item {
            Value::List(list) if depth < 32 => flatten(machine, &list.items(), flat, depth + 1)?,
            other => flat.push(other.clone()),
        }
    }
    Ok(())
}

fn added(machine: &mut Machine<'_>, first: Value, rest: Vec<Value>) -> Outcome<Value> {
    let mut sum = first;
    for item in rest {
        machine.spend(1)?;
        sum = machine.operate(Binary::Add, &sum, &item)?;
    }
    Ok(sum)
}

/// Calls a closure with one value; with both parts of an entry where it takes two.
fn call_with(machine: &mut Machine<'_>, closure: &Arc<Closure>, item: &Value) -> Outcome<Value> {
    machine.spend(1)?;
    if closure.parameters() == 2
        && let Value::Object(object) = item
        && let crate::script::value::Object::Entry(key, value) = &**object
    {
        return machine.call(closure, vec![key.clone(), value.clone()]);
    }
    machine.call(closure, vec![item.clone()])
}

/// Methods that go through the values in their order.
fn each(
    machine: &mut Machine<'_>,
    items: Vec<Value>,
    name: &str,
    closure: &Arc<Closure>,
) -> Outcome<Option<Value>> {
    let mut results = Vec::new();
    let mut others = Vec::new();
    let mut sum: Option<Value> = None;
    for (at, item) in items.iter().enumerate() {
        if name == "eachWithIndex" || name == "reverseEachWithIndex" {
            machine.call(closure, vec![item.clone(), Value::count(at)])?;
            continue;
        }
        let result = call_with(machine, closure, item)?;
        let holds = result.is_true();
        match name {
            "each" | "forEach" => {}
            "collect" | "map" | "mapToInt" | "mapToLong" | "mapToDouble" | "mapToObj" => {
                results.push(result);
            }
            "findResults" if result.is_null() => {}
            "findResults" => results.push(result),
            "dropWhile" if holds && results.is_empty() => {}
            "dropWhile" => results.push(item.clone()),
            "collectMany" => flatten(machine, &[result], &mut results, 31)?,
            "findAll" | "filter" | "takeWhile" if holds => results.push(item.clone()),
            "findAll" | "filter" | "count" | "find" | "any" | "findIndexOf" | "findResult"
            | "some"
                if !holds => {}
            "takeWhile" => break,
            "find" => return Ok(Some(item.clone())),
            "findResult" => return Ok(Some(result)),
            "findIndexOf" => return Ok(Some(Value::count(at))),
            "any" | "some" => return Ok(Some(Value::Truth(true))),
            "every" if !holds => return Ok(Some(Value::Truth(false))),
            "every" => {}
            "count" => results.push(Value::Null),
            "split" if holds => results.push(item.clone()),
            "split" => others.push(item.clone()),
            "unique" if others.iter().any(|other: &Value| other.equals(&result)) => {}
            "unique" => {
                others.push(result);
                results.push(item.clone());
            }
            "sum" => {
                sum = Some(match sum {
                    Some(sum) => machine.operate(Binary::Add, &sum, &result)?,
                    None => result,
                });
            }
            _ => return Ok(None),
        }
    }
    finished(machine, items, name, (results, others, sum)).map(Some)
}

/// What a method is worth after the last value.
fn finished(
    machine: &mut Machine<'_>,
    items: Vec<Value>,
    name: &str,
    (results, others, sum): (Vec<Value>, Vec<Value>, Option<Value>),
) -> Outcome<Value> {
    match name {
        "find" | "findResult" => Ok(Value::Null),
        "findIndexOf" => Ok(Value::Int(-1)),
        "any" | "some" => Ok(Value::Truth(false)),
        "every" => Ok(Value::Truth(true)),
        "count" => Ok(Value::count(results.len())),
        "sum" => Ok(sum.unwrap_or_default()),
        "split" => Ok(Value::list(vec![Value::list(results), Value::list(others)])),
        "each" | "forEach" | "eachWithIndex" => Ok(Value::list(items)),
        _ => machine.list(results),
    }
}

fn inject(
    machine: &mut Machine<'_>,
    items: Vec<Value>,
    call: Arguments<'_>,
    closure: &Arc<Closure>,
) -> Outcome<Value> {
    let mut items = items.into_iter();
    // JavaScript has the closure before the value.
    let begin = call.all().iter().find(|value| !matches!(value, Value::Closure(_)));
    let begin = begin.cloned().or_else(|| items.next());
    let mut sum = begin.unwrap_or_default();
    for item in items {
        let entry = match &item {
            Value::Object(object) if closure.parameters() == 3 => Some(object.clone()),
            _ => None,
        };
        let arguments = match entry.as_deref() {
            Some(Object::Entry(key, value)) => vec![sum, key.clone(), value.clone()],
            _ => vec![sum, item],
        };
        sum = machine.call(closure, arguments)?;
    }
    Ok(sum)
}

/// Sorts by what a closure makes of a value, or of two.
fn sorted(machine: &mut Machine<'_>, items: Vec<Value>, closure: &Arc<Closure>) -> Outcome<Value> {
    if closure.parameters() < 2 {
        let mut keys = Vec::new();
        for item in &items {
            keys.push(call_with(machine, closure, item)?);
        }
        let items = order(machine, keys, items)?;
        return machine.list(items);
    }
    let items = merged(machine, items, &mut |machine, one, two| {
        let order = machine.call(closure, vec![one.clone(), two.clone()])?;
        Ok(order.as_double().is_some_and(|order| order > 0.0))
    })?;
    machine.list(items)
}

/// Whether the second of two comes first.
type IsBefore<'a, T> = dyn FnMut(&mut Machine<'_>, &T, &T) -> Outcome<bool> + 'a;

/// Sorts by a comparison, which may fail: halves are sorted, then put together.
fn merged<T>(
    machine: &mut Machine<'_>,
    mut items: Vec<T>,
    is_before: &mut IsBefore<'_, T>,
) -> Outcome<Vec<T>> {
    if items.len() < 2 {
        return Ok(items);
    }
    let second = items.split_off(items.len() / 2);
    let mut one = merged(machine, items, is_before)?.into_iter().peekable();
    let mut two = merged(machine, second, is_before)?.into_iter().peekable();
    let mut all = Vec::new();
    while let (Some(first), Some(second)) = (one.peek(), two.peek()) {
        let takes_second = is_before(machine, first, second)?;
        all.extend(if takes_second { two.next() } else { one.next() });
    }
    all.extend(one);
    all.extend(two);
    Ok(all)
}

/// Values in the order of their keys. Keys of several kinds have no order that holds for all of them, and long ones take long.
pub(super) fn order(
    machine: &mut Machine<'_>,
    keys: Vec<Value>,
    items: Vec<Value>,
) -> Outcome<Vec<Value>> {
    machine.spend(items.len() as u64)?;
    let rows: Vec<(Value, Value)> = keys.into_iter().zip(items).collect();
    let rows = merged(machine, rows, &mut |machine, (one, _), (two, _)| {
        machine.look()?;
        let order = one.order(two).unwrap_or_else(|| one.to_string().cmp(&two.to_string()));
        Ok(order == Ordering::Greater)
    })?;
    Ok(rows.into_iter().map(|(_, item)| item).collect())
}

fn extreme(
    machine: &mut Machine<'_>,
    items: &[Value],
    name: &str,
    closure: &Arc<Closure>,
) -> Outcome<Value> {
    let wanted = if name == "max" { Ordering::Greater } else { Ordering::Less };
    let mut keys = Vec::new();
    for item in items {
        keys.push(call_with(machine, closure, item)?);
    }
    extreme_of(&keys, items, wanted)
}

/// The item whose key is the greatest, or the least.
fn extreme_of(keys: &[Value], items: &[Value], wanted: Ordering) -> Outcome<Value> {
    let mut best: Option<usize> = None;
    for (at, key) in keys.iter().enumerate() {
        let is_better = best.is_none_or(|best| key.order(&keys[best]) == Some(wanted));
        best = if is_better { Some(at) } else { best };
    }
    Ok(best.map_or(Value::Null, |at| items[at].clone()))
}

fn to_map(
    machine: &mut Machine<'_>,
    items: Vec<Value>,
    name: &str,
    closure: &Arc<Closure>,
) -> Outcome<Value> {
    let map = Map::default();
    for item in items {
        let key = call_with(machine, closure, &item)?;
        machine.allot(4 * size_of::<Value>())?;
        match (name, &key) {
            ("collectEntries", Value::Map(rows)) => {
                rows.rows().into_iter().for_each(|(key, value)| drop(map.put(key, value)));
            }
            ("collectEntries", _) => {
                let pair = super::iterable(machine, &key)?;
                let part = |at: usize| pair.get(at).cloned().unwrap_or_default();
                map.put(part(0), part(1));
            }
            ("countBy", _) => {
                let count = map.get(&key).and_then(|count| count.as_long()).unwrap_or(0);
                map.put(key, Value::whole(count + 1));
            }
            _ => match map.get(&key) {
                Some(Value::List(list)) => list.extend([item]),
                _ => drop(map.put(key, Value::list(vec![item]))),
            },
        }
    }
    Ok(Value::Map(map))
}

/// Methods of a closure itself.
pub(super) fn of_closure(
    machine: &mut Machine<'_>,
    closure: &Arc<Closure>,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    match name {
        "call" | "doCall" | "apply" | "accept" | "test" | "get" | "run" => {
            machine.call(closure, call.all().to_vec()).map(Some)
        }
        _ => Ok(None),
    }
}
