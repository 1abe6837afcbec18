//! `RowTags`: the tags of requests as their rows have them, made once for requests that share them.

use std::rc::Rc;
use std::sync::Arc;

use crate::host::http::HttpRequest;
use crate::host::sample::TagList;

/// The tags of requests, as texts that were made last.
#[derive(Debug, Default)]
pub(super) struct RowTags(Vec<Entry>);

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
    pub(super) fn get(
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
        if let Some(at) = self.0.iter().position(is_same) {
            // Those that are asked for often are found soon.
            self.0.swap(at, at / 2);
            return Arc::clone(&self.0[at / 2].text);
        }
        let text: Arc<str> = make().into();
        if self.0.len() >= ENTRIES_MAX {
            self.0.pop();
        }
        self.0.push(Entry {
            scenario,
            group: Rc::clone(&request.group),
            vu_tags: request.vu_tags.clone(),
            own: request.tags.clone(),
            text: Arc::clone(&text),
        });
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
        assert_eq!(get(0, "a"), "0 a");
        assert!(made <= 3 + 1000 + 1, "{made}");
    }
}
