//! `Interned`: values of which many are alike, each of them held once.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};

/// Values of which many are alike, each of them held once and named by its number.
#[derive(Clone, Debug)]
pub struct Interned<T> {
    values: Vec<T>,
    /// Numbers by the hashes of their values.
    known: HashMap<u64, u32>,
    hasher: RandomState,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self { values: Vec::new(), known: HashMap::new(), hasher: RandomState::new() }
    }
}

impl<T: Hash + Eq> Interned<T> {
    /// The number of a value, which is held from now on.
    ///
    /// # Panics
    /// There are 2^32 of them.
    pub fn add(&mut self, value: T) -> u32 {
        let next = u32::try_from(self.values.len()).expect("fewer than 2^32 values");
        // Mostly it is the one that came last.
        if self.values.last() == Some(&value) {
            return next - 1;
        }
        let hash = self.hasher.hash_one(&value);
        if let Some(&number) = self.known.get(&hash)
            && self.values[number as usize] == value
        {
            return number;
        }
        // Of two values with one hash the first is not found again, which costs its memory and nothing else.
        self.known.insert(hash, next);
        self.values.push(value);
        next
    }

    /// The value of this number.
    ///
    /// # Panics
    /// [`Interned::add`] gave no such number.
    #[must_use]
    pub fn get(&self, number: u32) -> &T {
        &self.values[number as usize]
    }

    /// The values by their numbers.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_is_held_once() {
        let mut words = Interned::default();
        let numbers = ["GET", "GET", "POST", "GET", "", "POST"].map(|word| words.add(word));
        assert_eq!(numbers, [0, 0, 1, 0, 2, 1]);
        assert_eq!((words.values(), *words.get(1)), (&["GET", "POST", ""][..], "POST"));
    }
}
