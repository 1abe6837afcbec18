//! `Texts`: texts by names, which scripts and servers make up: they are charged to the memory of the process, and what finds no room
//! is not kept.

use std::collections::HashMap;

use stdx::MemoryShare;

/// Texts by names.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    all: HashMap<String, String>,
    bytes: usize,
    share: MemoryShare,
}

/// Names at most, and bytes of one text.
const NAMES_MAX: usize = 200_000;
const TEXT_BYTES_MAX: usize = 64 << 20;
/// Bytes of a name and a text beside their letters.
const ENTRY_BYTES: usize = 2 * size_of::<String>() + 16;

impl Texts {
    /// Those of another map.
    pub(crate) fn of(all: &HashMap<String, String>) -> Self {
        let mut texts = Self::default();
        for (name, text) in all {
            texts.insert(name, text.clone());
        }
        texts
    }

    pub(crate) fn get(&self, name: &str) -> Option<&String> {
        self.all.get(name)
    }

    /// Sets a text, where there is room for it. Without room the name keeps what it had.
    pub(crate) fn insert(&mut self, name: &str, text: String) {
        let before = self.all.get(name).map(|known| size(name, known));
        let bytes = self.bytes - before.unwrap_or(0) + size(name, &text);
        let fits = text.len() <= TEXT_BYTES_MAX
            && (before.is_some() || self.all.len() < NAMES_MAX)
            && self.share.resize(bytes).is_ok();
        if fits {
            self.bytes = bytes;
            self.all.insert(name.to_owned(), text);
        }
    }

    pub(crate) fn remove(&mut self, name: &str) {
        if let Some(text) = self.all.remove(name) {
            self.bytes -= size(name, &text);
            self.share.hold(self.bytes);
        }
    }

    /// Names and texts, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &String)> {
        self.all.iter()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.all.keys().cloned().collect()
    }
}

fn size(name: &str, text: &str) -> usize {
    name.len() + text.len() + ENTRY_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_counted_while_they_are_there() {
        let mut texts = Texts::default();
        texts.insert("a", "x".repeat(1_000));
        texts.insert("a", "x".repeat(10));
        texts.insert("b", "y".to_owned());
        assert_eq!(texts.bytes, size("a", &"x".repeat(10)) + size("b", "y"));
        texts.insert("long", "z".repeat(TEXT_BYTES_MAX + 1));
        assert_eq!(texts.get("long"), None);
        texts.remove("a");
        texts.remove("b");
        assert_eq!((texts.bytes, texts.iter().count()), (0, 0));
    }
}
