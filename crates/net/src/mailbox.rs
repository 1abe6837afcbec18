//! `Mailbox`: what other threads hand to the thread that owns a reactor: the resolver's replies, and calls to wake up.

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::dns::Resolver;
use crate::io::{Event, Key};

/// A name's key and its answer.
type ResolverReply = (Key, Result<Vec<IpAddr>, String>);

/// Wakes the thread that owns a mailbox from its wait.
pub(crate) trait Wake: Send + Sync + std::fmt::Debug {
    /// Ends the sleep.
    ///
    /// # Errors
    /// The owner is gone; there is no wait to end.
    fn wake(&self) -> io::Result<()>;
}

impl Wake for mio::Waker {
    fn wake(&self) -> io::Result<()> {
        // The inherent method of the same name.
        Self::wake(self)
    }
}

/// Answers of the resolver's threads, on their way to the mailbox's owner.
#[derive(Debug)]
pub(crate) struct Mailbox {
    replies: Mutex<Vec<ResolverReply>>,
    wake: Box<dyn Wake>,
}

impl Mailbox {
    pub(crate) fn new(wake: impl Wake + 'static) -> Arc<Self> {
        Arc::new(Self { replies: Mutex::new(Vec::new()), wake: Box::new(wake) })
    }

    /// Asks for a name's addresses. What needs no asking is answered at once; else a reply comes.
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
                mailbox.replies().push((key, answer));
                mailbox.wake.wake().ok();
            }),
        );
        None
    }

    /// Takes the replies out, as events.
    pub(crate) fn take(&self) -> impl Iterator<Item = Event> {
        let replies = std::mem::take(&mut *self.replies());
        replies.into_iter().map(|(key, answer)| Event::Resolved(key, answer))
    }

    fn replies(&self) -> MutexGuard<'_, Vec<ResolverReply>> {
        self.replies.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Wakes the reactor. A failure means that the reactor is gone; it is ignored.
    pub fn wake(&self) {
        self.mailbox.wake.wake().ok();
    }
}
