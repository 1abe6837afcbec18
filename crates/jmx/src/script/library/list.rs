//! The methods of lists, sets and arrays.

use super::arguments::{Arguments, out_of};
use super::{closures, javascript, random};
use crate::script::Language;
use crate::script::run::{Machine, Outcome, throw};
use crate::script::value::{List, ListKind, Object, Value};

/// A method of a list.
pub(super) fn method(
    machine: &mut Machine<'_>,
    list: &List,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    if machine.language == Language::JavaScript
        && let Some(value) = javascript::list_method(machine, list, name, call)?
    {
        return Ok(Some(value));
    }
    if let Some(value) = question(machine, list, name, call)? {
        return Ok(Some(value));
    }
    if let Some(value) = change(machine, list, name, call)? {
        return Ok(Some(value));
    }
    if let Some(value) = change_many(machine, list, name, call)? {
        return Ok(Some(value));
    }
    let items = list.items();
    machine.allot(items.len() * 4)?;
    match (name, closures::method(machine, items, name, call)?) {
        // These change the list as well.
        ("sort" | "unique", Some(Value::List(sorted))) if !is_copy(call) => {
            list.replace(sorted.items());
            Ok(Some(Value::List(list.clone())))
        }
        ("each" | "eachWithIndex" | "forEach", Some(_)) => Ok(Some(Value::List(list.clone()))),
        ("findAll" | "filter", Some(Value::List(found))) if list.kind() == ListKind::Set => {
            Ok(Some(Value::List(List::new(ListKind::Set, found.items()))))
        }
        (_, found) => Ok(found),
    }
}

/// Whether a first argument `false` asks for a copy.
fn is_copy(call: Arguments<'_>) -> bool {
    matches!(call.get(0), Value::Truth(false))
}

/// Methods that change nothing.
fn question(
    machine: &mut Machine<'_>,
    list: &List,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    machine.spend(1)?;
    Ok(Some(match (name, call.len()) {
        ("size" | "length", 0) => Value::count(list.len()),
        ("isEmpty", 0) => list.is_empty().into(),
        ("get" | "elementAt", 1) => {
            let at = call.place(0, usize::MAX)?;
            list.get(at).ok_or_else(|| out_of(call.long(0), list.len()))?
        }
        ("getAt", 1) => {
            return super::place(machine, &Value::List(list.clone()), &call.get(0)).map(Some);
        }
        ("getFirst" | "element", 0) => first(list)?,
        ("peek" | "peekFirst", 0) => list.get(0).unwrap_or_default(),
        ("contains", 1) => list.position(&call.get(0)).is_some().into(),
        ("containsAll", 1) => {
            let others = super::iterable(machine, &call.get(0))?;
            machine.spend((others.len() * list.len()) as u64 / 4)?;
            machine.holds_each(&others, |other| list.position(other).is_some())?.into()
        }
        ("indexOf", 1) => list.position(&call.get(0)).map_or(Value::Int(-1), Value::count),
        ("lastIndexOf", 1) => {
            let wanted = call.get(0);
            let found = list.items().iter().rposition(|item| item.equals(&wanted));
            found.map_or(Value::Int(-1), Value::count)
        }
        ("iterator" | "listIterator", 0) => {
            let mut items = list.items();
            machine.allot(items.len() * size_of::<Value>())?;
            items.reverse();
            Value::object(Object::Iterator(items.into()))
        }
        ("subList", 2) => {
            let items = list.items();
            let (from, to) = (call.place(0, items.len())?, call.place(1, items.len())?);
            let part = items.get(from..to);
            let part =
                part.ok_or_else(|| throw("IllegalArgumentException", "fromIndex > toIndex"))?;
            machine.list(part.to_vec())?
        }
        (
            "toArray" | "clone" | "asImmutable" | "asUnmodifiable" | "stream" | "plus" | "minus"
            | "intersect" | "disjoint" | "asSynchronized" | "boxed",
            _,
        ) => return copy(machine, list, name, call).map(Some),
        _ => return Ok(None),
    }))
}

fn first(list: &List) -> Outcome<Value> {
    list.get(0).ok_or_else(|| throw("NoSuchElementException", "the list is empty"))
}

/// Methods that make another list.
fn copy(machine: &mut Machine<'_>, list: &List, name: &str, call: Arguments<'_>) -> Outcome<Value> {
    let kind = if name == "toArray" { ListKind::Array } else { list.kind() };
    let mut items = list.items();
    machine.allot(items.len() * size_of::<Value>())?;
    if matches!(name, "plus" | "minus" | "intersect" | "disjoint") {
        let others = match call.get(0) {
            Value::List(other) => other.items(),
            other => vec![other],
        };
        machine.spend((others.len() * items.len()) as u64 / 4)?;
        let has = |item: &Value| others.iter().any(|other| other.equals(item));
        match name {
            "plus" => items.extend(others),
            "minus" => items = machine.filter(items, |item| !has(item))?,
            "disjoint" => return Ok(machine.holds_each(&items, |item| !has(item))?.into()),
            _ => items = machine.filter(items, has)?,
        }
    }
    Ok(Value::List(List::new(kind, items)))
}

