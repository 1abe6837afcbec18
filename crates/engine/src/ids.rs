//! Typed indices: what a number of the worker's tables stands for, so that one cannot be taken for another.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use slab::Slab;

/// An index into one kind of table, 32 bits wide.
pub(crate) trait Id: Copy + Debug + Eq {
    /// The id of this index.
    fn from_index(index: u32) -> Self;

    /// The index.
    fn index(self) -> u32;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) struct $name(pub(crate) u32);

        impl Id for $name {
            fn from_index(index: u32) -> Self {
                Self(index)
            }

            fn index(self) -> u32 {
                self.0
            }
        }
    )*};
}

ids! {
    /// A hit under way; reused once the hit has its row.
    HitId,
    /// A connection of the worker, and the key of its socket's events; reused once it is closed.
    ConnId,
    /// An origin of the worker.
    OriginId,
    /// A stream of one HTTP/2 connection, as its session numbers them; reused once it has ended.
    StreamId,
}

/// A slab whose entries are known by ids of one kind.
#[derive(Debug)]
pub(crate) struct Arena<I, T> {
    entries: Slab<T>,
    kind: PhantomData<I>,
}

impl<I: Id, T> Arena<I, T> {
    /// An empty arena with room for so many entries.
    pub(crate) fn with_capacity(entries: usize) -> Self {
        Self { entries: Slab::with_capacity(entries), kind: PhantomData }
    }

    pub(crate) fn insert(&mut self, entry: T) -> I {
        I::from_index(self.entries.insert(entry) as u32)
    }

    /// Takes an entry out; its id is free for another.
    ///
    /// # Panics
    /// There is no such entry.
    pub(crate) fn remove(&mut self, id: I) -> T {
        self.entries.remove(id.index() as usize)
    }

    pub(crate) fn get(&self, id: I) -> Option<&T> {
        self.entries.get(id.index() as usize)
    }

    pub(crate) fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.entries.get_mut(id.index() as usize)
    }

    pub(crate) fn contains(&self, id: I) -> bool {
        self.entries.contains(id.index() as usize)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All entries, in the order of their ids.
    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|(_, entry)| entry)
    }
}

impl<I: Id, T> Index<I> for Arena<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.entries[id.index() as usize]
    }
}

impl<I: Id, T> IndexMut<I> for Arena<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.entries[id.index() as usize]
    }
}

/// A vector whose entries are known by ids of one kind and never leave.
#[derive(Debug)]
pub(crate) struct Table<I, T> {
    entries: Vec<T>,
    kind: PhantomData<I>,
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Self {
        Self { entries: Vec::new(), kind: PhantomData }
    }
}

impl<I: Id, T> Table<I, T> {
    pub(crate) fn push(&mut self, entry: T) -> I {
        self.entries.push(entry);
        I::from_index((self.entries.len() - 1) as u32)
    }

    pub(crate) fn get(&self, id: I) -> Option<&T> {
        self.entries.get(id.index() as usize)
    }

    pub(crate) fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.entries.get_mut(id.index() as usize)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// All entries, in the order of their ids.
    pub(crate) fn values(&self) -> std::slice::Iter<'_, T> {
        self.entries.iter()
    }

    /// The ids there are.
    pub(crate) fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.entries.len() as u32).map(I::from_index)
    }
}

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.entries[id.index() as usize]
    }
}

impl<I: Id, T> IndexMut<I> for Table<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.entries[id.index() as usize]
    }
}
