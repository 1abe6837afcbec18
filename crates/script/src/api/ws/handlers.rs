//! What a script has set up for the events of a `k6/ws` socket.

use std::cell::RefCell;
use std::ops::Range;

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
        if self.0.borrow().len() >= HANDLERS_MAX {
            let text = format!("a socket has at most {HANDLERS_MAX} handlers");
            return Err(Exception::throw_range(ctx, &text));
        }
        self.0.borrow_mut().push((event, Persistent::save(ctx, handler)));
        Ok(())
    }

    /// Calls those of an event; one that is added meanwhile waits for the next event, as in k6.
    ///
    /// # Errors
    /// One threw: those after it are not called.
    pub(super) fn call_each<'js>(
        &self,
        ctx: &Ctx<'js>,
        event: Event,
        call: impl Fn(Function<'js>) -> Result<()>,
    ) -> Result<()> {
        let mut places = 0..self.0.borrow().len();
        while let Some(handler) = self.next(event, &mut places) {
            call(handler.restore(ctx)?)?;
        }
        Ok(())
    }

    /// The next one of an event among these places.
    fn next(
        &self,
        event: Event,
        places: &mut Range<usize>,
    ) -> Option<Persistent<Function<'static>>> {
        let all = self.0.borrow();
        let place = places.find(|place| all.get(*place).is_some_and(|(of, _)| *of == event))?;
        all.get(place).map(|(_, handler)| handler.clone())
    }

    /// Drops them all.
    pub(super) fn clear(&self) {
        // They hold values of the script, whose end may run code of ours: they are dropped outside of the borrow.
        drop(self.0.take());
    }
}
