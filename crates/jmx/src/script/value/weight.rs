//! How many bytes a value holds: what scripts keep between their runs is charged by that.

use std::collections::HashSet;

use super::object::lock;
use super::{Object, Value};

/// Bytes of a value and its place in a collection.
const VALUE_BYTES: usize = 2 * size_of::<Value>();
/// Bytes of what stands by itself on the heap, beside what it holds.
const OWN_BYTES: usize = 64;

impl Value {
    /// The bytes that it holds, with all that stands in it, each once; counted up to about `max`.
    #[must_use]
    pub fn weight(&self, max: usize) -> usize {
        let (mut bytes, mut seen, mut left) = (0_usize, HashSet::new(), vec![self.clone()]);
        while let Some(value) = left.pop().filter(|_| bytes < max) {
            bytes += VALUE_BYTES;
            if value.address().is_none_or(|address| seen.insert(address)) {
                bytes += value.own_bytes();
                left.extend(value.parts());
            }
        }
        bytes
    }

    /// Where it stands on the heap; `None` of what does not.
    fn address(&self) -> Option<usize> {
        Some(match self {
            Self::Text(text) => text.as_ptr().addr(),
            Self::Bytes(bytes) => bytes.as_ptr().addr(),
            Self::List(list) => list.address(),
            Self::Map(map) => map.address(),
            Self::Object(object) => std::sync::Arc::as_ptr(object).addr(),
            _ => return None,
        })
    }

    /// What it takes on the heap without its parts.
    fn own_bytes(&self) -> usize {
        OWN_BYTES
            + match self {
                Self::Text(text) => text.len(),
                Self::Bytes(bytes) => bytes.len(),
                Self::Object(object) => object.letters(),
                _ => 0,
            }
    }

    /// The values that stand in it.
    fn parts(&self) -> Vec<Self> {
        match self {
            Self::List(list) => list.items(),
            Self::Map(map) => map.rows().into_iter().flat_map(<[Self; 2]>::from).collect(),
            Self::Object(object) => object.parts(),
            _ => Vec::new(),
        }
    }
}

impl Object {
    fn letters(&self) -> usize {
        match self {
            Self::Builder(text) => lock(text).len(),
            Self::Digest(_, bytes) => lock(bytes).len(),
            Self::DateFormat(text, _) | Self::Uuid(text) => text.len(),
            Self::Zone(text) | Self::Pattern(text) => text.len(),
            Self::Key(bytes) => bytes.len(),
            Self::Pair(_, one, other) => one.len() + other.len(),
            Self::Matcher(matcher) => {
                let groups = matcher.matches.iter().flatten().flatten();
                matcher.text.len() + groups.map(|group| group.len() + OWN_BYTES).sum::<usize>()
            }
            _ => 0,
        }
    }

    fn parts(&self) -> Vec<Value> {
        match self {
            Self::Entry(key, value) => vec![key.clone(), value.clone()],
            Self::Iterator(left) => lock(left).clone(),
            Self::Json(value) => vec![lock(value).clone()],
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_weighs_once() {
        let text = Value::text("x".repeat(1_000_000));
        let one = text.weight(usize::MAX);
        assert!((1_000_000..1_001_000).contains(&one), "{one}");
        let many = Value::list(vec![text; 100]);
        assert!(many.weight(usize::MAX) < 1_020_000);
        let mut doubled = Value::list(vec![Value::Int(1)]);
        for _ in 0..40 {
            doubled = Value::list(vec![doubled.clone(), doubled]);
        }
        assert!(doubled.weight(usize::MAX) < 20_000);
        let large = Value::list((0..100_000).map(Value::Int).collect());
        assert!(large.weight(usize::MAX) > 100_000 * size_of::<Value>());
        assert!(large.weight(1_000) < 10_000, "no more than asked for");
        let own = crate::script::value::List::new(crate::script::value::ListKind::List, vec![]);
        own.add(Value::List(own.clone()));
        assert!(Value::List(own.clone()).weight(usize::MAX) < 1_000, "a list in itself");
        own.replace(vec![]);
    }
}
