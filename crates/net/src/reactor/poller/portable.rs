//! `Poller` elsewhere: mio's own wait (kqueue), which is exact.

use std::io;

use stdx::Nanos;

use super::raw::{EVENTS_MAX, Raw};
use crate::io::Ready;

pub(crate) const BACKEND: &str = "kqueue";

#[derive(Debug)]
pub(crate) struct Poller {
    poll: mio::Poll,
    events: mio::Events,
    raws: Vec<Raw>,
    next: usize,
}

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        let events = mio::Events::with_capacity(EVENTS_MAX);
        Ok(Self { poll: mio::Poll::new()?, events, raws: Vec::new(), next: 0 })
    }

    pub(crate) fn registry(&self) -> &mio::Registry {
        self.poll.registry()
    }

    pub(crate) fn wait(&mut self, sleep: Option<Nanos>) {
        self.raws.clear();
        self.next = 0;
        if self.poll.poll(&mut self.events, sleep.map(Into::into)).is_err() {
            return;
        }
        self.raws.extend(self.events.iter().map(|event| Raw {
            token: event.token().0 as u64,
            ready: Ready {
                readable: event.is_readable(),
                writable: event.is_writable(),
                closed: event.is_read_closed() || event.is_write_closed() || event.is_error(),
            },
        }));
    }

    pub(crate) fn next(&mut self) -> Option<Raw> {
        let raw = self.raws.get(self.next).copied()?;
        self.next += 1;
        Some(raw)
    }
}
