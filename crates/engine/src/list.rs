//! `List`: a queue threaded through the entries of an arena, so that any entry leaves it at once and nothing is allocated.

use std::marker::PhantomData;

use crate::ids::{Arena, Id};

/// The list of hits in the order of their deadlines.
pub(crate) const BY_DEADLINE: u8 = 0;
/// The lists of hits that wait for a connection, one an origin, or on a connection for those before them.
pub(crate) const WAITING: u8 = 1;
/// The lists of connections that can take a hit, one an origin.
pub(crate) const READY: u8 = 0;

/// "No entry": the end of a list.
const NONE: u32 = u32::MAX;

/// An entry's place in one list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    prev: u32,
    next: u32,
    member: bool,
}

impl Default for Link {
    fn default() -> Self {
        Self { prev: NONE, next: NONE, member: false }
    }
}

impl Link {
    /// Whether the entry is in the list.
    pub(crate) const fn is_member(&self) -> bool {
        self.member
    }
}

/// An entry that can be a member of the list named `ID`.
pub(crate) trait Linked<const ID: u8> {
    fn link(&mut self) -> &mut Link;
}

/// A queue of arena entries, first in first out; it can also be used as a stack. `ID` names the list, `I` its entries' ids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List<const ID: u8, I> {
    head: u32,
    tail: u32,
    len: usize,
    kind: PhantomData<I>,
}

impl<const ID: u8, I> Default for List<ID, I> {
    fn default() -> Self {
        Self { head: NONE, tail: NONE, len: 0, kind: PhantomData }
    }
}

impl<const ID: u8, I: Id> List<ID, I> {
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// The entry that came first.
    pub(crate) fn first(&self) -> Option<I> {
        (self.head != NONE).then(|| I::from_index(self.head))
    }

    /// The entry that came last.
    pub(crate) fn last(&self) -> Option<I> {
        (self.tail != NONE).then(|| I::from_index(self.tail))
    }

    pub(crate) fn push<T: Linked<ID>>(&mut self, entries: &mut Arena<I, T>, id: I) {
        let link = entries[id].link();
        debug_assert!(!link.member, "an entry is in a list at most once");
        *link = Link { prev: self.tail, next: NONE, member: true };
        match self.tail {
            NONE => self.head = id.index(),
            tail => entries[I::from_index(tail)].link().next = id.index(),
        }
        self.tail = id.index();
        self.len += 1;
    }

    /// Takes an entry out; gives whether it was in.
    pub(crate) fn remove<T: Linked<ID>>(&mut self, entries: &mut Arena<I, T>, id: I) -> bool {
        let link = std::mem::take(entries[id].link());
        if !link.member {
            return false;
        }
        match link.prev {
            NONE => self.head = link.next,
            prev => entries[I::from_index(prev)].link().next = link.next,
        }
        match link.next {
            NONE => self.tail = link.prev,
            next => entries[I::from_index(next)].link().prev = link.prev,
        }
        self.len -= 1;
        true
    }

    pub(crate) fn pop_first<T: Linked<ID>>(&mut self, entries: &mut Arena<I, T>) -> Option<I> {
        let id = self.first()?;
        self.remove(entries, id);
        Some(id)
    }

    pub(crate) fn pop_last<T: Linked<ID>>(&mut self, entries: &mut Arena<I, T>) -> Option<I> {
        let id = self.last()?;
        self.remove(entries, id);
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::HitId;

    struct Entry(Link);

    impl Linked<0> for Entry {
        fn link(&mut self) -> &mut Link {
            &mut self.0
        }
    }

    #[test]
    fn entries_leave_from_anywhere() {
        let mut entries = Arena::with_capacity(4);
        let mut list = List::<0, HitId>::default();
        let keys: Vec<HitId> = (0..4).map(|_| entries.insert(Entry(Link::default()))).collect();
        for &key in &keys {
            list.push(&mut entries, key);
        }
        assert!(list.remove(&mut entries, keys[1]));
        assert!(!list.remove(&mut entries, keys[1]), "it left already");
        assert_eq!(list.pop_last(&mut entries), Some(keys[3]));
        assert_eq!(list.pop_first(&mut entries), Some(keys[0]));
        assert_eq!(list.len(), 1);
        assert_eq!(list.pop_first(&mut entries), Some(keys[2]));
        assert_eq!(list.pop_first(&mut entries), None);
    }
}
