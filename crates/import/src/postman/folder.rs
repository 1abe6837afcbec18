//! `Folder`: what requests inherit.

use serde_json::Value;

/// What requests inherit from their folders.
#[derive(Clone)]
pub(super) struct Folder<'a> {
    pub(super) names: Vec<&'a str>,
    pub(super) auth: Option<&'a Value>,
    pub(super) scripts: Vec<&'a Value>,
    pub(super) behaviour: Vec<&'a Value>,
}

impl<'a> Folder<'a> {
    /// With what a folder, or a request itself, adds.
    pub(super) fn with(&self, item: &'a Value) -> Self {
        let mut inner = self.clone();
        let own_auth = item
            .get("auth")
            .or_else(|| item.get("request").and_then(|request| request.get("auth")));
        inner.auth = own_auth.filter(|auth| auth.is_object()).or(self.auth);
        inner.scripts.extend(item.get("event").and_then(Value::as_array).into_iter().flatten());
        inner.behaviour.extend(item.get("protocolProfileBehavior"));
        inner
    }

    /// What the nearest level has for a key of the behaviour.
    pub(super) fn behaves(&self, key: &str) -> Option<bool> {
        self.behaviour.iter().rev().find_map(|level| level.get(key).and_then(Value::as_bool))
    }
}
