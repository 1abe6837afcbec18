//! `Arguments`: what a function is called with, evaluated.

use crate::scope::Scope;

/// What a function is called with.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) values: Vec<String>,
    /// The number of the call among all that were parsed: its counter.
    pub(crate) call: u64,
}

impl Arguments {
    /// An argument; `None` where there is none.
    pub(crate) fn get(&self, at: usize) -> Option<String> {
        self.values.get(at).cloned()
    }

    /// An argument; empty where there is none.
    pub(crate) fn text(&self, at: usize) -> String {
        self.get(at).unwrap_or_default()
    }

    /// Stores a value in the variable that an argument names, where it names one; the value.
    pub(crate) fn stored(&self, scope: &mut dyn Scope, at: usize, value: String) -> String {
        if let Some(name) = self.get(at).filter(|name| !name.trim().is_empty()) {
            scope.set_variable(name.trim(), value.clone());
        }
        value
    }
}
