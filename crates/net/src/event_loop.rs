//! `EventLoop`: the part of a real machine that does not depend on the kernel's interface: its clock, the events made on
//! this side of the kernel, and what other threads hand over.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use stdx::Nanos;

use crate::dns::Resolver;
use crate::io::{Event, Key};
use crate::mailbox::{Mailbox, Wake, Waker};

/// The clock, the pending events and the mailbox of one thread.
#[derive(Debug)]
pub(crate) struct EventLoop {
    /// The time that offsets count from.
    pub(crate) start: Instant,
    /// Events made on this side, given before those of the kernel.
    pub(crate) pending: VecDeque<Event>,
    mailbox: Arc<Mailbox>,
    /// Looks names up; without one, only IP addresses are resolved.
    pub(crate) resolver: Option<Arc<Resolver>>,
}

impl EventLoop {
    /// A loop without events; `wake` ends its owner's wait.
    pub(crate) fn new(start: Instant, wake: impl Wake + 'static) -> Self {
        let (pending, mailbox) = (VecDeque::with_capacity(64), Mailbox::new(wake));
        Self { start, pending, mailbox, resolver: None }
    }

    /// Time since the start, read now.
    pub(crate) fn now(&self) -> Nanos {
        self.start.elapsed().into()
    }

    /// What wakes this loop's owner from another thread.
    pub(crate) fn waker(&self) -> Waker {
        Waker::of(&self.mailbox)
    }

    /// The owner was woken: what other threads handed over becomes events.
    pub(crate) fn empty_mailbox(&mut self) {
        self.pending.extend(self.mailbox.take());
    }

    /// Asks for a name's addresses.
    pub(crate) fn resolve(&mut self, key: Key, name: &str) {
        let answer = self.mailbox.ask(self.resolver.as_deref(), key, name);
        self.pending.extend(answer);
    }

    /// Drops the readiness of a socket that is closed: it must not reach the key's next socket.
    pub(crate) fn forget_ready(&mut self, key: Key) {
        self.pending.retain(|event| !matches!(event, Event::Ready(of, _) if *of == key));
    }
}
