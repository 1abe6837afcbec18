//! `Inbox`: the buffers that the kernel receives into, all sockets' together, and which socket's bytes are in which.
//!
//! ```text
//! free, in a queue the kernel takes from ─▶ filled: held by a socket, in its chain ─▶ read: back into the queue
//! ```
//!
//! A socket without unread bytes holds none, so thousands of idle sockets cost nothing here. The kernel takes the buffers in
//! turn, which touches each that is in use. So only a few are, and more only once these were too few.

#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::BufRingEntry;

/// How many buffers there are; a power of two.
const BUFFERS: u16 = 256;
/// How many of them are in use from the start; a power of two as well.
const IN_USE_MIN: u16 = 16;
/// Room in one: a whole TLS record (16,645 bytes), in whole cache lines. Were it a power of two, the buffers' beginnings, all
/// that a small response touches, would crowd into the same few sets of the cache.
const BUFFER_LEN: usize = 16_704;

/// No buffer.
const NONE: u16 = u16::MAX;

/// The queue of free buffers, as the kernel reads it. It begins a page, of the largest kind there is.
#[repr(C, align(65536))]
struct Entries([UnsafeCell<MaybeUninit<BufRingEntry>>; BUFFERS as usize]);

/// The buffers that the kernel receives into.
pub(super) struct Inbox {
    entries: Box<Entries>,
    bytes: Box<[UnsafeCell<u8>]>,
    /// What of each buffer is unread, and which buffer follows it in its socket's chain.
    unread: Vec<Unread>,
    /// Buffers ever put into the queue, wrapping; its end, as the kernel knows it.
    tail: u16,
    /// Buffers held by sockets.
    held: u16,
    /// Buffers in use: those in the queue, and those held. The others were never touched.
    in_use: u16,
}

#[derive(Clone, Copy, Debug)]
struct Unread {
    from: u16,
    to: u16,
    next: u16,
}

/// One socket's unread buffers, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    first: u16,
    last: u16,
    len: u16,
}

impl Chain {
    /// A chain of none.
    pub(super) const EMPTY: Self = Self { first: NONE, last: NONE, len: 0 };

    /// How many buffers it has.
    pub(super) fn len(self) -> u16 {
        self.len
    }
}

impl std::fmt::Debug for Inbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inbox").field("held", &self.held).finish_non_exhaustive()
    }
}

impl Inbox {
    pub(super) fn new() -> Self {
        // SAFETY: cells of possibly uninitialised entries have no invalid content.
        let entries = unsafe { Box::<Entries>::new_zeroed().assume_init() };
        // SAFETY: as above; a byte of 0 is a byte.
        let bytes = unsafe {
            Box::<[UnsafeCell<u8>]>::new_zeroed_slice(BUFFERS as usize * BUFFER_LEN).assume_init()
        };
        let unread = vec![Unread { from: 0, to: 0, next: NONE }; BUFFERS as usize];
        let mut inbox = Self { entries, bytes, unread, tail: 0, held: 0, in_use: 0 };
        inbox.use_until(IN_USE_MIN);
        inbox
    }

    /// The kernel wanted a buffer and there was none: twice as many are used from now on.
    pub(super) fn grow(&mut self) {
        self.use_until(BUFFERS.min(self.in_use * 2));
    }

    /// Uses the buffers before this one.
    fn use_until(&mut self, end: u16) {
        for number in self.in_use..end {
            self.in_use += 1;
            self.held += 1;
            self.give_back(number);
        }
    }

    /// Where the queue of free buffers is, and how long it is, for the kernel.
    pub(super) fn entries(&self) -> (u64, u16) {
        (self.entries.0.as_ptr() as u64, BUFFERS)
    }

    /// Whether the kernel has a buffer to receive into.
    pub(super) fn has_free(&self) -> bool {
        self.held < self.in_use
    }

    /// How many buffers are in use.
    #[cfg(test)]
    pub(super) fn in_use(&self) -> u16 {
        self.in_use
    }

    /// The kernel filled a buffer with `len` bytes: it goes to the end of a chain.
    pub(super) fn hold(&mut self, chain: &mut Chain, number: u16, len: usize) {
        self.take(number);
        debug_assert!(len <= BUFFER_LEN, "the kernel knows the length");
        self.unread[number as usize] = Unread { from: 0, to: len as u16, next: NONE };
        match chain.last {
            NONE => chain.first = number,
            last => self.unread[last as usize].next = number,
        }
        chain.last = number;
        chain.len += 1;
    }

    /// The kernel took a buffer out of the queue.
    pub(super) fn take(&mut self, number: u16) {
        assert!(number < self.in_use && self.has_free(), "the kernel gives buffers that it had");
        self.held += 1;
    }

