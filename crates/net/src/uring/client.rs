//! `Uring`: the sockets of one thread, over a ring.
//!
//! Nothing is asked of the kernel before the next wait, which hands over all that sockets want by then: a socket closed in
//! between wants nothing, and its descriptor's next owner never meets its operations.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Instant;

use stdx::Nanos;

use super::batch_wait::BatchWait;
use super::event_fd::EventFd;
use super::inbox::Inbox;
use super::no_uring::NoUring;
use super::outbox::{Outbox, Stalled};
use super::ring::{Completion, Op, Ring};
use super::slot::{Slot, Slots, UNREAD_MAX};
use crate::dns::Resolver;
use crate::event_loop::EventLoop;
use crate::io::{Dial, Event, Io, IoFailure, Key, Progress, Ready, Sock};
use crate::mailbox::Waker;
use crate::reactor;
use crate::reactor::socket::{self, Stream};

/// A real machine's sockets, for one thread.
#[derive(Debug)]
pub struct Uring {
    events: EventLoop,
    // Dropped before the memory that the kernel receives into.
    ring: Ring,
    inbox: Inbox,
    outbox: Outbox,
    slots: Slots,
    /// Sockets that want something of the kernel.
    wishes: Vec<Sock>,
    /// Operations of closed sockets, to be called off.
    cancels: Vec<(Op, Sock)>,
    /// Sockets for which no buffer was free.
    starved: Vec<Sock>,
    /// The kernel had no memory for all that was handed over. Until it has, nothing more is.
    stalled: Stalled,
    /// Sockets closed since then: the kernel may still have to send by their descriptors.
    closing: Vec<Stream>,
    /// Sockets that sent and got no answer yet.
    awaited: u32,
    batch_wait: BatchWait,
    event_fd: EventFd,
}

impl Uring {
    /// The name of the backend, for reports.
    pub const BACKEND: &str = "io_uring";

    /// A reactor whose clock counts from `start`. The thread that first waits is its own from then on.
    ///
    /// # Errors
    /// The kernel refuses, or is too old (before Linux 6.1); [`crate::Reactor`] is there always.
    pub fn new(start: Instant) -> Result<Self, NoUring> {
        let inbox = Inbox::new();
        let mut ring = Ring::new(&inbox)?;
        let event_fd = EventFd::new().map_err(NoUring::Waker)?;
        ring.poll_event_fd(event_fd.as_raw_fd());
        Ok(Self {
            events: EventLoop::new(start, event_fd.clone()),
            ring,
            inbox,
            outbox: Outbox::default(),
            slots: Slots::default(),
            wishes: Vec::with_capacity(64),
            cancels: Vec::new(),
            starved: Vec::new(),
            stalled: Stalled::No,
            closing: Vec::new(),
            awaited: 0,
            batch_wait: BatchWait::new(None),
            event_fd,
        })
    }

    /// Counts time from `start` from now on.
    pub fn set_start(&mut self, start: Instant) {
        self.events.start = start;
    }

    /// Lets waits gather answers where they come in floods: less CPU, and what is seen of an answer's time is late by up to
    /// one in `share` of it, 100 µs at most. For closed loops; a pace would suffer. Where the kernel cannot (before Linux
    /// 6.12) nothing changes.
    pub fn allow_gathering(&mut self, share: u64) {
        self.batch_wait = BatchWait::new(Some(share.max(1)).filter(|_| self.ring.can_gather()));
    }

    /// Names are looked up by this resolver. Without one, [`Io::resolve`] answers only IP addresses.
    pub fn set_resolver(&mut self, resolver: Arc<Resolver>) {
        self.events.resolver = Some(resolver);
    }

    /// What wakes this reactor from another thread.
    #[must_use]
    pub fn waker(&self) -> Waker {
        self.events.waker()
    }

    /// How many buffers were touched to receive into, or may be.
    #[cfg(test)]
    pub(crate) fn buffers_in_use(&self) -> u16 {
        self.inbox.in_use()
    }

    /// Has the kernel refuse so many calls, as one without memory does.
    #[cfg(test)]
    pub(crate) fn refuse(&mut self, calls: u32) {
        self.ring.refusals = calls;
    }

    /// Marks a socket for the next wait.
    fn wish(&mut self, sock: Sock) {
        if let Some(slot) = self.slots.get(sock) {
            slot.wish(sock, &mut self.wishes);
        }
    }