/// Methods that change one item.
fn change(
    machine: &mut Machine<'_>,
    list: &List,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let length = list.len();
    charge_moves(machine, length, (name, call.len()))?;
    Ok(Some(match (name, call.len()) {
        ("add" | "push" | "addLast" | "offer" | "leftShift" | "append" | "addElement", 1) => {
            let is_new = machine.add_item(list, call.get(0))?;
            if name == "leftShift" { Value::List(list.clone()) } else { is_new.into() }
        }
        ("add", 2) => {
            machine.allot(size_of::<Value>())?;
            let at = call.place(0, length)?;
            list.lock().insert(at, call.get(1));
            Value::Null
        }
        ("addFirst", 1) => {
            machine.allot(size_of::<Value>())?;
            list.lock().insert(0, call.get(0));
            Value::Null
        }
        ("set" | "putAt", 2) => {
            let at = usize::try_from(call.long(0)).ok().filter(|at| *at < length);
            let at = at.ok_or_else(|| out_of(call.long(0), length))?;
            std::mem::replace(&mut list.lock()[at], call.get(1))
        }
        ("remove", 1) if matches!(call.get(0), Value::Int(_)) && list.kind() == ListKind::List => {
            removed(list, call.long(0))?
        }
        ("removeAt", 1) => removed(list, call.long(0))?,
        ("remove" | "removeElement", 1) => match list.position(&call.get(0)) {
            Some(at) => {
                list.lock().remove(at);
                Value::Truth(true)
            }
            None => Value::Truth(false),
        },
        ("remove" | "removeFirst", 0) => removed(list, 0)?,
        ("pop" | "removeLast", 0) => removed(list, length as i64 - 1)?,
        ("poll" | "pollFirst", 0) if length == 0 => Value::Null,
        ("poll" | "pollFirst" | "take", 0) => removed(list, 0)?,
        _ => return Ok(None),
    }))
}

/// Items that move to make or to take room, so many a step.
const MOVES_IN_STEP: u64 = 2_048;

/// Charges for the items that a method moves.
pub(super) fn charge_moves(
    machine: &mut Machine<'_>,
    length: usize,
    of: (&str, usize),
) -> Outcome<()> {
    match of {
        ("add", 2)
        | ("addFirst" | "unshift" | "remove" | "removeAt" | "removeElement", 1)
        | ("remove" | "removeFirst" | "poll" | "pollFirst" | "take" | "shift", 0) => {
            machine.spend(length as u64 / MOVES_IN_STEP)
        }
        _ => Ok(()),
    }
}

fn removed(list: &List, at: i64) -> Outcome<Value> {
    let length = list.len();
    let place = usize::try_from(at).ok().filter(|place| *place < length);
    let place = place.ok_or_else(|| out_of(at, length))?;
    Ok(list.lock().remove(place))
}

/// Methods that change many items.
fn change_many(
    machine: &mut Machine<'_>,
    list: &List,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let before = list.len();
    match (name, call.len()) {
        ("addAll", 1) => {
            let items = super::iterable(machine, &call.get(0))?;
            machine.add_items(list, items)?;
        }
        ("removeAll" | "retainAll", 1) => {
            let keeps = name == "retainAll";
            let others = match call.get(0) {
                Value::Closure(closure) => return without(machine, list, &closure).map(Some),
                other => super::iterable(machine, &other)?,
            };
            machine.spend((others.len() * before) as u64 / 4)?;
            let has = |item: &Value| others.iter().any(|other| other.equals(item));
            list.replace(machine.filter(list.items(), |item| has(item) == keeps)?);
        }
        ("removeIf", 1) => match call.get(0) {
            Value::Closure(closure) => return without(machine, list, &closure).map(Some),
            _ => return Ok(None),
        },
        ("clear", 0) => {
            list.lock().clear();
            return Ok(Some(Value::Null));
        }
        ("shuffle", 0 | 1) => {
            random::shuffle(machine, list)?;
            return Ok(Some(Value::Null));
        }
        ("swap", 2) => {
            let (one, two) = (call.place(0, before)?, call.place(1, before)?);
            if one < before && two < before {
                list.lock().swap(one, two);
            }
            return Ok(Some(Value::List(list.clone())));
        }
        _ => return Ok(None),
    }
    Ok(Some((list.len() != before).into()))
}

/// Removes the items for which a closure holds.
fn without(
    machine: &mut Machine<'_>,
    list: &List,
    closure: &std::sync::Arc<crate::script::run::Closure>,
) -> Outcome<Value> {
    let mut items = Vec::new();
    for item in list.items() {
        if !machine.call(closure, vec![item.clone()])?.is_true() {
            items.push(item);
        }
    }
    let has_changed = items.len() != list.len();
    list.replace(items);
    Ok(has_changed.into())
}
