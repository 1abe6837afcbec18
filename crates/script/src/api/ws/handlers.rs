//! What a script has set up for the events of a `k6/ws` socket.

use std::cell::RefCell;

use rquickjs::{Ctx, Exception, Function, Persistent, Result};

/// The most handlers of a socket.
const HANDLERS_MAX: usize = 10_000;

/// An event that a script can handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Open,
    Message,
    BinaryMessage,
    Ping,
    Pong,
    Close,
    Error,
}

impl Event {
    /// By its name in `socket.on()`.
    fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "open" => Self::Open,
            "message" => Self::Message,
            "binaryMessage" => Self::BinaryMessage,
            "ping" => Self::Ping,
            "pong" => Self::Pong,
            "close" => Self::Close,
            "error" => Self::Error,
            _ => return None,
        })
    }
}

/// The handlers of all events, in the order in which they were added.
#[derive(Default)]
pub(super) struct Handlers(RefCell<Vec<(Event, Persistent<Function<'static>>)>>);

impl Handlers {
    /// Adds one; that of an event that is not there is ignored, as in k6.
    ///
    /// # Errors
    /// There are too many: an exception is thrown.
    pub(super) fn add<'js>(
        &self,
        ctx: &Ctx<'js>,
        name: &str,
        handler: Function<'js>,
    ) -> Result<()> {
        let Some(event) = Event::of_name(name) else { return Ok(()) };
        let mut all = self.0.borrow_mut();
        if all.len() >= HANDLERS_MAX {
            let text = format!("a socket has at most {HANDLERS_MAX} handlers");
            return Err(Exception::throw_range(ctx, &text));
        }
        all.push((event, Persistent::save(ctx, handler)));
        Ok(())
    }

    /// Calls those of an event; also one that is added meanwhile.
    ///
    /// # Errors
    /// One threw: those after it are not called.
    pub(super) fn call_each<'js>(
        &self,
        ctx: &Ctx<'js>,
        event: Event,
        call: impl Fn(Function<'js>) -> Result<()>,
    ) -> Result<()> {
        let mut at = 0;
        while let Some((of, place)) = self.next(event, at) {
            call(of.restore(ctx)?)?;
            at = place + 1;
        }
        Ok(())
    }

    /// The next one of an event from a place on, and its place.
    fn next(&self, event: Event, from: usize) -> Option<(Persistent<Function<'static>>, usize)> {
        let all = self.0.borrow();
        let of_event = |(of, _): &(Event, _)| *of == event;
        let place = from + all.get(from..)?.iter().position(of_event)?;
        all.get(place).map(|(_, handler)| (handler.clone(), place))
    }

    /// Drops them all.
    pub(super) fn clear(&self) {
        // They hold values of the script, whose end may run code of ours: they are dropped outside of the borrow.
        drop(self.0.take());
    }
}
