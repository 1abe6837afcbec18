//! `connect` of `k6/ws`: it blocks until the socket is closed; what the script has set up is called meanwhile.

use std::rc::Rc;

use rquickjs::function::Opt;
use rquickjs::{Ctx, Exception, Object, Result, Value};

use super::blocking_socket::{BlockingSocket, GOING_AWAY, script_object};
use crate::api::socket::{forget, next_event, open_blocking, response};
use crate::host::action::Ticket;
use crate::host::socket::{HandshakeResponse, SocketEvent};
use crate::host::traits::Level;
use crate::runtime::context::VuContext;
use crate::runtime::current::vu_of;
use crate::runtime::ffi::call_with;
use crate::runtime::values::string_of;

/// The parameters that count.
const PARAMS: [&str; 4] = ["headers", "tags", "jar", "compression"];
/// What a script gets of the server's answer, beside the URL.
const RESPONSE: [&str; 4] = ["status", "headers", "body", "error"];

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
            let answer = shown(&ctx, &url, &opened, "")?;
            talk(&ctx, &vu, ticket, &setup)?;
            Ok(answer)
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
    let (shown, all) = (Object::new(ctx.clone())?, response(ctx, opened, error)?);
    shown.set("url", url)?;
    for name in RESPONSE {
        shown.set(name, all.get::<_, Value<'js>>(name)?)?;
    }
    Ok(shown)
}

/// A socket that was not opened is an exception or a warning, by the options.
fn refused(ctx: &Ctx<'_>, vu: &VuContext, ticket: Ticket, why: &str) -> Result<()> {
    forget(ctx, ticket, GOING_AWAY)?;
    if vu.host.http_rules().throws {
        return Err(Exception::throw_message(ctx, why));
    }
    let text = "Attempt to establish a WebSocket connection failed";
    vu.host.log_event(Level::Warn, text, &[("error", why)]);
    Ok(())
}

/// Has the script set its socket up, and hands it the socket's events until it is closed.
fn talk<'js>(ctx: &Ctx<'js>, vu: &VuContext, ticket: Ticket, setup: &Value<'js>) -> Result<()> {
    let socket = BlockingSocket::new(ticket);
    let talked = set_up(ctx, &socket, setup)
        .and_then(|()| socket.opened(ctx))
        .and_then(|()| hand_over(ctx, vu, &socket));
    socket.end();
    if talked.is_err() && !socket.is_closed() {
        forget(ctx, ticket, GOING_AWAY)?;
    }
    talked
}

fn set_up<'js>(ctx: &Ctx<'js>, socket: &Rc<BlockingSocket>, setup: &Value<'js>) -> Result<()> {
    call_with(setup, script_object(ctx, socket)?.as_value()).map(drop)
}

fn hand_over(ctx: &Ctx<'_>, vu: &VuContext, socket: &BlockingSocket) -> Result<()> {
    while !socket.is_closed() {
        match next_event(ctx, vu, socket.ticket, socket.timers.next_due())? {
            Some(event) => socket.handle(ctx, event)?,
            None => socket.run_timer(ctx, vu.host.now())?,
        }
    }
    Ok(())
}
