//! `RowTags`: the tags of requests as their rows have them, made once for requests that share them.

use std::rc::Rc;
use std::sync::Arc;

use crate::host::http::HttpRequest;
use crate::host::sample::TagList;

/// The tags of requests, as texts that were made last.
#[derive(Debug, Default)]
pub(crate) struct RowTags {
    entries: Vec<Entry>,
    /// Which entry the next new one replaces, where there are too many.
    next: usize,
}

/// What the tags of a request are made of, and their text.
#[derive(Debug)]
struct Entry {
    /// The scenario's number.
    scenario: usize,
    group: Rc<str>,
    vu_tags: Option<Rc<TagList>>,
    own: TagList,
    text: Arc<str>,
}

/// Texts that are kept: a script has few sets of tags at a time.
const ENTRIES_MAX: usize = 64;

impl RowTags {
    /// The text for a request of this scenario, made by `make` where it is not known.
    pub(crate) fn get(
        &mut self,
        scenario: usize,
        request: &HttpRequest,
        make: impl FnOnce() -> String,
    ) -> Arc<str> {
        let is_same = |entry: &Entry| {
            entry.scenario == scenario
                && entry.group == request.group
                && entry.own == request.tags
                && entry.vu_tags == request.vu_tags
        };
        if let Some(at) = self.entries.iter().position(is_same) {
            // Those that are asked for often are found soon.
            self.entries.swap(at, at / 2);
            return Arc::clone(&self.entries[at / 2].text);
        }
        let text: Arc<str> = make().into();
        let entry = Entry {
            scenario,
            group: Rc::clone(&request.group),
            vu_tags: request.vu_tags.clone(),
            own: request.tags.clone(),
            text: Arc::clone(&text),
        };
        match self.entries.get_mut(self.next) {
            Some(oldest) => *oldest = entry,
            None => self.entries.push(entry),
        }
        self.next = (self.next + 1) % ENTRIES_MAX;
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_made_once_for_the_same_tags() {
        let mut tags = RowTags::default();
        let mut made = 0;
        let mut get = |scenario, own: &str| {
            let own = vec![("page".to_owned(), own.to_owned())];
            let request = HttpRequest { tags: own.clone(), ..HttpRequest::default() };
            let text = tags.get(scenario, &request, || {
                made += 1;
                format!("{scenario} {}", own[0].1)
            });
            text.to_string()
        };
        for _ in 0..3 {
            assert_eq!([get(0, "a"), get(1, "a"), get(0, "b")], ["0 a", "1 a", "0 b"]);
        }
        for number in 0..1000 {
            assert_eq!(get(0, &number.to_string()), format!("0 {number}"));
        }
        // Sets that come in turn after many others find a place.
        for _ in 0..20 {
            assert_eq!([get(0, "a"), get(0, "b")], ["0 a", "0 b"]);
        }
        assert!(made <= 3 + 1000 + 2, "{made}");
    }
}
