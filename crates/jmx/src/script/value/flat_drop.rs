//! Values that hold values are dropped one after the other, however deep they stand in one another: a list in a list in a list
//! would take a stack as deep.

use std::cell::RefCell;

use super::Value;

thread_local! {
    /// Those that are still to be dropped, while a drop goes on.
    static LEFT: RefCell<Option<Vec<Value>>> = const { RefCell::new(None) };
}

/// Drops values and what they hold.
pub(super) fn drop_flat(values: Vec<Value>) {
    if values.is_empty() {
        return;
    }
    let is_first = LEFT.try_with(|left| {
        let mut left = left.borrow_mut();
        let is_first = left.is_none();
        left.get_or_insert_default().extend(values);
        is_first
    });
    // Where the thread is at its end its store is gone: then what is left is dropped as it is.
    if is_first != Ok(true) {
        return;
    }
    while let Some(value) = LEFT.with(|left| left.borrow_mut().as_mut().and_then(Vec::pop)) {
        drop(value);
    }
    LEFT.with(|left| left.take());
}

#[cfg(test)]
mod tests {
    use super::super::{Map, Object};
    use super::*;

    #[test]
    fn deep_values_are_dropped() {
        for wrap in [
            |inner: Value| Value::list(vec![inner]),
            |inner: Value| Value::Map(Map::new([(Value::text("in"), inner)])),
            |inner: Value| Value::object(Object::Entry(Value::Null, inner)),
            |inner: Value| Value::object(Object::Json(inner.into())),
            |inner: Value| Value::object(Object::Iterator(vec![inner].into())),
        ] {
            let deep = (0..300_000).fold(Value::Null, |inner, _| wrap(inner));
            let other = deep.clone();
            drop(deep);
            drop(other);
        }
    }
}
