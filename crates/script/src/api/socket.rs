//! What the modules of WebSockets are made of: functions that open a socket, wait for its events and send commands to it. `k6/ws`
//! calls them from Rust; the other modules' scripts, which are in `js/`, get events as plain values: a string is a text message, an
//! `ArrayBuffer` a binary one, an array any other event, its name first.

use rquickjs::convert::List;
use rquickjs::function::Opt;
use rquickjs::{Array, Class, Ctx, Exception, Function, IntoJs, Object, Persistent, Result, Value};
use stdx::{Nanos, OutOfMemory};
use users::{
    Action, ActionResult, CableCommand, CableEvent, Delivery, HandshakeResponse, HttpRequest,
    Level, SocketApi, SocketCommand, SocketEvent, SocketRequest, Ticket, response_head::fields,
};
use wire::cable::{Codec, CommandKind, Kind};
use wire::url::Url;

use super::bytes::{buffer, of_buffer};
use super::http::{JarRef, canonical, malformed, text_of};
use crate::api::tags::sample_tags;
use crate::runtime::context::VuContext;
use crate::runtime::current::vu_of;
use crate::runtime::event_loop::Next;
use crate::runtime::ffi::Handle;
use crate::runtime::values::{string_fields, string_of};

/// The subject of the error for a socket in a place where none is allowed.
pub(super) const WHAT: &str = "Using WebSockets";

/// What the glue of the modules calls.
pub(super) fn native<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    native.set("open", Function::new(ctx.clone(), open_cable)?)?;
    native.set("start", Function::new(ctx.clone(), start)?)?;
    native.set("next", Function::new(ctx.clone(), next)?)?;
    native.set("send", Function::new(ctx.clone(), send)?)?;
    native.set("ping", Function::new(ctx.clone(), ping)?)?;
    native.set("close", Function::new(ctx.clone(), close)?)?;
    native.set("drop", Function::new(ctx.clone(), drop_socket)?)?;
    native.set("now", Function::new(ctx.clone(), now)?)?;
    native.set("bytes", Function::new(ctx.clone(), bytes)?)?;
    native.set("text", Function::new(ctx.clone(), text)?)?;
    native.set("command", Function::new(ctx.clone(), command)?)?;
    native.set("ignore", Function::new(ctx.clone(), ignore)?)?;
    native.set("log", Function::new(ctx.clone(), log)?)?;
    native.set("pause", Function::new(ctx.clone(), pause)?)?;
    Ok(native)
}

/// What a script's socket is to be: `{ url, headers, tags, jar, compression, protocols, timeout }`.
fn socket_request<'js>(
    ctx: &Ctx<'js>,
    wanted: &Object<'js>,
    api: SocketApi,
) -> Result<Box<SocketRequest>> {
    let vu = vu_of(ctx)?;
    vu.require_started(ctx, WHAT)?;
    let url: String = wanted.get("url")?;
    let http_url = http_form(&url).filter(|http| Url::parse(http).is_ok());
    // k6/ws takes that for a server that refuses.
    let hopeless =
        http_url.is_none().then(|| malformed(&url).unwrap_or_else(|| NO_SOCKET.to_owned()));
    if hopeless.is_some() && api != SocketApi::Blocking {
        let shown = stdx::shown_url(&url);
        let text =
            format!("invalid WebSocket URL {shown:?}: it begins with neither ws:// nor wss://");
        return Err(Exception::throw_message(ctx, &text));
    }
    let mut http = Box::new(HttpRequest {
        method: "GET".into(),
        jar: Some(vu.jar.borrow().clone()),
        ..vu.new_request(http_url.unwrap_or_default().into())
    });
    let mut protocols: Vec<String> = wanted.get::<_, Option<_>>("protocols")?.unwrap_or_default();
    for (name, value) in string_fields(&wanted.get("headers")?)? {
        let name = canonical(&name);
        match name.as_str() {
            // What is offered is checked against what is answered.
            "Sec-Websocket-Protocol" => {
                protocols.extend(value.split(',').map(|one| one.trim().to_owned()));
            }
            _ => http.set_header(&name, value),
        }
    }
    for (name, value) in sample_tags(ctx, &wanted.get("tags")?)? {
        if name == "name" || name == "url" {
            http.name = Some(value.clone());
        }
        http.tags.push((name, value));
    }
    if let Ok(jar) = Class::<Handle<JarRef>>::from_value(&wanted.get("jar")?) {
        http.jar = Some(jar.borrow().0.0.clone());
    }
    let timeout: Option<f64> = wanted.get("timeout")?;
    http.timeout = timeout.map(|milliseconds| Nanos::from_secs_f64(milliseconds.max(0.0) / 1e3));
    let deflates = deflates(ctx, &wanted.get("compression")?)?;
    Ok(Box::new(SocketRequest { http, url, protocols, deflates, api, hopeless }))
}

