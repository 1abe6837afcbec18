//! `BareTarget`: a target as its file gives it.

use std::sync::Arc;

/// A target as its file gives it, before the defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BareTarget {
    /// The method, as given.
    pub method: String,
    /// The URL, as given.
    pub url: String,
    /// Its own header fields in order.
    pub headers: Vec<(String, String)>,
    /// Its own body.
    pub body: Option<Arc<[u8]>>,
    /// How often it is chosen, relative to the others.
    pub weight: u32,
    /// A name to group by; may be empty.
    pub name: String,
}

impl BareTarget {
    pub(super) fn new(method: &str, url: &str) -> Self {
        Self {
            method: method.to_owned(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: None,
            weight: 1,
            name: String::new(),
        }
    }
}
