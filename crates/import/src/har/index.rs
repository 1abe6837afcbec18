//! What answers hold, made once for each: rounds of the search that follow other redirects find it again.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::entry::Entry;
use super::facts::Facts;
use super::tokens::{hash, tokens_of};

/// An answer as the search sees it.
#[derive(Debug)]
pub(super) struct AnswerEntry {
    pub(super) facts: Facts,
    /// Hashes of the runs of letters and digits of its body and its address, each once.
    pub(super) tokens: Vec<u64>,
}

/// Answers that were looked at, by the place of their entry in the list.
#[derive(Default)]
pub(super) struct Index {
    answers: BTreeMap<usize, Rc<AnswerEntry>>,
}

impl Index {
    /// The answer of the entry at a place.
    pub(super) fn answer(&mut self, entries: &[Entry], at: usize) -> Rc<AnswerEntry> {
        let known =
            self.answers.entry(at).or_insert_with(|| Rc::new(AnswerEntry::of(&entries[at])));
        Rc::clone(known)
    }
}

impl AnswerEntry {
    fn of(entry: &Entry) -> Self {
        let texts = [entry.answer.text.as_str(), &entry.address];
        let tokens: BTreeSet<u64> =
            texts.into_iter().flat_map(|text| tokens_of(text).map(hash)).collect();
        Self { facts: Facts::of(&entry.answer), tokens: tokens.into_iter().collect() }
    }
}
