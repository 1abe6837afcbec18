//! `Search`: many texts looked for in one pass, whatever their number.

use std::collections::HashSet;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use stdx::within_memory;

use super::spelling::spellings;

/// How many bytes all texts have together that are looked for, in every spelling: the automaton takes some forty times as much, which
/// is a third of the process' memory at most.
const BYTES_MAX: usize = 2 << 20;
/// How long one of them may be, in bytes.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// Collects what is looked for.
#[derive(Debug, Default)]
pub(super) struct SearchBuilder {
    texts: HashSet<String>,
    bytes: usize,
    /// How many texts did not fit.
    left_out: u64,
}

/// Finds texts and puts others in their place.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// `None` where nothing is looked for.
    automaton: Option<AhoCorasick>,
    /// What stands in place of each.
    marks: Vec<String>,
    /// How many texts are not looked for: they did not fit.
    pub(super) left_out: u64,
}

impl SearchBuilder {
    pub(super) fn add(&mut self, text: &str) {
        if self.texts.contains(text) {
            return;
        }
        let len = text.len();
        if len > TEXT_BYTES_MAX || self.bytes + len > within_memory(BYTES_MAX, 128) {
            self.left_out += 1;
        } else {
            self.bytes += spellings(text).iter().map(String::len).sum::<usize>();
            self.texts.insert(text.to_owned());
        }
    }

    /// Makes it search. `mark` is what stands in place of a text.
    pub(super) fn build(self, mark: impl Fn(&str) -> String) -> Search {
        let all = self.texts.iter().flat_map(|text| {
            let mark = mark(text);
            spellings(text).into_iter().map(move |spelling| (spelling, mark.clone()))
        });
        let (texts, marks): (Vec<String>, Vec<String>) = all.unzip();
        let left_out = self.left_out;
        if texts.is_empty() {
            return Search { left_out, ..Search::default() };
        }
        // One may be a part of another.
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(&texts)
            .expect("the bound of their bytes is far below that of states");
        Search { automaton: Some(automaton), marks, left_out }
    }
}

impl Search {
    /// A text with the marks in it.
    pub(super) fn text(&self, text: &str) -> String {
        match &self.automaton {
            Some(automaton) => automaton.replace_all(text, &self.marks),
            None => text.to_owned(),
        }
    }

    /// Bytes that are no text with the marks in them.
    pub(super) fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        match &self.automaton {
            Some(automaton) => automaton.replace_all_bytes(bytes, &self.marks),
            None => bytes.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(texts: impl IntoIterator<Item = String>) -> Search {
        let mut builder = SearchBuilder::default();
        texts.into_iter().for_each(|text| builder.add(&text));
        builder.build(|text| format!("[{}]", text.len()))
    }

    #[test]
    fn the_longest_is_replaced_in_every_spelling() {
        let search = search(["abc d1".to_owned(), "abc d1/2".to_owned()]);
        let text = "abc d1 abc%20d1%2F2 abc+d1 abc d1/2";
        assert_eq!(search.text(text), "[6] [8] [6] [8]");
        assert_eq!(search.bytes(b"\xffabc d1\xff"), b"\xff[6]\xff");
        assert_eq!(Search::default().text(text), text);
    }

    /// Issue of 2,000 secrets and 240 MB of text: each was looked for in every text, three times over.
    #[test]
    fn thousands_of_secrets_cost_one_pass() {
        let secret = |number: usize| format!("token{number:05}{:016x}", number * 0x9e37_79b9);
        let search = search((0..5000).map(secret));
        let text = format!("{} {} ", "no secret is here. ".repeat(1000), secret(4711)).repeat(100);
        let begin = std::time::Instant::now();
        let hidden = search.text(&text);
        assert_eq!((hidden.matches("[26]").count(), search.left_out), (100, 0));
        assert!(!hidden.contains("token"));
        assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let long = |number: usize| format!("{number:06}{}", "x".repeat(16_000));
        let search = search((0..500).map(long).chain(["y".repeat(TEXT_BYTES_MAX + 1)]));
        assert!((300..=420).contains(&search.left_out), "{}", search.left_out);
        assert!(!search.text(&long(0)).contains("xx"));
    }
}
