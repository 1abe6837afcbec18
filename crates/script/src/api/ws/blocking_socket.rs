//! The socket that `k6/ws` hands to a script while `connect` blocks: what is set up on it, and what its methods send.

use std::cell::Cell;
use std::rc::Rc;

use rquickjs::function::{Constructor, IntoJsFunc, Opt};
use rquickjs::{Coerced, Ctx, Exception, Function, IntoJs, Object, Result, Value};
use stdx::Nanos;
use users::{SocketCommand, SocketEvent, Ticket};

use super::handlers::{Event, Handlers};
use crate::api::bytes::buffer;
use crate::api::socket::{close_and_forget, order};
use crate::runtime::current::vu_of;
use crate::runtime::ffi::{call_with, copied};
use crate::runtime::timers::{Timer, Timers};
use crate::runtime::values::string_of;

/// The code of a socket that the script closes without naming one, as in k6: going away.
pub(super) const GOING_AWAY: u16 = 1001;

/// A socket of `k6/ws`.
pub(super) struct BlockingSocket {
    pub(super) ticket: Ticket,
    handlers: Handlers,
    pub(super) timers: Timers,
    closed: Cell<bool>,
}

impl BlockingSocket {
    pub(super) fn new(ticket: Ticket) -> Rc<Self> {
        Rc::new(Self {
            ticket,
            handlers: Handlers::default(),
            timers: Timers::default(),
            closed: Cell::new(false),
        })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.get()
    }

    /// Calls the script's handlers of the event `open`.
    ///
    /// # Errors
    /// A handler threw.
    pub(super) fn opened(&self, ctx: &Ctx<'_>) -> Result<()> {
        self.call_bare(ctx, Event::Open)
    }

    /// Calls the script's handlers of an event of an open socket.
    ///
    /// # Errors
    /// A handler threw.
    pub(super) fn handle(&self, ctx: &Ctx<'_>, event: SocketEvent) -> Result<()> {
        match event {
            SocketEvent::Text(text) => self.call(ctx, Event::Message, &text.into_js(ctx)?),
            SocketEvent::Binary(bytes) => {
                self.call(ctx, Event::BinaryMessage, &buffer(ctx, &bytes)?)
            }
            SocketEvent::Ping => self.call_bare(ctx, Event::Ping),
            SocketEvent::Pong(_) => self.call_bare(ctx, Event::Pong),
            SocketEvent::Failed(text) => self.call(ctx, Event::Error, &failure(ctx, text)?),
            SocketEvent::Closed(code, _) => self.closed(ctx, &code.into_js(ctx)?),
            SocketEvent::Opened(_) | SocketEvent::Refused(..) | SocketEvent::Cable(_) => {
                Err(Exception::throw_internal(ctx, "a socket of k6/ws is opened once"))
            }
        }
    }

    /// The first timer that is due runs.
    ///
    /// # Errors
    /// It threw.
    pub(super) fn run_timer(&self, ctx: &Ctx<'_>, now: Nanos) -> Result<()> {
        match self.timers.take_due(now) {
            Some(due) => due.run_in_step(ctx, now),
            None => Ok(()),
        }
    }

    fn closed<'js>(&self, ctx: &Ctx<'js>, code: &Value<'js>) -> Result<()> {
        self.closed.set(true);
        self.call(ctx, Event::Close, code)
    }

    fn call<'js>(&self, ctx: &Ctx<'js>, event: Event, value: &Value<'js>) -> Result<()> {
        self.handlers.call_each(ctx, event, |handler| call_with(&handler, value).map(drop))
    }

    fn call_bare(&self, ctx: &Ctx<'_>, event: Event) -> Result<()> {
        self.handlers.call_each(ctx, event, |handler| handler.call::<_, Value<'_>>(()).map(drop))
    }

    /// What is no function is ignored, as in k6; so is what would never be called.
    fn on<'js>(&self, ctx: &Ctx<'js>, name: &Value<'js>, handler: Value<'js>) -> Result<()> {
        match (name.as_string(), handler.into_function()) {
            (Some(name), Some(handler)) if !self.is_closed() => {
                self.handlers.add(ctx, &name.to_string()?, handler)
            }
            _ => Ok(()),
        }
    }

    fn order(&self, ctx: &Ctx<'_>, command: SocketCommand) -> Result<()> {
        if self.is_closed() { Ok(()) } else { order(ctx, self.ticket, command) }
    }

    fn send_binary<'js>(&self, ctx: &Ctx<'js>, message: Option<&Value<'js>>) -> Result<()> {
        let Some(message) = message else {
            return Err(Exception::throw_type(ctx, "missing argument, expected ArrayBuffer"));
        };
        let buffer = message.as_object().and_then(Object::as_array_buffer);
        if let Some(buffer) = buffer {
            return self.order(ctx, SocketCommand::Binary(copied(buffer)));
        }
        let text =
            format!("expected ArrayBuffer as argument, received: {}", class_name(ctx, message)?);
        Err(Exception::throw_type(ctx, &text))
    }

    fn close<'js>(&self, ctx: &Ctx<'js>, code: Value<'js>) -> Result<()> {
        if self.is_closed() {
            return Ok(());
        }
        let number = match code.is_undefined() {
            true => f64::from(GOING_AWAY),
            false => code.get::<Coerced<f64>>()?.0,
        };
        close_and_forget(ctx, self.ticket, number as u16)?;
        self.closed(ctx, &Value::new_number(ctx.clone(), number))
    }

    fn set_timer<'js>(
        &self,
        ctx: &Ctx<'js>,
        kind: TimerKind,
        wanted: WantedTimer<'js>,
    ) -> Result<()> {
        let name = kind.name();
        let Some(handler) = wanted.handler.into_function() else {
            let text = format!("socket.{name}() needs a function");
            return Err(Exception::throw_type(ctx, &text));
        };
        let milliseconds = wanted.delay.get::<Coerced<f64>>()?.0;
        let delay = Nanos::from_secs_f64(milliseconds / 1e3);
        if delay == Nanos::ZERO {
            let text =
                format!("{name} requires a >0 timeout parameter, received {milliseconds:.2}");
            return Err(Exception::throw_message(ctx, &text));
        }
        if self.is_closed() {
            return Ok(());
        }
        let due = vu_of(ctx)?.host.now().saturating_add(delay);
        let every = (kind == TimerKind::Interval).then_some(delay);
        match self.timers.set(Timer::new(ctx, handler, Vec::new()), due, every) {
            Some(_) => Ok(()),
            None => Err(Exception::throw_range(ctx, &format!("{name}: there are too many timers"))),
        }
    }
}

