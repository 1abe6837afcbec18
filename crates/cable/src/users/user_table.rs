//! `UserTable`: a worker's users, by their ids.

use std::ops::{Index, IndexMut};

use super::user::User;

/// The index of a user among those of its worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UserId(pub(super) u32);

impl UserId {
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A worker's users; none leaves.
#[derive(Debug)]
pub(super) struct UserTable(Box<[User]>);

impl UserTable {
    /// So many users, none of them connected.
    pub(super) fn new(users: usize) -> Self {
        Self((0..users).map(|_| User::default()).collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The ids of all users, in their order.
    pub(super) fn ids(&self) -> impl Iterator<Item = UserId> + use<> {
        (0..self.0.len() as u32).map(UserId)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &User> {
        self.0.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut User> {
        self.0.iter_mut()
    }
}

impl Index<UserId> for UserTable {
    type Output = User;

    fn index(&self, id: UserId) -> &User {
        &self.0[id.index()]
    }
}

impl IndexMut<UserId> for UserTable {
    fn index_mut(&mut self, id: UserId) -> &mut User {
        &mut self.0[id.index()]
    }
}
