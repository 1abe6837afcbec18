//! `Interner`: texts that are kept once, as they may be shown.

use std::collections::HashMap;
use std::rc::Rc;

/// Texts that are kept once, such as the names of checks.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    list: Vec<Entry>,
    places: HashMap<Rc<str>, usize>,
    /// The one asked for last: its successor is probably the next.
    last: usize,
    /// Bytes of the texts.
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    text: Rc<str>,
    /// The text without passwords of URLs: the same where it names none.
    shown: Rc<str>,
}

/// Texts beyond these are not kept, and made anew each time.
const NAMES_MAX: usize = 10_000;
/// Bytes of them, at most, and no more than a 128th of what the process may take.
const BYTES_MAX: usize = 16 << 20;

impl Interner {
    /// The text as it may be shown, kept.
    pub(crate) fn intern(&mut self, text: &str) -> Rc<str> {
        let next = if self.last + 1 < self.list.len() { self.last + 1 } else { 0 };
        if let Some(known) = self.list.get(next).filter(|known| *known.text == *text) {
            self.last = next;
            return Rc::clone(&known.shown);
        }
        if let Some(at) = self.places.get(text) {
            self.last = *at;
            return Rc::clone(&self.list[*at].shown);
        }
        let text: Rc<str> = text.into();
        let shown = match stdx::shown_text(&text) {
            shown if *shown == *text => Rc::clone(&text),
            shown => shown.into(),
        };
        let bytes = self.bytes + text.len() + shown.len();
        if self.list.len() < NAMES_MAX && bytes <= stdx::within_memory(BYTES_MAX, 128) {
            self.bytes = bytes;
            self.last = self.list.len();
            self.places.insert(Rc::clone(&text), self.last);
            self.list.push(Entry { text, shown: Rc::clone(&shown) });
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept_once() {
        let mut names = Interner::default();
        let first = names.intern("a");
        names.intern("b");
        assert!(Rc::ptr_eq(&first, &names.intern("a")));
        assert_eq!(&*names.intern("c"), "c");
        assert!(Rc::ptr_eq(&first, &names.intern("a")), "after the last comes the first");
    }

    /// Issue 42, F6.
    #[test]
    fn texts_are_kept_within_bytes() {
        let mut names = Interner::default();
        let long = "x".repeat(BYTES_MAX / 8);
        for number in 0..20 {
            assert!(names.intern(&format!("{long}{number}")).ends_with(&number.to_string()));
        }
        assert!(names.bytes <= BYTES_MAX && names.list.len() == names.places.len());
    }

    /// Issue 19: a check's name that held a URL with a password was shown as it was written.
    #[test]
    fn passwords_of_urls_are_hidden() {
        let mut names = Interner::default();
        for _ in 0..3 {
            assert_eq!(&*names.intern("http://u:pw@h/ is up"), "http://u:***@h/ is up");
        }
        let [plain, again] = [(); 2].map(|()| names.intern("a@b: c=d"));
        assert!(Rc::ptr_eq(&plain, &again) && &*plain == "a@b: c=d");
    }
}
