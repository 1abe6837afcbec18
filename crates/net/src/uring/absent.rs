//! `Uring` where the system has no `io_uring`: it cannot be made.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Instant;

use stdx::Nanos;

use super::no_uring::NoUring;
use crate::dns::Resolver;
use crate::io::{Dial, Event, Io, IoFailure, Key, Progress, Sock};
use crate::mailbox::Waker;

/// A real machine's sockets, for one thread; there is none.
#[derive(Debug)]
pub struct Uring(Infallible);

impl Uring {
    /// The name of the backend, for reports.
    pub const BACKEND: &str = "io_uring";

    /// A reactor whose clock counts from `start`.
    ///
    /// # Errors
    /// Always.
    pub fn new(_: Instant) -> Result<Self, NoUring> {
        Err(NoUring::System)
    }

    /// Counts time from `start` from now on.
    pub fn set_start(&mut self, _: Instant) {
        match self.0 {}
    }

    /// Lets waits gather answers.
    pub fn allow_gathering(&mut self, _: u64) {
        match self.0 {}
    }

    /// Names are looked up by this resolver.
    pub fn set_resolver(&mut self, _: Arc<Resolver>) {
        match self.0 {}
    }

    /// What wakes this reactor from another thread.
    #[must_use]
    pub fn waker(&self) -> Waker {
        match self.0 {}
    }
}

impl Io for Uring {
    fn now(&mut self) -> Nanos {
        match self.0 {}
    }
    fn open(&mut self, _: Key, _: Dial<'_>) -> Result<Sock, IoFailure> {
        match self.0 {}
    }
    fn set_key(&mut self, _: Sock, _: Key) {
        match self.0 {}
    }
    fn recv(&mut self, _: Sock, _: &mut [u8]) -> Progress {
        match self.0 {}
    }
    fn send(&mut self, _: Sock, _: &[u8]) -> Progress {
        match self.0 {}
    }
    fn close(&mut self, _: Sock) {
        match self.0 {}
    }
    fn reset(&mut self, _: Sock) {
        match self.0 {}
    }
    fn resolve(&mut self, _: Key, _: &str) {
        match self.0 {}
    }
    fn wait(&mut self, _: Option<Nanos>) -> Nanos {
        match self.0 {}
    }
    fn next_event(&mut self) -> Option<Event> {
        match self.0 {}
    }
}
