//! `Bindings`: the names that an element gives to its script, and those that the script sets.

use std::collections::HashMap;
use std::sync::Arc;

use super::context::Host;
use super::value::Value;

/// Values by the names that a script has for them.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    values: HashMap<Arc<str>, Value>,
}

impl Bindings {
    /// No names at all.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What every element of JMeter gives to its script: `vars`, `props`, `ctx`, `log`, `OUT`, `prev`, `sampler`.
    #[must_use]
    pub fn standard() -> Self {
        let mut bindings = Self::new();
        for (name, host) in [
            ("vars", Host::Variables),
            ("props", Host::Properties),
            ("ctx", Host::Context),
            ("log", Host::Log),
            ("OUT", Host::Out),
            ("prev", Host::Previous),
            ("sampler", Host::Sampler),
        ] {
            bindings.set(name, Value::Host(host));
        }
        bindings
    }

    /// The same with a name more.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.set(name, value);
        self
    }

    /// Sets a name.
    pub fn set(&mut self, name: &str, value: Value) {
        self.values.insert(Arc::from(name), value);
    }

    /// What a name has.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    pub(super) fn assign(&mut self, name: &Arc<str>, value: Value) {
        self.values.insert(name.clone(), value);
    }
}
