//! `Mailbox`: what other threads bring to the one that owns a reactor: answers of the resolver, and calls to wake up.

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::dns::Resolver;
use crate::io::{Event, Key};

/// A name's key and its answer.
type Letter = (Key, Result<Vec<IpAddr>, String>);

/// Wakes the owner of a mailbox out of its sleep.
pub(crate) trait Bell: Send + Sync + std::fmt::Debug {
    /// Rings.
    ///
    /// # Errors
    /// The owner is gone, and there is nobody to wake.
    fn ring(&self) -> io::Result<()>;
}

impl Bell for mio::Waker {
    fn ring(&self) -> io::Result<()> {
        self.wake()
    }
}

/// Answers of the resolver's threads, on their way to the mailbox's owner.
#[derive(Debug)]
pub(crate) struct Mailbox {
    letters: Mutex<Vec<Letter>>,
    bell: Box<dyn Bell>,
}

impl Mailbox {
    pub(crate) fn new(bell: impl Bell + 'static) -> Arc<Self> {
        Arc::new(Self { letters: Mutex::new(Vec::new()), bell: Box::new(bell) })
    }

    /// Asks for a name's addresses. What needs no asking is answered at once; else a letter comes.
    pub(crate) fn ask(
        self: &Arc<Self>,
        resolver: Option<&Resolver>,
        key: Key,
        name: &str,
    ) -> Option<Event> {
        if let Ok(ip) = name.parse::<IpAddr>() {
            return Some(Event::Resolved(key, Ok(vec![ip])));
        }
        let Some(resolver) = resolver else {
            return Some(Event::Resolved(key, Err(format!("lookup {name}: no resolver"))));
        };
        let mailbox = Arc::clone(self);
        resolver.ask(
            name,
            Box::new(move |answer| {
                mailbox.letters().push((key, answer));
                mailbox.bell.ring().ok();
            }),
        );
        None
    }

    /// Takes the letters out, as events.
    pub(crate) fn take(&self) -> impl Iterator<Item = Event> {
        let letters = std::mem::take(&mut *self.letters());
        letters.into_iter().map(|(key, answer)| Event::Resolved(key, answer))
    }

    fn letters(&self) -> MutexGuard<'_, Vec<Letter>> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes a reactor from another thread: its [`crate::Io::wait`] returns with [`Event::Woken`].
#[derive(Clone, Debug)]
pub struct Waker {
    mailbox: Arc<Mailbox>,
}

impl Waker {
    pub(crate) fn of(mailbox: &Arc<Mailbox>) -> Self {
        Self { mailbox: Arc::clone(mailbox) }
    }

    /// Wakes the reactor. A failure means that the reactor is gone, and there is nobody to wake.
    pub fn wake(&self) {
        self.mailbox.bell.ring().ok();
    }
}
