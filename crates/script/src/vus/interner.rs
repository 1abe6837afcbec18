//! `Interner`: texts that are kept once.

use std::collections::HashMap;
use std::rc::Rc;

/// Texts that are kept once, such as the names of checks.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    list: Vec<Rc<str>>,
    places: HashMap<Rc<str>, usize>,
    /// The one asked for last: its successor is probably the next.
    last: usize,
}

/// Texts beyond these are not kept, and made anew each time.
const NAMES_MAX: usize = 10_000;

impl Interner {
    /// The text, kept.
    pub(crate) fn intern(&mut self, text: &str) -> Rc<str> {
        let next = if self.last + 1 < self.list.len() { self.last + 1 } else { 0 };
        if let Some(known) = self.list.get(next).filter(|known| ***known == *text) {
            self.last = next;
            return Rc::clone(known);
        }
        if let Some(at) = self.places.get(text) {
            self.last = *at;
            return Rc::clone(&self.list[*at]);
        }
        let new: Rc<str> = text.into();
        if self.list.len() < NAMES_MAX {
            self.last = self.list.len();
            self.places.insert(Rc::clone(&new), self.last);
            self.list.push(Rc::clone(&new));
        }
        new
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
}
