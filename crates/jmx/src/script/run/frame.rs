//! `Frame`: the names of a block, and of those around it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::script::tree::{Function, Type};
use crate::script::value::Value;

/// The names of a block.
#[derive(Debug)]
pub(super) struct Frame {
    slots: Mutex<Vec<Slot>>,
    outer: Option<Arc<Self>>,
}

/// A name with its value.
#[derive(Debug)]
struct Slot {
    name: Arc<str>,
    kind: Type,
    value: Value,
}

/// A block of code, and the frame in which it stands.
#[derive(Debug)]
pub struct Closure {
    pub(super) function: Arc<Function>,
    pub(super) frame: Arc<Frame>,
}

impl Closure {
    /// How many parameters it has; one where it has none of its own.
    pub(crate) fn parameters(&self) -> usize {
        if self.function.has_it { 1 } else { self.function.parameters.len() }
    }
}

impl Frame {
    pub(super) fn new(outer: Option<Arc<Self>>) -> Arc<Self> {
        Arc::new(Self { slots: Mutex::default(), outer })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Declares a name; one that is declared here already is set.
    pub(super) fn declare(&self, name: &Arc<str>, kind: Type, value: Value) {
        let mut slots = self.lock();
        match slots.iter_mut().find(|slot| slot.name == *name) {
            Some(slot) => (slot.kind, slot.value) = (kind, value),
            None => slots.push(Slot { name: name.clone(), kind, value }),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<Value> {
        let found = self.lock().iter().find(|slot| *slot.name == *name).map(|s| s.value.clone());
        found.or_else(|| self.outer.as_ref()?.get(name))
    }

    /// The type of a name that is declared.
    pub(super) fn kind(&self, name: &str) -> Option<Type> {
        let found = self.lock().iter().find(|slot| *slot.name == *name).map(|slot| slot.kind);
        found.or_else(|| self.outer.as_ref()?.kind(name))
    }

    /// Sets a name that is declared; whether it is.
    pub(super) fn set(&self, name: &str, value: Value) -> bool {
        let mut slots = self.lock();
        if let Some(slot) = slots.iter_mut().find(|slot| *slot.name == *name) {
            slot.value = value;
            return true;
        }
        drop(slots);
        self.outer.as_ref().is_some_and(|outer| outer.set(name, value))
    }

    pub(super) fn clear(&self) {
        self.lock().clear();
    }
}
