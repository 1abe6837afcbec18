//! `Slots`: the sockets of a ring, each in a place of its own, and what each wants and does.

use std::collections::VecDeque;
use std::os::fd::RawFd;

use super::inbox::Chain;
use crate::io::{IoFailure, Key, Sock};
use crate::reactor::socket::Stream;

/// Buffers one socket may hold unread before no more is received for it; a wait may bring some more.
pub(super) const UNREAD_MAX: u16 = 32;

/// Sockets that had one place before numbers come again: 2^24. The top byte of a socket's number is left free.
const GENERATION_MAX: u32 = (1 << 24) - 1;

/// One socket, and what the kernel does for it.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) key: Key,
    pub(super) stream: Stream,
    /// Connecting is over.
    pub(super) connected: bool,
    /// Its failure, returned by the next read or write.
    pub(super) failure: Option<IoFailure>,
    /// Nothing of it is wanted for now.
    pub(super) paused: bool,
    /// What came before `unread`, moved out of the buffers that all share when it was held.
    pub(super) kept: VecDeque<u8>,
    /// What came and is not read.
    pub(super) unread: Chain,
    /// The outbox's number of what is to be sent.
    pub(super) send_buffer: Option<u32>,
    /// The kernel receives for it.
    pub(super) receiving: bool,
    /// It had no room for what was to be sent.
    pub(super) full: bool,
    /// The kernel looks out for room, or for the connection to be made.
    pub(super) polling: bool,
    /// The peer said that nothing more will come.
    pub(super) ended: bool,
    /// It is in the list of those that want something of the kernel.
    pub(super) wishing: bool,
    /// The last send was longer than the room for it.
    pub(super) wants_room: bool,
    /// Something was sent, and nothing came since.
    pub(super) awaits: bool,
}

impl Slot {
    pub(super) fn new(key: Key, stream: Stream) -> Self {
        Self {
            key,
            stream,
            connected: false,
            failure: None,
            paused: false,
            kept: VecDeque::new(),
            unread: Chain::EMPTY,
            send_buffer: None,
            receiving: false,
            full: false,
            polling: false,
            ended: false,
            wishing: false,
            wants_room: false,
            awaits: false,
        }
    }

    pub(super) fn fd(&self) -> RawFd {
        self.stream.as_raw_fd()
    }

    /// Whether the kernel is to receive for it, and does not yet.
    pub(super) fn wants_to_receive(&self) -> bool {
        let able = self.connected && !self.ended && self.failure.is_none();
        able && !self.paused && !self.receiving && self.unread.len() < UNREAD_MAX
    }

    /// Whether the kernel is to look out for the connection, or for room.
    pub(super) fn wants_poll(&self) -> bool {
        !self.connected || self.full
    }

    /// Puts it into the list of those that want something of the kernel, once.
    pub(super) fn wish(&mut self, sock: Sock, wishes: &mut Vec<Sock>) {
        if !std::mem::replace(&mut self.wishing, true) {
            wishes.push(sock);
        }
    }
}

/// The sockets of a ring.
#[derive(Debug, Default)]
pub(super) struct Slots {
    places: Vec<Place>,
    free: Vec<u32>,
}

/// `generation` distinguishes a new socket's completions from those of the one before it.
#[derive(Debug)]
struct Place {
    generation: u32,
    slot: Option<Slot>,
}

impl Slots {
    pub(super) fn add(&mut self, slot: Slot) -> Sock {
        let index = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place { generation: 0, slot: None });
            (self.places.len() - 1) as u32
        });
        let place = &mut self.places[index as usize];
        place.slot = Some(slot);
        Sock(u64::from(place.generation) << 32 | u64::from(index))
    }

    /// A socket, unless it is closed.
    pub(super) fn get(&mut self, sock: Sock) -> Option<&mut Slot> {
        let place = self.places.get_mut(sock.0 as u32 as usize)?;
        if u64::from(place.generation) == sock.0 >> 32 { place.slot.as_mut() } else { None }
    }

    /// Takes a socket out of its place.
    pub(super) fn free(&mut self, sock: Sock) -> Option<Slot> {
        self.get(sock)?;
        let index = sock.0 as u32;
        let place = &mut self.places[index as usize];
        place.generation = (place.generation + 1) & GENERATION_MAX;
        self.free.push(index);
        place.slot.take()
    }
}
