//! `KnownUrls`: URLs that were found to be plain, each kept once for the VUs of a thread. It knows texts alone: nothing of what a
//! URL is called, which may change.

use std::cell::RefCell;
use std::rc::Rc;

/// URLs, each in the place that its text gives it.
#[derive(Default)]
pub(crate) struct KnownUrls(RefCell<Vec<Option<Rc<str>>>>);

/// So many are kept at most.
const PLACES: usize = 256;
/// A longer URL is not kept.
const BYTES_MAX: usize = 1 << 10;

impl KnownUrls {
    /// A URL that was [kept](Self::keep), unless another has taken its place.
    pub(crate) fn get(&self, url: &str) -> Option<Rc<str>> {
        let places = self.0.borrow();
        places.get(place(url))?.as_ref().filter(|known| ***known == *url).cloned()
    }

    /// Keeps a URL.
    pub(crate) fn keep(&self, url: &str) -> Rc<str> {
        let kept: Rc<str> = url.into();
        if url.len() <= BYTES_MAX {
            let mut places = self.0.borrow_mut();
            if places.is_empty() {
                places.resize(PLACES, None);
            }
            places[place(url)] = Some(Rc::clone(&kept));
        }
        kept
    }
}

/// A server can lead scripts to URLs that share a place: each is then read anew, as all once were.
fn place(url: &str) -> usize {
    (stdx::mix_bytes(0, url.as_bytes()) >> 32) as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_kept_once_and_in_bounds() {
        let known = KnownUrls::default();
        assert_eq!(known.get("http://h/"), None);
        let kept = known.keep("http://h/");
        assert!(known.get("http://h/").is_some_and(|again| Rc::ptr_eq(&again, &kept)));
        let long = format!("http://h/{}", "x".repeat(BYTES_MAX));
        assert_eq!((&*known.keep(&long), known.get(&long)), (long.as_str(), None));
        let urls: Vec<String> =
            (0..10 * PLACES).map(|number| format!("http://h/{number}")).collect();
        for url in &urls {
            known.keep(url);
            assert_eq!(known.get(url).as_deref(), Some(url.as_str()));
        }
        // Many share a place: none is taken for another.
        let kept = urls.iter().filter(|url| known.get(url).is_some_and(|found| *found == ***url));
        let found = urls.iter().filter(|url| known.get(url).is_some());
        assert_eq!(kept.count(), found.count());
        assert!(
            (PLACES..5 * PLACES)
                .all(|number| known.get(&format!("http://other/{number}")).is_none())
        );
        assert_eq!(known.0.borrow().len(), PLACES);
    }
}
