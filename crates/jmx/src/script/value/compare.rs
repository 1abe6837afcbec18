//! Which values are equal, and which is the greater one.

use std::cmp::Ordering;
use std::sync::Arc;

use super::object::lock;
use super::{Object, Value, work};

/// Lists are compared so deep in one another at most.
const DEPTH_MAX: u32 = 32;

impl Value {
    /// Whether both are equal: numbers by what they are worth, texts by their letters, lists by their items.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        equal(self, other, 0)
    }

    /// Whether both are the same object.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(one), Self::Text(two)) => Arc::ptr_eq(one, two),
            (Self::List(one), Self::List(two)) => one.is_same(two),
            (Self::Map(one), Self::Map(two)) => one.is_same(two),
            (Self::Object(one), Self::Object(two)) => Arc::ptr_eq(one, two),
            _ => self.equals(other),
        }
    }

    /// Their order; `None` where they have none.
    pub(crate) fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Null, Self::Null) => Some(Ordering::Equal),
            (Self::Null, _) => Some(Ordering::Less),
            (_, Self::Null) => Some(Ordering::Greater),
            (Self::Text(one), Self::Text(two)) => Some(utf16_order(one, two)),
            (Self::Letter(one), Self::Text(two)) => Some(one.to_string().as_str().cmp(two)),
            (Self::Text(one), Self::Letter(two)) => Some((**one).cmp(two.to_string().as_str())),
            (Self::Truth(one), Self::Truth(two)) => Some(one.cmp(two)),
            (Self::Object(one), Self::Object(two)) => object_order(one, two),
            _ => number_order(self, other),
        }
    }
}

/// Java compares texts by the units of UTF-16.
fn utf16_order(one: &str, two: &str) -> Ordering {
    match one.is_ascii() && two.is_ascii() {
        true => one.cmp(two),
        false => one.encode_utf16().cmp(two.encode_utf16()),
    }
}

fn number_order(one: &Value, two: &Value) -> Option<Ordering> {
    match (one, two) {
        (Value::Double(_), _) | (_, Value::Double(_)) => {
            one.as_double()?.partial_cmp(&two.as_double()?)
        }
        (Value::Decimal(_), _) | (_, Value::Decimal(_)) => {
            Some(one.as_decimal()?.compare(two.as_decimal()?))
        }
        _ => Some(one.as_long()?.cmp(&two.as_long()?)),
    }
}

fn object_order(one: &Object, two: &Object) -> Option<Ordering> {
    match (one, two) {
        (Object::Instant(_), Object::Instant(_)) => {
            Some(one.instant()?.unix_ms.cmp(&two.instant()?.unix_ms))
        }
        (Object::Duration(one), Object::Duration(two)) => Some(one.cmp(two)),
        (Object::Counter(one), Object::Counter(two)) => {
            let (one, two) = (*lock(one), *lock(two));
            Some(one.cmp(&two))
        }
        (Object::Uuid(one), Object::Uuid(two)) => Some(one.cmp(two)),
        _ => None,
    }
}

fn equal(one: &Value, two: &Value, depth: u32) -> bool {
    if depth > DEPTH_MAX || !work::count() {
        return false;
    }
    match (one, two) {
        (Value::Null, other) | (other, Value::Null) => other.is_null(),
        (Value::Truth(one), Value::Truth(two)) => one == two,
        (Value::Text(one), Value::Text(two)) => one == two,
        (Value::Letter(letter), Value::Text(text)) | (Value::Text(text), Value::Letter(letter)) => {
            **text == *letter.to_string()
        }
        (Value::Bytes(one), Value::Bytes(two)) => one == two,
        (Value::List(one), Value::List(two)) => {
            one.is_same(two) || all_equal(&one.items(), &two.items(), depth)
        }
        (Value::Map(one), Value::Map(two)) => {
            let is_there = |(key, value): (Value, Value)| {
                two.get(&key).is_some_and(|other| equal(&value, &other, depth + 1))
            };
            one.is_same(two) || one.len() == two.len() && one.rows().into_iter().all(is_there)
        }
        (Value::Object(one), Value::Object(two)) => {
            Arc::ptr_eq(one, two) || object_order(one, two) == Some(Ordering::Equal)
        }
        (Value::Closure(one), Value::Closure(two)) => Arc::ptr_eq(one, two),
        (Value::Host(one), Value::Host(two)) => one == two,
        (Value::Class(one), Value::Class(two)) => one == two,
        _ => number_order(one, two) == Some(Ordering::Equal),
    }
}

fn all_equal(one: &[Value], two: &[Value], depth: u32) -> bool {
    one.len() == two.len() && one.iter().zip(two).all(|(one, two)| equal(one, two, depth + 1))
}
