//! `Objects`: values that scripts keep among variables and properties. They are charged to the memory of the process by what they
//! hold, also once they have grown.

use std::collections::HashMap;

use jmx::Value;
use stdx::MemoryShare;

/// Values by names.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    /// Each with the bytes that it held when it was weighed last.
    all: HashMap<String, (Value, usize)>,
    bytes: usize,
    /// Bytes that scripts have made since all were weighed.
    made: usize,
    share: MemoryShare,
}

/// Values at most.
const OBJECTS_MAX: usize = 10_000;
/// Values are weighed again once scripts have made half as much as they held, and this much at least.
const MADE_MIN: usize = 1 << 20;

impl Objects {
    pub(crate) fn get(&self, name: &str) -> Option<Value> {
        self.all.get(name).map(|(value, _)| value.clone())
    }

    /// Sets a value, or removes it; whether there is room for it.
    pub(crate) fn set(&mut self, name: &str, value: Option<Value>) -> bool {
        let before = self.all.get(name).map(|(_, bytes)| *bytes);
        let rest = self.bytes - before.unwrap_or(0);
        let Some(value) = value else {
            self.all.remove(name);
            self.bytes = rest;
            self.share.hold(rest);
            return true;
        };
        if before.is_none() && self.all.len() >= OBJECTS_MAX {
            return false;
        }
        let weight = weigh(&value);
        let has_room = self.share.resize(rest.saturating_add(weight)).is_ok();
        if has_room {
            self.bytes = rest + weight;
            self.all.insert(name.to_owned(), (value, weight));
        }
        has_room
    }

    /// A script has made so many bytes, of which some may be in values that are kept.
    pub(crate) fn note_made(&mut self, bytes: usize) {
        self.made = self.made.saturating_add(bytes);
        if self.all.is_empty() || self.made < MADE_MIN.max(self.bytes / 2) {
            return;
        }
        self.made = 0;
        for (value, bytes) in self.all.values_mut() {
            *bytes = weigh(value);
        }
        self.bytes = self.all.values().map(|(_, bytes)| bytes).sum();
        while self.share.resize(self.bytes).is_err() {
            self.forget_heaviest();
        }
    }

    /// Where values have outgrown the limit, the heaviest goes: there is no one to refuse it to.
    fn forget_heaviest(&mut self) {
        let heaviest = self.all.iter().max_by_key(|(_, (_, bytes))| *bytes);
        let Some(name) = heaviest.map(|(name, _)| name.clone()) else {
            self.bytes = 0;
            return;
        };
        let bytes = self.all.remove(&name).map_or(0, |(_, bytes)| bytes);
        self.bytes -= bytes;
    }
}

/// What a value holds, up to a little more than may be left.
fn weigh(value: &Value) -> usize {
    value.weight(stdx::memory_limit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_weigh_what_they_hold() {
        let mut objects = Objects::default();
        let text = Value::text("x".repeat(100_000));
        assert!(objects.set("a", Some(text.clone())));
        let one = objects.bytes;
        assert!(one > 100_000);
        assert!(objects.set("a", Some(text)));
        assert_eq!(objects.bytes, one, "in the place of the first");
        objects.note_made(MADE_MIN);
        assert_eq!(objects.bytes, one, "it has not grown");
        assert!(objects.set("a", None));
        assert_eq!((objects.bytes, objects.get("a").is_some()), (0, false));
    }
}
