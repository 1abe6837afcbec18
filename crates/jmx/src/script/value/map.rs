//! `Map`: values by keys, in the order in which they came.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Value;
use super::flat_drop::drop_flat;

/// Values by keys, shared by those that hold the map.
#[derive(Clone, Debug, Default)]
pub struct Map {
    entries: Arc<Mutex<Entries>>,
}

/// The entries in their order, and where each key is.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    rows: Vec<(Value, Value)>,
    places: HashMap<Key, usize>,
}

/// What keys are compared by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Text(Arc<str>),
    Number(String),
    Other(String),
    /// What a long text is worth, twice, and its length: lists may be written as 16 MiB.
    Long([u64; 2], usize),
}

/// Letters of a key that are kept as they are.
const KEY_LETTERS_MAX: usize = 1_024;

impl Key {
    fn of(value: &Value) -> Self {
        match value {
            Value::Text(text) => Self::Text(text.clone()),
            number if number.is_number() => Self::Number(number.to_string()),
            other => Self::of_other(other.to_string()),
        }
    }

    fn of_other(text: String) -> Self {
        if text.len() <= KEY_LETTERS_MAX {
            return Self::Other(text);
        }
        let hash = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            (salt, &text).hash(&mut hasher);
            hasher.finish()
        };
        Self::Long([hash(0), hash(1)], text.len())
    }
}

impl Map {
    pub(crate) fn new(rows: impl IntoIterator<Item = (Value, Value)>) -> Self {
        let map = Self::default();
        rows.into_iter().for_each(|(key, value)| drop(map.put(key, value)));
        map
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where its entries are.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.entries).addr()
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.entries, &other.entries)
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().rows.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entries as they are now.
    pub(crate) fn rows(&self) -> Vec<(Value, Value)> {
        self.lock().rows.clone()
    }

    pub(crate) fn keys(&self) -> Vec<Value> {
        self.lock().rows.iter().map(|(key, _)| key.clone()).collect()
    }

    pub(crate) fn values(&self) -> Vec<Value> {
        self.lock().rows.iter().map(|(_, value)| value.clone()).collect()
    }

    pub(crate) fn get(&self, key: &Value) -> Option<Value> {
        let key = Key::of(key);
        let entries = self.lock();
        let place = *entries.places.get(&key)?;
        entries.rows.get(place).map(|(_, value)| value.clone())
    }

    pub(crate) fn get_text(&self, key: &str) -> Option<Value> {
        self.get(&Value::text(key))
    }

    /// Stores a value; what was there before.
    pub(crate) fn put(&self, key: Value, value: Value) -> Option<Value> {
        let found = Key::of(&key);
        let mut entries = self.lock();
        if let Some(place) = entries.places.get(&found).copied() {
            return Some(std::mem::replace(&mut entries.rows[place].1, value));
        }
        let place = entries.rows.len();
        entries.places.insert(found, place);
        entries.rows.push((key, value));
        None
    }

    pub(crate) fn remove(&self, key: &Value) -> Option<Value> {
        let key = Key::of(key);
        let mut entries = self.lock();
        let place = entries.places.remove(&key)?;
        let (_, value) = entries.rows.remove(place);
        entries.places.values_mut().filter(|at| **at > place).for_each(|at| *at -= 1);
        Some(value)
    }

    pub(crate) fn clear(&self) {
        *self.lock() = Entries::default();
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        if let Some(entries) = Arc::get_mut(&mut self.entries) {
            let entries = entries.get_mut().unwrap_or_else(PoisonError::into_inner);
            let rows = std::mem::take(&mut entries.rows).into_iter();
            drop_flat(rows.flat_map(<[Value; 2]>::from).collect());
        }
    }
}
