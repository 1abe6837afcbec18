//! `Outbox`: bytes on their way out. What is given to be sent waits here until the next wait hands all sockets' bytes to the
//! kernel with one call; what a socket had no room for stays.
//!
//! ```text
//! queued ─▶ handed over ─▶ settled: sent, and the buffer is free
//!   ▲                  └─▶ fell short: the socket is full, or failed
//!   └───────── the socket has room again ──────────┘
//! ```

#![allow(unsafe_code)]

use std::os::fd::RawFd;

use super::ring::Ring;
use crate::io::Sock;

/// Bytes of one socket that wait here, at most: 64 KiB.
const SEND_BUFFER_MAX: usize = 64 << 10;
/// Room a free buffer keeps: 4 KiB.
const KEPT_MAX: usize = 4 << 10;

/// Whether the kernel has yet to read bytes that were handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stalled {
    Yes,
    No,
}

/// Bytes on their way out.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    buffers: Vec<SendBuffer>,
    /// The one freed last is taken first: it is still in the cache.
    free: Vec<u32>,
    /// Those handed over of which is not known yet whether they fell short.
    handed: Vec<u32>,
}

/// One socket's bytes.
#[derive(Debug)]
struct SendBuffer {
    sock: Sock,
    bytes: Vec<u8>,
    /// Sent up to here.
    sent: usize,
    /// Handed over up to here.
    handed: usize,
    /// It is in the list of those handed over.
    unsettled: bool,
    /// Its socket is closed.
    abandoned: bool,
}

impl SendBuffer {
    fn empty() -> Self {
        let sock = Sock(0);
        Self { sock, bytes: Vec::new(), sent: 0, handed: 0, unsettled: false, abandoned: false }
    }
}

impl Outbox {
    /// Adds bytes to a socket's buffer, a new one where it has none; gives how many there was room for. In a `stalled` ring
    /// those that were handed over stay as they are, and take no more.
    pub(super) fn add(
        &mut self,
        number: &mut Option<u32>,
        sock: Sock,
        bytes: &[u8],
        stalled: Stalled,
    ) -> usize {
        let number = *number.get_or_insert_with(|| self.take_free());
        let send_buffer = &mut self.buffers[number as usize];
        if send_buffer.unsettled && stalled == Stalled::Yes {
            return 0;
        }
        send_buffer.sock = sock;
        let len = bytes.len().min(SEND_BUFFER_MAX - send_buffer.bytes.len());
        send_buffer.bytes.extend_from_slice(&bytes[..len]);
        len
    }

    fn take_free(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.buffers.push(SendBuffer::empty());
            (self.buffers.len() - 1) as u32
        })
    }

    /// What of a buffer could be sent now, all before it being sent.
    pub(super) fn queued(&self, number: u32) -> &[u8] {
        let send_buffer = &self.buffers[number as usize];
        if send_buffer.handed > send_buffer.sent {
            &[]
        } else {
            &send_buffer.bytes[send_buffer.sent..]
        }
    }

    /// Hands a buffer over; the kernel looks at it when the ring is submitted, before anything else is done here. One that
    /// was handed over and is not settled waits: it may have fallen short, and bytes keep their order.
    pub(super) fn hand_over(&mut self, number: u32, fd: RawFd, ring: &mut Ring) {
        let send_buffer = &mut self.buffers[number as usize];
        if send_buffer.handed > send_buffer.sent || send_buffer.handed == send_buffer.bytes.len() {
            return;
        }
        // SAFETY: a buffer's bytes change in `add`, `settle` and `release`. `Uring::wait` has buffers handed over and then
        // the ring submitted, with none of these in between; while the ring is stalled it settles nothing, `add` leaves
        // what is unsettled alone, and sockets that were closed stay open.
        unsafe { ring.send(send_buffer.sock, fd, &send_buffer.bytes[send_buffer.sent..]) };
        send_buffer.handed = send_buffer.bytes.len();
        if !send_buffer.unsettled {
            send_buffer.unsettled = true;
            self.handed.push(number);
        }
    }

    /// The kernel sent only `n` bytes of what was handed over.
    pub(super) fn fell_short(&mut self, number: u32, n: usize) {
        let send_buffer = &mut self.buffers[number as usize];
        send_buffer.sent += n;
        send_buffer.handed = send_buffer.sent;
    }

    /// All failures have been read, so everything else that was handed over is sent. Gives each socket, and whether its buffer is
    /// free again.
    pub(super) fn settle(&mut self, mut settled: impl FnMut(Sock, bool)) {
        while let Some(number) = self.handed.pop() {
            let send_buffer = &mut self.buffers[number as usize];
            // The answer may be here before we look, and the next request behind this one: a buffer that is never empty
            // must not grow for ever.
            send_buffer.bytes.drain(..send_buffer.handed);
            (send_buffer.sent, send_buffer.handed, send_buffer.unsettled) = (0, 0, false);
            let empty = send_buffer.bytes.is_empty();
            if !send_buffer.abandoned {
                settled(send_buffer.sock, empty);
            }
            if send_buffer.abandoned || empty {
                self.release(number);
            }
        }
    }

    /// The socket is closed, and what is left of its buffer is not sent.
    pub(super) fn abandon(&mut self, number: u32) {
        let send_buffer = &mut self.buffers[number as usize];
        send_buffer.abandoned = true;
        if !send_buffer.unsettled {
            self.release(number);
        }
    }

    fn release(&mut self, number: u32) {
        let send_buffer = &mut self.buffers[number as usize];
        send_buffer.bytes.clear();
        send_buffer.bytes.shrink_to(KEPT_MAX);
        *send_buffer =
            SendBuffer { bytes: std::mem::take(&mut send_buffer.bytes), ..SendBuffer::empty() };
        self.free.push(number);
    }
}