/// Has a socket let go of what a script has set up on it, whichever way `connect` ends: handlers that hold their socket would never
/// be freed.
pub(super) struct LetGo<'a>(pub(super) &'a BlockingSocket);

impl Drop for LetGo<'_> {
    fn drop(&mut self) {
        self.0.closed.set(true);
        self.0.handlers.clear();
        self.0.timers.clear();
    }
}

/// Whether a timer runs once, or again and again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TimerKind {
    Timeout,
    Interval,
}

impl TimerKind {
    fn name(self) -> &'static str {
        match self {
            Self::Timeout => "setTimeout",
            Self::Interval => "setInterval",
        }
    }
}

/// What a timer is set with.
struct WantedTimer<'js> {
    handler: Value<'js>,
    /// In milliseconds.
    delay: Value<'js>,
}

/// The object that a script sees. Its methods know their socket, so that a script may also call them by themselves, as in k6.
pub(super) fn script_object<'js>(
    ctx: &Ctx<'js>,
    socket: &Rc<BlockingSocket>,
) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let own = Rc::clone(socket);
    add(&object, "on", move |ctx: Ctx<'js>, name: Opt<Value<'js>>, handler: Opt<Value<'js>>| {
        own.on(&ctx, &or_undefined(&ctx, name), or_undefined(&ctx, handler))
    })?;
    let own = Rc::clone(socket);
    add(&object, "send", move |ctx: Ctx<'js>, message: Opt<Value<'js>>| {
        let text = string_of(&or_undefined(&ctx, message))?;
        own.order(&ctx, SocketCommand::Text(text))
    })?;
    let own = Rc::clone(socket);
    add(&object, "sendBinary", move |ctx: Ctx<'js>, message: Opt<Value<'js>>| {
        own.send_binary(&ctx, message.0.as_ref())
    })?;
    let own = Rc::clone(socket);
    add(&object, "ping", move |ctx: Ctx<'js>| own.order(&ctx, SocketCommand::Ping))?;
    let own = Rc::clone(socket);
    add(&object, "close", move |ctx: Ctx<'js>, code: Opt<Value<'js>>| {
        own.close(&ctx, or_undefined(&ctx, code))
    })?;
    for kind in [TimerKind::Timeout, TimerKind::Interval] {
        let own = Rc::clone(socket);
        let set = move |ctx: Ctx<'js>, handler: Opt<Value<'js>>, delay: Opt<Value<'js>>| {
            let (handler, delay) = (or_undefined(&ctx, handler), or_undefined(&ctx, delay));
            own.set_timer(&ctx, kind, WantedTimer { handler, delay })
        };
        add(&object, kind.name(), set)?;
    }
    Ok(object)
}

fn or_undefined<'js>(ctx: &Ctx<'js>, given: Opt<Value<'js>>) -> Value<'js> {
    given.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()))
}

fn add<'js, P>(
    object: &Object<'js>,
    name: &str,
    method: impl IntoJsFunc<'js, P> + 'js,
) -> Result<()> {
    object.set(name, Function::new(object.ctx().clone(), method)?)
}

/// The value of the event `error`: an `Error` whose method `error()` says what went wrong, as k6's does.
fn failure<'js>(ctx: &Ctx<'js>, text: String) -> Result<Value<'js>> {
    let class: Constructor<'js> = ctx.globals().get("Error")?;
    let error: Object<'js> = class.construct((text.as_str(),))?;
    error.set("error", Function::new(ctx.clone(), move || text.clone())?)?;
    Ok(error.into_value())
}

/// The name of a value's class, by which k6 refuses it.
fn class_name<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<String> {
    if value.is_undefined() || value.is_null() {
        return string_of(value);
    }
    let to_object: Function<'js> = ctx.globals().get("Object")?;
    let class: Value<'js> =
        to_object.call::<_, Object<'js>>((value.clone(),))?.get("constructor")?;
    match class.as_object() {
        Some(class) => string_of(&class.get("name")?),
        None => Ok("Object".to_owned()),
    }
}