/// k6's error for a URL that is not a socket's.
const NO_SOCKET: &str = "malformed ws or wss URL";

/// Whether messages are to be compressed, by the parameter `compression`.
fn deflates<'js>(ctx: &Ctx<'js>, compression: &Value<'js>) -> Result<bool> {
    if compression.is_undefined() || compression.is_null() {
        return Ok(false);
    }
    match string_of(compression)?.as_str() {
        "" => Ok(false),
        "deflate" => Ok(true),
        other => {
            let text = format!(
                "unsupported compression algorithm '{other}', supported algorithm is 'deflate'"
            );
            Err(Exception::throw_message(ctx, &text))
        }
    }
}

/// The http form of a socket's URL.
fn http_form(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    match scheme.to_ascii_lowercase().as_str() {
        "ws" => Some(format!("http://{rest}")),
        "wss" => Some(format!("https://{rest}")),
        _ => None,
    }
}

/// Opens a socket of Action Cable and waits for the server's answer; gives `[ticket, event]`. It outlives the iteration.
fn open_cable<'js>(ctx: Ctx<'js>, wanted: Object<'js>) -> Result<Array<'js>> {
    let vu = vu_of(&ctx)?;
    let protocols: Vec<String> = wanted.get("protocols")?;
    let codec = protocols.first().and_then(|name| Codec::of_subprotocol(name));
    let Some(codec) = codec else {
        return Err(Exception::throw_internal(&ctx, "a cable has a codec"));
    };
    let request = socket_request(&ctx, &wanted, SocketApi::Cable(codec))?;
    let ticket = vu.start_lasting(&ctx, WHAT, |ticket| Action::Open(ticket, request))?;
    let (_, answer) = vu.answer_within(&ctx, ticket, ticket)?;
    let event = socket_event(&ctx, &vu, ticket, answer)?;
    let event = event_value(&ctx, event)?;
    let both = Array::new(ctx)?;
    both.set(0, ticket.0 as f64)?;
    both.set(1, event)?;
    Ok(both)
}

/// Opens a socket that ends with its iteration, and waits for the server's answer.
pub(super) fn open_blocking<'js>(
    ctx: &Ctx<'js>,
    vu: &VuContext,
    wanted: &Object<'js>,
) -> Result<(Ticket, SocketEvent)> {
    let request = socket_request(ctx, wanted, SocketApi::Blocking)?;
    // What comes while the script does something else is kept for it.
    let then = Box::new(|_: &Ctx<'_>, _: ActionResult| Ok(Next::More));
    let ticket = vu.start(ctx, WHAT, |ticket| Action::Open(ticket, request), then)?;
    let (_, answer) = vu.answer_within(ctx, ticket, ticket)?;
    socket_event(ctx, vu, ticket, answer).map(|event| (ticket, event))
}

/// Waits for the next event of a socket, until a time; `None` when that has come.
pub(super) fn next_event(
    ctx: &Ctx<'_>,
    vu: &VuContext,
    ticket: Ticket,
    until: Option<Nanos>,
) -> Result<Option<SocketEvent>> {
    let Some(answer) = vu.next_of(ctx, ticket, until)? else { return Ok(None) };
    socket_event(ctx, vu, ticket, answer).map(Some)
}

/// The event that an answer is; its socket is forgotten after the last, else the iteration would wait for more.
fn socket_event(
    ctx: &Ctx<'_>,
    vu: &VuContext,
    ticket: Ticket,
    answer: ActionResult,
) -> Result<SocketEvent> {
    if is_last(&answer) {
        vu.forget(ticket);
    }
    event_of(ctx, answer)
}

fn event_of(ctx: &Ctx<'_>, answer: ActionResult) -> Result<SocketEvent> {
    match answer {
        ActionResult::Socket(event) => Ok(event),
        _ => Err(Exception::throw_internal(ctx, "a socket is told of itself alone")),
    }
}

/// Begins to open a socket; each of its events is handed to `each`. Gives its ticket.
fn start<'js>(ctx: Ctx<'js>, wanted: Object<'js>, each: Function<'js>) -> Result<f64> {
    let request = socket_request(&ctx, &wanted, SocketApi::Events)?;
    let each = Persistent::save(&ctx, each);
    let then = move |ctx: &Ctx<'_>, answer: ActionResult| {
        let last = is_last(&answer);
        let event = event_value(ctx, event_of(ctx, answer)?)?;
        each.clone().restore(ctx)?.call::<_, ()>((event,))?;
        Ok(if last { Next::Over } else { Next::More })
    };
    let ticket =
        vu_of(&ctx)?.start(&ctx, WHAT, |ticket| Action::Open(ticket, request), Box::new(then))?;
    Ok(ticket.0 as f64)
}

