//! `Slots`: the sockets of a reactor, each in a slot that later sockets reuse.

use std::ops::{Index, IndexMut};

use super::socket::{Listener, Stream};
use crate::io::{Key, Sock};

/// The index of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlotId(u32);

/// One slot. `generation` distinguishes a new socket's events from those of the one before it.
#[derive(Debug)]
pub(super) struct Slot {
    generation: u32,
    pub(super) key: Key,
    pub(super) kind: SlotKind,
}

/// What is in a slot.
#[derive(Debug)]
pub(super) enum SlotKind {
    Free,
    Connecting(Stream),
    Open(Stream),
    /// Accepted, and not registered until it has a key.
    Accepted(Stream),
    Listening(Listener),
}

/// All slots, free ones included.
#[derive(Debug, Default)]
pub(super) struct Slots {
    list: Vec<Slot>,
    free: Vec<SlotId>,
}

impl Slots {
    /// Takes a slot for a socket with this key.
    pub(super) fn take(&mut self, key: Key) -> SlotId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.list.push(Slot { generation: 0, key: 0, kind: SlotKind::Free });
            SlotId((self.list.len() - 1) as u32)
        });
        self[id].key = key;
        id
    }

    /// Drops what is in a slot; its socket's number is void.
    pub(super) fn free(&mut self, id: SlotId) {
        let slot = &mut self[id];
        slot.generation = slot.generation.wrapping_add(1);
        slot.kind = SlotKind::Free;
        self.free.push(id);
    }

    /// The number of the socket in a slot.
    pub(super) fn sock(&self, id: SlotId) -> Sock {
        Sock(u64::from(self[id].generation) << 32 | u64::from(id.0))
    }

    /// The slot of a socket, unless that socket is closed.
    pub(super) fn find(&self, sock: Sock) -> Option<SlotId> {
        let id = SlotId(sock.0 as u32);
        let slot = self.list.get(id.0 as usize)?;
        (u64::from(slot.generation) == sock.0 >> 32).then_some(id)
    }
}

impl Index<SlotId> for Slots {
    type Output = Slot;

    fn index(&self, id: SlotId) -> &Slot {
        &self.list[id.0 as usize]
    }
}

impl IndexMut<SlotId> for Slots {
    fn index_mut(&mut self, id: SlotId) -> &mut Slot {
        &mut self.list[id.0 as usize]
    }
}
