//! `Arguments`: what a method is called with.

use crate::script::run::{Fault, Outcome, throw};
use crate::script::value::Value;

/// What a method is called with.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'a>(pub(super) &'a [Value]);

impl<'a> Arguments<'a> {
    pub(super) fn len(self) -> usize {
        self.0.len()
    }

    pub(super) fn get(self, at: usize) -> Value {
        self.0.get(at).cloned().unwrap_or_default()
    }

    pub(super) fn all(self) -> &'a [Value] {
        self.0
    }

    /// An argument as a text.
    pub(super) fn text(self, at: usize) -> String {
        self.0.get(at).map(Value::to_string).unwrap_or_default()
    }

    /// A whole number; 0 where there is none.
    pub(super) fn long(self, at: usize) -> i64 {
        self.0.get(at).and_then(Value::as_long).unwrap_or(0)
    }

    pub(super) fn double(self, at: usize) -> f64 {
        self.0.get(at).and_then(Value::as_double).unwrap_or(f64::NAN)
    }

    /// A place in something of a length; one before its beginning is a fault.
    pub(super) fn place(self, at: usize, length: usize) -> Outcome<usize> {
        let place = self.long(at);
        usize::try_from(place)
            .ok()
            .filter(|place| *place <= length)
            .ok_or_else(|| out_of(place, length))
    }

    pub(super) fn is_true(self, at: usize) -> bool {
        self.0.get(at).is_some_and(Value::is_true)
    }
}

/// The fault of a place that is not there.
pub(super) fn out_of(place: i64, length: usize) -> Fault {
    throw("IndexOutOfBoundsException", format!("Index {place} out of bounds for length {length}"))
}
