//! `TagSets`: lists of tags, each stored once.

use std::collections::HashMap;
use std::sync::Arc;

/// Names and values.
pub(crate) type TagList = Arc<[(String, String)]>;

/// Lists of tags and their numbers.
#[derive(Default)]
pub(crate) struct TagSets {
    numbers: HashMap<TagList, u32>,
    lists: Vec<TagList>,
    /// The number of the list asked for last: samples of one request share theirs.
    last: u32,
}

impl TagSets {
    /// The number of a list; `None` where there are `limit` others already.
    pub(crate) fn number(&mut self, tags: &[(String, String)], limit: usize) -> Option<u32> {
        if self.lists.get(self.last as usize).is_some_and(|list| **list == *tags) {
            return Some(self.last);
        }
        self.last = match self.numbers.get(tags) {
            Some(number) => *number,
            None if self.lists.len() >= limit => return None,
            None => {
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