    /// Writes down what all sockets want of the kernel, for the ring to hand over. Returns whether a socket waits for the
    /// room that this may make, of which no completion will tell.
    fn flush(&mut self) -> bool {
        let mut hurry = false;
        for (op, sock) in self.cancels.drain(..) {
            self.ring.cancel(op, sock);
        }
        if !self.starved.is_empty() {
            self.inbox.grow();
        }
        while self.inbox.has_free()
            && let Some(sock) = self.starved.pop()
        {
            self.wish(sock);
        }
        for turn in 0..self.wishes.len() {
            let sock = self.wishes[turn];
            let Some(slot) = self.slots.get(sock) else { continue };
            slot.wishing = false;
            let fd = slot.fd();
            if slot.wants_poll() && !std::mem::replace(&mut slot.polling, true) {
                self.ring.poll(sock, fd, libc::POLLOUT);
            }
            if let Some(send_buffer) = slot.send_buffer.filter(|_| !slot.full) {
                self.outbox.hand_over(send_buffer, fd, &mut self.ring);
                hurry |= slot.wants_room;
                self.awaited += u32::from(!std::mem::replace(&mut slot.awaits, true));
            }
            if slot.wants_to_receive() {
                slot.receiving = true;
                self.ring.recv(sock, fd);
            }
        }
        self.wishes.clear();
        hurry
    }

    /// What was handed over without a failure is sent; sockets that waited for room become writable.
    fn settle(&mut self) {
        if self.ring.holds_back() {
            return;
        }
        let (slots, wishes) = (&mut self.slots, &mut self.wishes);
        let pending = &mut self.events.pending;
        self.outbox.settle(|sock, empty| {
            let Some(slot) = slots.get(sock) else { return };
            if !empty {
                slot.wish(sock, wishes);
                return;
            }
            slot.send_buffer = None;
            if std::mem::take(&mut slot.wants_room) {
                let ready = Ready { writable: true, ..Ready::default() };
                pending.push_back(Event::Ready(slot.key, ready));
            }
        });
    }

    /// Turns what the kernel did into an event; `None` where there is none to report.
    fn translate(&mut self, done: Completion) -> Option<Event> {
        match done.op {
            Op::Recv => self.received(done),
            Op::Send => self.fell_short(done),
            Op::Poll => self.polled(done),
            Op::Wake => {
                self.event_fd.clear();
                self.events.empty_mailbox();
                if !done.more {
                    self.ring.poll_event_fd(self.event_fd.as_raw_fd());
                }
                Some(Event::Woken)
            }
            Op::Cancel => None,
        }
    }

    /// Bytes came, or the end, or a failure.
    fn received(&mut self, done: Completion) -> Option<Event> {
        let Some(slot) = self.slots.get(done.sock) else {
            // It was closed before the kernel knew.
            if let Some(buffer) = done.buffer {
                self.inbox.take(buffer);
                self.inbox.give_back(buffer);
            }
            return None;
        };
        slot.receiving = done.more;
        match (done.result, done.buffer) {
            (1.., Some(buffer)) => {
                self.inbox.hold(&mut slot.unread, buffer, done.result as usize);
                if slot.paused {
                    self.inbox.keep(&mut slot.unread, &mut slot.kept);
                }
            }
            (0, _) => slot.ended = true,
            _ => match -done.result {
                libc::ENOBUFS => {
                    self.starved.push(done.sock);
                    return None;
                }
                // Called off by us, since too much was unread; or by a signal.
                libc::ECANCELED | libc::EINTR | libc::EAGAIN => {
                    self.wish(done.sock);
                    return None;
                }
                _ => {
                    slot.failure.get_or_insert(failure(done.result));
                }
            },
        }
        if std::mem::take(&mut slot.awaits) {
            self.awaited -= 1;
            self.batch_wait.count();
        }
        let closed = slot.ended || slot.failure.is_some();
        let event = Event::Ready(slot.key, Ready { readable: true, writable: false, closed });
        if slot.receiving && slot.unread.len() == UNREAD_MAX {
            self.cancels.push((Op::Recv, done.sock));
        } else if slot.wants_to_receive() {
            self.wish(done.sock);
        }
        Some(event)
    }

    /// A socket had no room for all it was given, or failed.
    fn fell_short(&mut self, done: Completion) -> Option<Event> {
        let slot = self.slots.get(done.sock)?;
        let send_buffer = slot.send_buffer?;
        match done.result {
            sent @ 0.. => self.outbox.fell_short(send_buffer, sent as usize),
            result if [libc::EAGAIN, libc::EINTR].contains(&-result) => {
                self.outbox.fell_short(send_buffer, 0);
            }
            result => {
                self.outbox.abandon(send_buffer);
                slot.send_buffer = None;
                slot.failure.get_or_insert(failure(result));
                let ready = Ready { readable: true, writable: true, closed: true };
                return Some(Event::Ready(slot.key, ready));
            }
        }
        slot.full = true;
        self.wish(done.sock);
        None
    }

    /// A socket is connected, or could not be; or it has room again.
    fn polled(&mut self, done: Completion) -> Option<Event> {
        let slot = self.slots.get(done.sock)?;
        let (key, connecting) = (slot.key, !slot.connected);
        slot.polling = false;
        slot.full = false;
        slot.connected = true;
        self.wish(done.sock);
        if !connecting {
            return None;
        }
        let failed = if done.result < 0 {
            Some(failure(done.result))
        } else {
            self.slots.get(done.sock)?.stream.connect_failure()
        };
        match failed {
            Some(failure) => {
                self.slots.free(done.sock);
                Some(Event::Refused(key, failure))
            }
            None => Some(Event::Connected(key)),
        }
    }