/// Waits for the next event of a socket, until a time; gives undefined when that has come.
fn next<'js>(ctx: Ctx<'js>, ticket: f64, until: Opt<Option<f64>>) -> Result<Value<'js>> {
    let until = until.0.flatten().map(|milliseconds| Nanos::from_secs_f64(milliseconds / 1e3));
    match next_event(&ctx, &*vu_of(&ctx)?, Ticket(ticket as u64), until)? {
        Some(event) => event_value(&ctx, event),
        None => Ok(Value::new_undefined(ctx)),
    }
}

/// Adds to what is carried out when the script waits.
pub(super) fn order(ctx: &Ctx<'_>, ticket: Ticket, order: SocketCommand) -> Result<()> {
    let bytes = size_of::<Action>() + order.bytes();
    let action = Action::Socket(ticket, order);
    vu_of(ctx)?.events.push_message(action, bytes).map_err(|OutOfMemory| {
        let text = "too many messages wait to be sent: they are sent when the script waits";
        Exception::throw_message(ctx, text)
    })
}

/// Ends a socket, whatever waits to be sent.
fn end(ctx: &Ctx<'_>, ticket: Ticket, order: SocketCommand) -> Result<()> {
    vu_of(ctx)?.events.push(Action::Socket(ticket, order));
    Ok(())
}

/// Sends a message: a string as text, anything else as bytes.
fn send<'js>(ctx: Ctx<'js>, ticket: f64, message: Value<'js>) -> Result<()> {
    let bytes = if message.is_string() { None } else { of_buffer(&message)? };
    let wanted = match bytes {
        Some(bytes) => SocketCommand::Binary(bytes),
        None => SocketCommand::Text(string_of(&message)?),
    };
    order(&ctx, Ticket(ticket as u64), wanted)
}

fn ping(ctx: Ctx<'_>, ticket: f64) -> Result<()> {
    order(&ctx, Ticket(ticket as u64), SocketCommand::Ping)
}

/// Sends the close frame.
fn close(ctx: Ctx<'_>, ticket: f64, code: f64, reason: String) -> Result<()> {
    end(&ctx, Ticket(ticket as u64), SocketCommand::Close(code as u16, reason))
}

fn drop_socket(ctx: Ctx<'_>, ticket: f64, code: f64) -> Result<()> {
    close_and_forget(&ctx, Ticket(ticket as u64), code as u16)
}

/// Closes a socket and forgets it: none of its events is waited for.
pub(super) fn close_and_forget(ctx: &Ctx<'_>, ticket: Ticket, code: u16) -> Result<()> {
    end(ctx, ticket, SocketCommand::Drop(code))?;
    vu_of(ctx)?.forget(ticket);
    Ok(())
}

/// The time in milliseconds, on the clock that [`next`] waits by.
fn now(ctx: Ctx<'_>) -> Result<f64> {
    Ok(vu_of(&ctx)?.host.now().as_millis_f64())
}

/// Logs a line.
fn log(ctx: Ctx<'_>, level: String, source: String, text: String) -> Result<()> {
    let level = match level.as_str() {
        "debug" => Level::Debug,
        "info" => Level::Info,
        "error" => Level::Error,
        _ => Level::Warn,
    };
    vu_of(&ctx)?.host.log_event(level, &text, &[("source", source.as_str())]);
    Ok(())
}

/// Waits, while others run.
fn pause(ctx: Ctx<'_>, milliseconds: f64) -> Result<()> {
    vu_of(&ctx)?.rest(&ctx, WHAT, Nanos::from_secs_f64(milliseconds / 1e3))
}

/// Sets whether a script gets the messages of a subscription, or they are only counted.
fn ignore(ctx: Ctx<'_>, ticket: f64, identifier: String, ignores: bool) -> Result<()> {
    let delivery = if ignores { Delivery::CountOnly } else { Delivery::Full };
    order(&ctx, Ticket(ticket as u64), SocketCommand::Ignore(identifier, delivery))
}

/// Sends a command of Action Cable: `{ kind, identifier, data, since }`.
fn command<'js>(ctx: Ctx<'js>, ticket: f64, wanted: Object<'js>) -> Result<()> {
    let kind: String = wanted.get("kind")?;
    let kind = match kind.as_str() {
        "subscribe" => CommandKind::Subscribe,
        "unsubscribe" => CommandKind::Unsubscribe,
        "message" => CommandKind::Message,
        "history" => CommandKind::History,
        "whisper" => CommandKind::Whisper,
        "join" => CommandKind::Join,
        "leave" => CommandKind::Leave,
        "presence" => CommandKind::Presence,
        other => return Err(Exception::throw_type(&ctx, &format!("unknown command {other}"))),
    };
    let since: Option<f64> = wanted.get("since")?;
    let command = CableCommand {
        kind,
        identifier: wanted.get("identifier")?,
        data: wanted.get("data")?,
        since: since.map(|seconds| seconds as i64),
    };
    order(&ctx, Ticket(ticket as u64), SocketCommand::Command(Box::new(command)))
}