    /// Moves unread bytes out of a chain; gives how many.
    pub(super) fn read(&mut self, chain: &mut Chain, out: &mut [u8]) -> usize {
        let mut done = 0;
        while done < out.len() && chain.first != NONE {
            let number = chain.first;
            let Unread { from, to, next } = self.unread[number as usize];
            let len = usize::from(to - from).min(out.len() - done);
            out[done..done + len].copy_from_slice(&self.filled(number)[from as usize..][..len]);
            done += len;
            self.unread[number as usize].from += len as u16;
            if from + len as u16 == to {
                self.give_back(number);
                *chain = Chain { first: next, len: chain.len - 1, ..*chain };
            }
        }
        if chain.first == NONE {
            *chain = Chain::EMPTY;
        }
        done
    }

    /// Moves all of a chain's unread bytes to the end of `kept`.
    pub(super) fn keep(&mut self, chain: &mut Chain, kept: &mut VecDeque<u8>) {
        while chain.first != NONE {
            let number = chain.first;
            let Unread { from, next, .. } = self.unread[number as usize];
            kept.extend(&self.filled(number)[from as usize..]);
            chain.first = next;
            self.give_back(number);
        }
        *chain = Chain::EMPTY;
    }

    /// A held buffer's bytes.
    fn filled(&self, number: u16) -> &[u8] {
        let (start, len) = (number as usize * BUFFER_LEN, self.unread[number as usize].to as usize);
        let cells = &self.bytes[start..start + len];
        // SAFETY: the buffer is held: it is not in the queue, so the kernel does not write to it until `give_back`, which
        // needs `&mut self`; cells of bytes are laid out as bytes.
        unsafe { &*(std::ptr::from_ref(cells) as *const [u8]) }
    }

    /// Forgets a chain's bytes.
    pub(super) fn drop_chain(&mut self, chain: &mut Chain) {
        while chain.first != NONE {
            let number = chain.first;
            chain.first = self.unread[number as usize].next;
            self.give_back(number);
        }
        *chain = Chain::EMPTY;
    }

    /// Puts a buffer into the queue.
    pub(super) fn give_back(&mut self, number: u16) {
        let bytes = self.bytes[number as usize * BUFFER_LEN..].as_ptr();
        let place = self.entries.0[usize::from(self.tail % BUFFERS)].get();
        // SAFETY: this place of the queue is behind its end, where the kernel does not look. An entry is integers only, so
        // what was zeroed is one.
        let entry = unsafe { (*place).assume_init_mut() };
        entry.set_addr(bytes as u64);
        entry.set_len(BUFFER_LEN as u32);
        entry.set_bid(number);
        self.tail = self.tail.wrapping_add(1);
        self.held -= 1;
        // SAFETY: the first entry was zeroed or set, and the end's place in it is aligned as a u16 is. Only we write there.
        let tail = unsafe {
            let first = self.entries.0.as_ptr().cast::<BufRingEntry>();
            AtomicU16::from_ptr(BufRingEntry::tail(first).cast_mut())
        };
        tail.store(self.tail, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel does: takes the buffer at the queue's head, and fills it.
    fn fill(inbox: &mut Inbox, chain: &mut Chain, number: u16, bytes: &[u8]) {
        let start = number as usize * BUFFER_LEN;
        for (cell, byte) in inbox.bytes[start..].iter_mut().zip(bytes) {
            *cell.get_mut() = *byte;
        }
        inbox.hold(chain, number, bytes.len());
    }

    #[test]
    fn bytes_come_out_in_order_whatever_the_pieces() {
        let mut inbox = Inbox::new();
        let mut chain = Chain::EMPTY;
        for piece in 1..20 {
            fill(&mut inbox, &mut chain, 7, b"hello ");
            fill(&mut inbox, &mut chain, 3, b"you ");
            fill(&mut inbox, &mut chain, 15, b"there");
            assert_eq!((chain.len(), inbox.held), (3, 3));
            let (mut all, mut out) = (Vec::new(), vec![0; piece]);
            while let n @ 1.. = inbox.read(&mut chain, &mut out) {
                all.extend_from_slice(&out[..n]);
            }
            assert_eq!(all, b"hello you there");
            assert_eq!((chain.len(), inbox.held), (0, 0));
        }
    }

    #[test]
    fn a_forgotten_chain_frees_its_buffers() {
        let mut inbox = Inbox::new();
        let mut chain = Chain::EMPTY;
        (0..IN_USE_MIN).for_each(|number| fill(&mut inbox, &mut chain, number, b"x"));
        assert!(!inbox.has_free());
        inbox.drop_chain(&mut chain);
        assert_eq!((chain.len(), inbox.held), (0, 0));
    }

    #[test]
    fn more_buffers_are_used_only_once_they_are_wanted() {
        let mut inbox = Inbox::new();
        let (mut chain, mut all) = (Chain::EMPTY, Vec::new());
        while inbox.in_use < BUFFERS {
            let before = inbox.in_use;
            (all.len() as u16..before).for_each(|number| {
                fill(&mut inbox, &mut chain, number, b"x");
                all.push(number);
            });
            assert!(!inbox.has_free());
            inbox.grow();
            assert_eq!((inbox.in_use, inbox.held), (before * 2, before));
        }
        inbox.grow();
        assert_eq!(inbox.in_use, BUFFERS, "there are no more");
        inbox.drop_chain(&mut chain);
        assert_eq!(inbox.held, 0);
    }
}
