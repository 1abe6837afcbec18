//! `Options`: how targets are read, and what they have where they do not say.

use std::sync::Arc;

use super::bare::BareTarget;
use super::grammar::Grammar;
use crate::target::Target;

/// How to read targets, and what they have where they do not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// How rough edges are read.
    pub grammar: Grammar,
    /// What targets have in common.
    pub defaults: Defaults,
}

/// What targets have in common (`-header`, `-body`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defaults {
    /// Header fields that come before a target's own.
    pub headers: Vec<(String, String)>,
    /// The body of a target without one.
    pub body: Arc<[u8]>,
}

/// Reads a body file (`@path`); gives its bytes or why it could not be read.
pub type ReadBody<'a> = dyn FnMut(&str) -> Result<Vec<u8>, String> + 'a;

impl Defaults {
    /// The target with the default headers before its own, and the default body where it has none (`None`; an empty body is
    /// a body).
    #[must_use]
    pub fn apply(&self, bare: BareTarget) -> Target {
        let mut headers = self.headers.clone();
        headers.extend(bare.headers);
        Target {
            method: bare.method,
            url: bare.url,
            headers,
            body: bare.body.unwrap_or_else(|| Arc::clone(&self.body)),
            weight: bare.weight,
            name: bare.name,
        }
    }
}