/// The bytes of a buffer or of a view, as an `ArrayBuffer` of their own; of anything else null.
fn bytes<'js>(ctx: Ctx<'js>, value: Value<'js>) -> Result<Value<'js>> {
    match of_buffer(&value)? {
        Some(bytes) => buffer(&ctx, &bytes),
        None => Ok(Value::new_null(ctx)),
    }
}

/// Bytes as text.
fn text<'js>(ctx: Ctx<'js>, value: Value<'js>) -> Result<Value<'js>> {
    text_of(&ctx, &of_buffer(&value)?.unwrap_or_default())
}

/// Whether nothing follows.
fn is_last(answer: &ActionResult) -> bool {
    matches!(answer, ActionResult::Socket(SocketEvent::Refused(..) | SocketEvent::Closed(..)))
}

/// An event as the glue takes it.
fn event_value<'js>(ctx: &Ctx<'js>, event: SocketEvent) -> Result<Value<'js>> {
    match event {
        SocketEvent::Text(text) => text.into_js(ctx),
        SocketEvent::Binary(bytes) => buffer(ctx, &bytes),
        SocketEvent::Opened(opened) => List(("open", response(ctx, &opened, "")?)).into_js(ctx),
        SocketEvent::Refused(opened, why) => {
            List(("refused", response(ctx, &opened, &why)?, why)).into_js(ctx)
        }
        SocketEvent::Cable(event) => cable_event(ctx, *event),
        SocketEvent::Ping => List(("ping",)).into_js(ctx),
        SocketEvent::Pong(_) => List(("pong",)).into_js(ctx),
        SocketEvent::Failed(text) => List(("error", text)).into_js(ctx),
        SocketEvent::Closed(code, reason) => List(("close", code, reason)).into_js(ctx),
    }
}

/// The server's answer with what was agreed on.
fn response<'js>(ctx: &Ctx<'js>, opened: &HandshakeResponse, error: &str) -> Result<Object<'js>> {
    let all = Object::new(ctx.clone())?;
    add_answer(&all, opened, error)?;
    all.set("protocol", opened.protocol.as_str())?;
    all.set("extensions", opened.extensions.as_str())?;
    Ok(all)
}

/// Sets the fields of the server's answer on an object.
pub(super) fn add_answer<'js>(
    to: &Object<'js>,
    opened: &HandshakeResponse,
    error: &str,
) -> Result<()> {
    to.set("status", opened.status)?;
    let headers = Object::new(to.ctx().clone())?;
    for (name, value) in fields(opened.head.as_deref().unwrap_or_default()) {
        headers.set(canonical(&name), value.into_owned())?;
    }
    to.set("headers", headers)?;
    to.set("body", text_of(to.ctx(), &opened.body)?)?;
    to.set("error", error)
}

/// A message of Action Cable: `[kind, identifier, message, time, place]`.
fn cable_event<'js>(ctx: &Ctx<'js>, event: CableEvent) -> Result<Value<'js>> {
    let CableEvent { kind, identifier, message, again, at, place } = event;
    let name = match kind {
        Kind::Message => "message",
        Kind::Welcome => "welcome",
        Kind::Disconnect => "disconnect",
        Kind::Ping => "ping",
        Kind::Confirm => "confirm",
        Kind::Reject => "reject",
        Kind::HistoryConfirmed | Kind::HistoryRejected => "history",
        Kind::Presence => "presence",
        Kind::Unknown => "unknown",
    };
    let third = match (kind, again) {
        (Kind::Welcome | Kind::Disconnect, again) => again.into_js(ctx)?,
        (Kind::HistoryConfirmed, _) => "confirmed".into_js(ctx)?,
        (Kind::HistoryRejected, _) => "rejected".into_js(ctx)?,
        _ => message.into_js(ctx)?,
    };
    let place = match place {
        Some((stream, epoch, offset)) => {
            let known = Object::new(ctx.clone())?;
            known.set("stream", stream)?;
            known.set("epoch", epoch)?;
            known.set("offset", offset as f64)?;
            known.into_value()
        }
        None => Value::new_undefined(ctx.clone()),
    };
    List((name, identifier, third, at, place)).into_js(ctx)
}
