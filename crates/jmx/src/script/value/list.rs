//! `List`: lists, sets and arrays.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Value;
use super::flat_drop::drop_flat;

/// Values in an order, shared by those that hold the list.
#[derive(Clone, Debug)]
pub struct List {
    kind: ListKind,
    items: Arc<Mutex<Vec<Value>>>,
}

/// Which of Java's collections a list is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    List,
    /// Its values differ from one another.
    Set,
    Array,
}

impl List {
    pub(crate) fn new(kind: ListKind, items: Vec<Value>) -> Self {
        Self { kind, items: Arc::new(Mutex::new(items)) }
    }

    pub(crate) fn kind(&self) -> ListKind {
        self.kind
    }

    pub(crate) fn class(&self) -> &'static str {
        match self.kind {
            ListKind::List => "ArrayList",
            ListKind::Set => "LinkedHashSet",
            ListKind::Array => "Object[]",
        }
    }

    /// The items, for one look or change: no value is formatted, compared or called while they are held.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<Value>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The items as they are now.
    pub(crate) fn items(&self) -> Vec<Value> {
        self.lock().clone()
    }

    pub(crate) fn replace(&self, items: Vec<Value>) {
        *self.lock() = items;
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn get(&self, at: usize) -> Option<Value> {
        self.lock().get(at).cloned()
    }

    /// Where its items are.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.items).addr()
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.items, &other.items)
    }

    /// Adds a value; whether the list has changed by that.
    pub(crate) fn add(&self, value: Value) -> bool {
        if self.kind == ListKind::Set && self.position(&value).is_some() {
            return false;
        }
        self.lock().push(value);
        true
    }

    /// Adds values.
    pub(crate) fn extend(&self, values: impl IntoIterator<Item = Value>) {
        for value in values {
            self.add(value);
        }
    }

    pub(crate) fn position(&self, value: &Value) -> Option<usize> {
        self.items().iter().position(|item| item.equals(value))
    }

    /// The place that a number names; negative ones count from the end.
    pub(crate) fn place(&self, number: i64) -> Option<usize> {
        let number = if number < 0 { number + self.len() as i64 } else { number };
        usize::try_from(number).ok()
    }
}

impl Drop for List {
    fn drop(&mut self) {
        if let Some(items) = Arc::get_mut(&mut self.items) {
            drop_flat(std::mem::take(items.get_mut().unwrap_or_else(PoisonError::into_inner)));
        }
    }
}