    fn close_with(&mut self, sock: Sock, end: impl FnOnce(&Stream)) {
        let Some(mut slot) = self.slots.free(sock) else { return };
        self.inbox.drop_chain(&mut slot.unread);
        self.awaited -= u32::from(slot.awaits);
        if let Some(send_buffer) = slot.send_buffer {
            // What was accepted is sent, as far as there is room, as it would have been by a write at once.
            slot.stream.send(self.outbox.queued(send_buffer));
            self.outbox.abandon(send_buffer);
        }
        // An operation under way keeps the socket open.
        if slot.receiving {
            self.cancels.push((Op::Recv, sock));
        }
        if slot.polling {
            self.cancels.push((Op::Poll, sock));
        }
        end(&slot.stream);
        self.events.forget_ready(slot.key);
        if self.stalled == Stalled::Yes {
            self.closing.push(slot.stream);
        }
    }
}

/// The failure behind a negative result.
fn failure(result: i32) -> IoFailure {
    socket::failure(&io::Error::from_raw_os_error(-result))
}

impl Io for Uring {
    fn now(&mut self) -> Nanos {
        self.events.now()
    }

    fn open(&mut self, key: Key, dial: Dial<'_>) -> Result<Sock, IoFailure> {
        let stream = Stream::connect(dial)?;
        let sock = self.slots.add(Slot::new(key, stream));
        self.wish(sock);
        Ok(sock)
    }

    /// Does nothing: nothing is accepted here.
    fn set_key(&mut self, _: Sock, _: Key) {}

    fn recv(&mut self, sock: Sock, buf: &mut [u8]) -> Progress {
        let Some(slot) = self.slots.get(sock) else { return Progress::Failed(IoFailure::Reset) };
        // Copies nothing where nothing was kept.
        let kept = slot.kept.read(buf).unwrap_or_default();
        let n = kept + self.inbox.read(&mut slot.unread, &mut buf[kept..]);
        if slot.kept.is_empty() && slot.kept.capacity() > 0 {
            slot.kept = VecDeque::new();
        }
        match slot.failure {
            _ if n > 0 => {
                if slot.wants_to_receive() {
                    self.wish(sock);
                }
                Progress::Bytes(n)
            }
            Some(failure) => Progress::Failed(failure),
            None if slot.ended => Progress::Bytes(0),
            None => Progress::Later,
        }
    }

    fn pause(&mut self, sock: Sock) {
        let Some(slot) = self.slots.get(sock) else { return };
        self.inbox.keep(&mut slot.unread, &mut slot.kept);
        if !std::mem::replace(&mut slot.paused, true) && slot.receiving {
            self.cancels.push((Op::Recv, sock));
        }
    }

    fn resume(&mut self, sock: Sock) {
        if let Some(slot) = self.slots.get(sock) {
            slot.paused = false;
            self.wish(sock);
        }
    }

    fn send(&mut self, sock: Sock, bytes: &[u8]) -> Progress {
        let open = self.slots.get(sock).filter(|slot| slot.connected);
        let Some(slot) = open else { return Progress::Failed(IoFailure::BrokenPipe) };
        if let Some(failure) = slot.failure {
            return Progress::Failed(failure);
        }
        let n = self.outbox.add(&mut slot.send_buffer, sock, bytes, self.stalled);
        slot.wants_room |= n < bytes.len();
        self.wish(sock);
        if n == 0 { Progress::Later } else { Progress::Bytes(n) }
    }

    fn close(&mut self, sock: Sock) {
        self.close_with(sock, |_| ());
    }

    fn reset(&mut self, sock: Sock) {
        self.close_with(sock, Stream::linger_zero);
    }

    fn resolve(&mut self, key: Key, name: &str) {
        self.events.resolve(key, name);
    }

    fn wait(&mut self, until: Option<Nanos>) -> Nanos {
        let mut hurry = !self.events.pending.is_empty();
        if self.stalled == Stalled::No {
            self.settle();
            hurry |= self.flush() || !self.events.pending.is_empty();
        }
        let now = self.now();
        let sleep = if hurry { Some(Nanos::ZERO) } else { reactor::sleep(until, now) };
        self.ring.wait(sleep, self.batch_wait.wait_limits(now, sleep, self.awaited));
        self.stalled = if self.ring.is_stalled() { Stalled::Yes } else { Stalled::No };
        if self.stalled == Stalled::No {
            self.closing.clear();
        }
        self.now()
    }

    fn next_event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.events.pending.pop_front() {
                return Some(event);
            }
            let done = self.ring.next()?;
            if let Some(event) = self.translate(done) {
                return Some(event);
            }
        }
    }
}
