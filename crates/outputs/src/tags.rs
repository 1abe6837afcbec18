//! `TagSets`: lists of tags, each stored once.

use std::collections::HashMap;
use std::sync::Arc;

use stdx::MemoryShare;

/// Bytes of all lists, at most, and no more than a 16th of what the process may take: what is made of them to be sent is as long.
const BYTES_MAX: usize = 256 << 20;

/// Names and values.
pub(crate) type TagList = Arc<[(String, String)]>;

/// Lists of tags and their numbers.
#[derive(Default)]
pub(crate) struct TagSets {
    numbers: HashMap<TagList, u32>,
    lists: Vec<TagList>,
    /// The number of the list asked for last: samples of one request share theirs.
    last: u32,
    /// Bytes of the lists, of what the process may take.
    bytes: usize,
    memory: MemoryShare,
}

impl TagSets {
    /// The number of a list; `None` where there are `limit` others already, or no memory is left for it.
    pub(crate) fn number(&mut self, tags: &[(String, String)], limit: usize) -> Option<u32> {
        if self.lists.get(self.last as usize).is_some_and(|list| **list == *tags) {
            return Some(self.last);
        }
        self.last = match self.numbers.get(tags) {
            Some(number) => *number,
            None if self.lists.len() >= limit => return None,
            None => {
                let bytes = self.bytes + bytes_of(tags);
                if bytes > stdx::within_memory(BYTES_MAX, 16) || self.memory.resize(bytes).is_err()
                {
                    return None;
                }
                self.bytes = bytes;
                let number = self.lists.len() as u32;
                let list: TagList = tags.into();
                self.numbers.insert(Arc::clone(&list), number);
                self.lists.push(list);
                number
            }
        };
        Some(self.last)
    }

    pub(crate) fn list(&self, number: u32) -> &TagList {
        &self.lists[number as usize]
    }
}

/// The bytes that a list takes, with its place in the table.
pub(crate) fn bytes_of(tags: &[(String, String)]) -> usize {
    let pair =
        |(name, value): &(String, String)| name.len() + value.len() + size_of::<(String, String)>();
    tags.iter().map(pair).sum::<usize>() + 64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 42, F6: 20,000 lists of tags of 60 kB, which a server made by redirects, took a gigabyte.
    #[test]
    fn lists_are_bounded_by_their_bytes() {
        let mut sets = TagSets::default();
        let long = "u".repeat(BYTES_MAX / 4);
        let number = |sets: &mut TagSets, at: usize| {
            sets.number(&[("url".to_owned(), format!("{long}{at}"))], 100)
        };
        let numbers: Vec<_> = (0..6).map(|at| number(&mut sets, at)).collect();
        assert_eq!(numbers, [Some(0), Some(1), Some(2), None, None, None]);
        assert_eq!(number(&mut sets, 1), Some(1), "what is there stays");
        assert!(sets.memory.taken() >= 3 * BYTES_MAX / 4);
    }
}
