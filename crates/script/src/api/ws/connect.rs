//! `connect` of `k6/ws`: it blocks until the socket is closed; what the script has set up is called meanwhile.

use std::rc::Rc;

use rquickjs::function::Opt;
use rquickjs::{Ctx, Exception, Object, Result, Value};
use stdx::Nanos;
use users::{HandshakeResponse, Level, SocketEvent, Ticket};

use super::blocking_socket::{BlockingSocket, GOING_AWAY, LetGo, script_object};
use crate::api::socket::{WHAT, add_answer, close_and_forget, next_event, open_blocking};
use crate::runtime::context::VuContext;
use crate::runtime::current::vu_of;
use crate::runtime::ffi::call_with;
use crate::runtime::run_loop::BURST_MAX;
use crate::runtime::values::string_of;

/// The parameters that count.
const PARAMS: [&str; 4] = ["headers", "tags", "jar", "compression"];

/// `ws.connect(url, params, setup)`, where the parameters may be left out.
pub(super) fn connect<'js>(
    ctx: Ctx<'js>,
    url: Opt<Value<'js>>,
    second: Opt<Value<'js>>,
    third: Opt<Value<'js>>,
) -> Result<Object<'js>> {
    let (params, setup) = match third.0 {
        Some(setup) => (second.0, Some(setup)),
        None => (None, second.0),
    };
    let Some(setup) = setup.filter(Value::is_function) else {
        let text = "last argument to ws.connect must be a function";
        return Err(Exception::throw_type(&ctx, text));
    };
    let url = url.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    let url = string_of(&url)?;
    let vu = vu_of(&ctx)?;
    match open_blocking(&ctx, &vu, &wanted(&ctx, &url, params)?)? {
        (ticket, SocketEvent::Opened(opened)) => {
            let answer = shown(&ctx, &url, &opened, "");
            // It is not held while the socket is open.
            drop(opened);
            let talked = match &answer {
                Ok(_) => talk(&ctx, &vu, ticket, &setup),
                Err(_) => close_and_forget(&ctx, ticket, GOING_AWAY),
            };
            talked.and(answer)
        }
        (ticket, SocketEvent::Refused(opened, why)) => {
            refused(&ctx, &vu, ticket, &why)?;
            // k6 names the URL of a socket that came to be alone.
            shown(&ctx, "", &opened, &why)
        }
        _ => Err(Exception::throw_internal(&ctx, "a socket is opened or refused first")),
    }
}

/// The socket that is asked for.
fn wanted<'js>(ctx: &Ctx<'js>, url: &str, params: Option<Value<'js>>) -> Result<Object<'js>> {
    let wanted = Object::new(ctx.clone())?;
    wanted.set("url", url)?;
    let Some(params) = params.filter(|given| !given.is_undefined() && !given.is_null()) else {
        return Ok(wanted);
    };
    let Some(params) = params.as_object().filter(|_| !params.is_function()) else {
        return Err(Exception::throw_type(ctx, "invalid ws.connect() parameters"));
    };
    for name in PARAMS {
        wanted.set(name, params.get::<_, Value<'js>>(name)?)?;
    }
    Ok(wanted)
}

/// The server's answer as the script gets it.
fn shown<'js>(
    ctx: &Ctx<'js>,
    url: &str,
    opened: &HandshakeResponse,
    error: &str,
) -> Result<Object<'js>> {
    let shown = Object::new(ctx.clone())?;
    shown.set("url", url)?;
    add_answer(&shown, opened, error)?;
    Ok(shown)
}

/// A socket that was not opened is an exception or a warning, by the options.
fn refused(ctx: &Ctx<'_>, vu: &VuContext, ticket: Ticket, why: &str) -> Result<()> {
    close_and_forget(ctx, ticket, GOING_AWAY)?;
    if vu.host.http_rules().throws {
        return Err(Exception::throw_message(ctx, why));
    }
    let text = "Attempt to establish a WebSocket connection failed";
    vu.host.log_event(Level::Warn, text, &[("error", why)]);
    Ok(())
}

/// Lets the script set up its socket, then hands it the socket's events until it is closed.
fn talk<'js>(ctx: &Ctx<'js>, vu: &VuContext, ticket: Ticket, setup: &Value<'js>) -> Result<()> {
    let socket = BlockingSocket::new(ticket);
    let _let_go = LetGo(&socket);
    let talked = set_up(ctx, &socket, setup)
        .and_then(|()| socket.opened(ctx))
        .and_then(|()| hand_over(ctx, vu, &socket));
    if talked.is_err() && !socket.is_closed() {
        close_and_forget(ctx, ticket, GOING_AWAY)?;
    }
    talked
}

fn set_up<'js>(ctx: &Ctx<'js>, socket: &Rc<BlockingSocket>, setup: &Value<'js>) -> Result<()> {
    call_with(setup, script_object(ctx, socket)?.as_value()).map(drop)
}

fn hand_over(ctx: &Ctx<'_>, vu: &VuContext, socket: &BlockingSocket) -> Result<()> {
    let mut left = BURST_MAX;
    while !socket.is_closed() {
        match next_event(ctx, vu, socket.ticket, socket.timers.next_due())? {
            Some(event) => socket.handle(ctx, event)?,
            None => {
                socket.run_timer(ctx, vu.host.now())?;
                left -= 1;
            }
        }
        if left == 0 {
            left = BURST_MAX;
            // A timer that is always due waits for nothing: neither events nor other VUs would come.
            vu.rest(ctx, WHAT, Nanos::ZERO)?;
        }
    }
    Ok(())
}
