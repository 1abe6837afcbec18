//! The socket that `k6/ws` hands to a script while `connect` blocks: what is set up on it, and what its methods send.

use std::cell::Cell;
use std::rc::Rc;

use rquickjs::function::{IntoJsFunc, Opt};
use rquickjs::{Coerced, Ctx, Exception, Function, IntoJs, Object, Result, Value};
use stdx::Nanos;

use super::handlers::{Event, Handlers};
use crate::api::bytes::{buffer, of_buffer};
use crate::api::socket::{forget, order};
use crate::host::action::Ticket;
use crate::host::socket::{SocketCommand, SocketEvent};
use crate::runtime::current::vu_of;
use crate::runtime::ffi::call_with;
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
    /// `connect` has returned: nothing is called any more.
    over: Cell<bool>,
}

impl BlockingSocket {
    pub(super) fn new(ticket: Ticket) -> Rc<Self> {
        Rc::new(Self {
            ticket,
            handlers: Handlers::default(),
            timers: Timers::default(),
            closed: Cell::new(false),
            over: Cell::new(false),
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

    /// The first timer that is due runs; one that repeats is due again so much after the time at which it was due.
    ///
    /// # Errors
    /// It threw.
    pub(super) fn run_timer(&self, ctx: &Ctx<'_>, now: Nanos) -> Result<()> {
        let Some(due) = self.timers.take_due(now) else { return Ok(()) };
        let at = due.at();
        due.run(ctx, at)
    }

    /// `connect` returns: what the script has set up is dropped.
    pub(super) fn end(&self) {
        self.over.set(true);
        self.handlers.clear();
        self.timers.clear();
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

    fn on<'js>(&self, ctx: &Ctx<'js>, name: Value<'js>, handler: Value<'js>) -> Result<()> {
        let Some(handler) = handler.into_function() else {
            let text = "the handler of an event needs to be a function";
            return Err(Exception::throw_type(ctx, text));
        };
        match name.as_string() {
            Some(name) if !self.over.get() => self.handlers.add(ctx, &name.to_string()?, handler),
            _ => Ok(()),
        }
    }

    fn order(&self, ctx: &Ctx<'_>, command: SocketCommand) -> Result<()> {
        if self.is_closed() { Ok(()) } else { order(ctx, self.ticket, command) }
    }

    fn send_binary<'js>(&self, ctx: &Ctx<'js>, message: &Value<'js>) -> Result<()> {
        if message.is_undefined() || message.is_null() {
            return Err(Exception::throw_type(ctx, "missing argument, expected ArrayBuffer"));
        }
        let is_buffer =
            message.as_object().is_some_and(|object| object.as_array_buffer().is_some());
        match of_buffer(message)? {
            Some(bytes) if is_buffer => self.order(ctx, SocketCommand::Binary(bytes)),
            _ => {
                let kind = type_name(message);
                let text = format!("expected ArrayBuffer as argument, received: {kind}");
                Err(Exception::throw_type(ctx, &text))
            }
        }
    }

    fn close<'js>(&self, ctx: &Ctx<'js>, code: Value<'js>) -> Result<()> {
        if self.is_closed() {
            return Ok(());
        }
        let number = match code.is_undefined() {
            true => f64::from(GOING_AWAY),
            false => code.get::<Coerced<f64>>()?.0,
        };
        forget(ctx, self.ticket, number as u16)?;
        self.closed(ctx, &Value::new_number(ctx.clone(), number))
    }

    fn set_timer<'js>(
        &self,
        ctx: &Ctx<'js>,
        of: TimerKind,
        wanted: WantedTimer<'js>,
    ) -> Result<()> {
        let WantedTimer(handler, delay) = wanted;
        let name = of.name();
        let Some(handler) = handler.into_function() else {
            let text = format!("socket.{name}() needs a function");
            return Err(Exception::throw_type(ctx, &text));
        };
        let time = delay.get::<Coerced<f64>>()?.0;
        // What is no number is refused as well.
        if time.is_nan() || time <= 0.0 {
            let text = format!("{name} requires a >0 timeout parameter, received {time:.2}");
            return Err(Exception::throw_message(ctx, &text));
        }
        if self.over.get() {
            return Ok(());
        }
        let time = Nanos::from_secs_f64(time / 1e3);
        let due = vu_of(ctx)?.host.now().saturating_add(time);
        let every = (of == TimerKind::Interval).then_some(time);
        match self.timers.set(Timer::new(ctx, handler, Vec::new()), due, every) {
            Some(_) => Ok(()),
            None => Err(Exception::throw_range(ctx, &format!("{name}: there are too many timers"))),
        }
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

/// What a timer is set with: what to call, and after how many milliseconds.
struct WantedTimer<'js>(Value<'js>, Value<'js>);

/// The object that a script sees. Its methods know their socket, so that a script may also call them by themselves, as in k6.
pub(super) fn script_object<'js>(
    ctx: &Ctx<'js>,
    socket: &Rc<BlockingSocket>,
) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let of = |given: Opt<Value<'js>>, ctx: &Ctx<'js>| {
        given.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()))
    };
    let own = Rc::clone(socket);
    add(&object, "on", move |ctx: Ctx<'js>, name: Opt<Value<'js>>, handler: Opt<Value<'js>>| {
        own.on(&ctx, of(name, &ctx), of(handler, &ctx))
    })?;
    let own = Rc::clone(socket);
    add(&object, "send", move |ctx: Ctx<'js>, message: Opt<Value<'js>>| {
        let text = string_of(&of(message, &ctx))?;
        own.order(&ctx, SocketCommand::Text(text))
    })?;
    let own = Rc::clone(socket);
    add(&object, "sendBinary", move |ctx: Ctx<'js>, message: Opt<Value<'js>>| {
        own.send_binary(&ctx, &of(message, &ctx))
    })?;
    let own = Rc::clone(socket);
    add(&object, "ping", move |ctx: Ctx<'js>| own.order(&ctx, SocketCommand::Ping))?;
    let own = Rc::clone(socket);
    add(&object, "close", move |ctx: Ctx<'js>, code: Opt<Value<'js>>| {
        own.close(&ctx, of(code, &ctx))
    })?;
    for kind in [TimerKind::Timeout, TimerKind::Interval] {
        let own = Rc::clone(socket);
        let set = move |ctx: Ctx<'js>, handler: Opt<Value<'js>>, delay: Opt<Value<'js>>| {
            own.set_timer(&ctx, kind, WantedTimer(of(handler, &ctx), of(delay, &ctx)))
        };
        add(&object, kind.name(), set)?;
    }
    Ok(object)
}

fn add<'js, P>(
    object: &Object<'js>,
    name: &str,
    method: impl IntoJsFunc<'js, P> + 'js,
) -> Result<()> {
    object.set(name, Function::new(object.ctx().clone(), method)?)
}

/// The value of the event `error`: it says itself what it is, and k6's `error()` does.
fn failure<'js>(ctx: &Ctx<'js>, text: String) -> Result<Value<'js>> {
    let error = Exception::from_message(ctx.clone(), &text)?;
    error.set("error", Function::new(ctx.clone(), move || text.clone())?)?;
    Ok(error.into_value())
}

/// What `typeof` says of what is no buffer.
fn type_name(value: &Value<'_>) -> &'static str {
    match value {
        value if value.is_string() => "string",
        value if value.is_number() => "number",
        value if value.is_bool() => "boolean",
        value if value.is_function() => "function",
        value if value.is_symbol() => "symbol",
        value if value.is_big_int() => "bigint",
        _ => "object",
    }
}
