//! `Watched`: a world that counts what its worker asks of it. It changes nothing but how long a name takes to resolve.

use std::cell::Cell;
use std::rc::Rc;

use net::sim::World;
use net::{Dial, Event, Io, IoFailure, Key, Progress, Sock};
use stdx::Nanos;

/// How long a resolver takes.
pub(crate) const LOOKUP: Nanos = Nanos::from_millis(20);

/// Counts the connections that a worker makes or ends before it looks at an event, and its sleeps.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    at_once: Cell<usize>,
    pub(crate) most: Cell<usize>,
    pub(crate) opened: Cell<usize>,
    /// Times it slept, whatever might come.
    pub(crate) slept_through: Cell<u64>,
    /// Times it slept and something woke it.
    pub(crate) woken: Cell<u64>,
}

impl Seen {
    fn count(&self) {
        self.at_once.set(self.at_once.get() + 1);
        self.most.set(self.most.get().max(self.at_once.get()));
    }
}

/// A world whose worker is watched.
pub(crate) struct Watched {
    world: World,
    /// When the worker looked at the clock last.
    looked: Nanos,
    /// A name to resolve, and when the resolver gets it.
    asked: Option<(Key, String, Nanos)>,
    seen: Rc<Seen>,
}

impl Watched {
    pub(crate) fn of(world: World) -> (Self, Rc<Seen>) {
        let seen = Rc::new(Seen::default());
        (Self { world, looked: Nanos::ZERO, asked: None, seen: Rc::clone(&seen) }, seen)
    }
}

impl Io for Watched {
    fn now(&mut self) -> Nanos {
        self.looked = self.world.now();
        self.looked
    }

    fn open(&mut self, key: Key, dial: Dial<'_>) -> Result<Sock, IoFailure> {
        self.seen.count();
        self.seen.opened.set(self.seen.opened.get() + 1);
        self.world.open(key, dial)
    }

    fn set_key(&mut self, sock: Sock, key: Key) {
        self.world.set_key(sock, key);
    }

    fn recv(&mut self, sock: Sock, buf: &mut [u8]) -> Progress {
        self.world.recv(sock, buf)
    }

    fn arrived(&self) -> Option<Nanos> {
        self.world.arrived()
    }

    fn sleep(&mut self, until: Nanos) -> Nanos {
        self.seen.slept_through.update(|times| times + 1);
        self.looked = self.world.sleep(until);
        self.looked
    }

    fn send(&mut self, sock: Sock, bytes: &[u8]) -> Progress {
        self.world.send(sock, bytes)
    }

    fn close(&mut self, sock: Sock) {
        self.seen.count();
        self.world.close(sock);
    }

    fn reset(&mut self, sock: Sock) {
        self.world.reset(sock);
    }

    fn resolve(&mut self, key: Key, name: &str) {
        self.asked = Some((key, name.to_owned(), self.world.now() + LOOKUP));
    }

    fn wait(&mut self, until: Option<Nanos>) -> Nanos {
        self.seen.at_once.set(0);
        let due = self.asked.as_ref().map(|(_, _, due)| *due);
        let now = self.world.wait(until.into_iter().chain(due).min());
        if let Some((key, name, _)) = self.asked.take_if(|(_, _, due)| *due <= now) {
            self.world.resolve(key, &name);
        }
        let slept = now > self.looked;
        self.seen.woken.update(|times| times + u64::from(slept));
        self.looked = now;
        now
    }

    fn next_event(&mut self) -> Option<Event> {
        let event = self.world.next_event();
        if event.is_some() {
            self.seen.at_once.set(0);
        }
        event
    }
}
