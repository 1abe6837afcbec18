//! Calls: messages are made of JSON and sent, and what came back is made an object.

use ::grpc::json::{DynamicMessage, decode, decode_bytes, encode, encode_bytes};
use ::grpc::{CallOutcome, CallRequest, Code, Status, details_json, health as health_messages};
use std::sync::Arc;

use rquickjs::{Array, Ctx, Exception, IntoJs, Object, Persistent, Result, Value};
use stdx::Nanos;
use users::{Action, ActionResult, ChannelTls, GrpcKind, GrpcRequest, GrpcResponse, Replies};

use super::client::{Channel, ClientHandle, GrpcClient, WHAT, channel, method, of};
use super::room::{with_room, with_room_for};
use crate::api::tags::sample_tags;
use crate::runtime::current::vu_of;
use crate::runtime::event_loop::Next;

/// A message that is none, in the words of grpc-go.
pub(super) const UNPARSED: &str =
    "grpc: failed to unmarshal the received message: proto: cannot parse invalid wire-format data";

/// How many messages a method answers with.
pub(super) fn replies_of(method: &::grpc::Method) -> Replies {
    if method.is_server_stream() { Replies::Many } else { Replies::One }
}

/// One exchange on a channel.
#[derive(Debug)]
pub(super) struct Exchange<'a> {
    pub(super) path: &'a str,
    pub(super) metadata: Vec<(String, String)>,
    pub(super) messages: Vec<Vec<u8>>,
    pub(super) tags: Vec<(String, String)>,
    /// How long it may take; below zero it is over before it begins, and infinite it is as long as the iteration.
    pub(super) timeout_ms: f64,
    pub(super) kind: GrpcKind,
    pub(super) replies: Replies,
    pub(super) tls: Option<Arc<ChannelTls>>,
}

impl Default for Exchange<'_> {
    fn default() -> Self {
        let (metadata, messages, tags) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            path: "",
            metadata,
            messages,
            tags,
            timeout_ms: 0.0,
            kind: GrpcKind::Call,
            replies: Replies::One,
            tls: None,
        }
    }
}

/// Names and values that stand one after the other.
pub(super) fn pairs(flat: Vec<String>) -> Vec<(String, String)> {
    let mut all = Vec::with_capacity(flat.len() / 2);
    let mut flat = flat.into_iter();
    while let (Some(name), Some(value)) = (flat.next(), flat.next()) {
        all.push((name, value));
    }
    all
}

/// An exchange made ready to be asked for.
pub(super) fn exchange(
    ctx: &Ctx<'_>,
    channel: &Channel,
    of: Exchange<'_>,
) -> Result<Box<GrpcRequest>> {
    let Exchange { path, metadata, messages, tags, timeout_ms, kind, replies, tls } = of;
    let vu = vu_of(ctx)?;
    let (timeout, said) = match timeout_ms {
        f64::INFINITY => (Nanos::MAX, vu.host.time_left()),
        _ => {
            let timeout = Nanos::from_secs_f64(timeout_ms.max(0.0) / 1e3);
            (timeout, timeout)
        }
    };
    let timeout_ns = (said != Nanos::MAX).then_some(said.0);
    let Channel { number, address, scheme, authority, receive_max, .. } = channel;
    let request = CallRequest { metadata: &metadata, timeout_ns, user_agent: None };
    let mut headers = request.headers();
    if !authority.is_empty() {
        headers.push(("host".to_owned(), authority.clone()));
    }
    let mut http = Box::new(vu.new_request(format!("{scheme}://{address}{path}").into()));
    http.method = "POST".into();
    http.headers = headers;
    http.body = Some(CallRequest::body(&messages).into());
    http.timeout = Some(timeout);
    http.name = tags.iter().find(|(name, _)| name == "name").map(|(_, value)| value.clone());
    http.tags = tags;
    Ok(Box::new(GrpcRequest {
        http,
        channel: *number,
        kind,
        path: path.to_owned(),
        address: address.clone(),
        receive_max: *receive_max,
        replies,
        tls,
    }))
}

/// The answer to a call.
pub(super) fn grpc_of(ctx: &Ctx<'_>, answer: ActionResult) -> Result<Box<GrpcResponse>> {
    match answer {
        ActionResult::Grpc(answer) => Ok(answer),
        _ => Err(Exception::throw_internal(ctx, "a call has one answer")),
    }
}

/// The exception for a status that is no success, in Go's words.
pub(super) fn rpc_error(ctx: &Ctx<'_>, status: &Status) -> rquickjs::Error {
    let Status { code, message, .. } = status;
    let text = format!("rpc error: code = {} desc = {message}", code.go_name());
    Exception::throw_message(ctx, &text)
}

/// A call made ready, and what is to be known of its answer.
struct Prepared {
    client: std::rc::Rc<GrpcClient>,
    method: ::grpc::Method,
    discards: bool,
    /// `None` where the call is over before it began.
    request: std::result::Result<Box<GrpcRequest>, CallOutcome>,
}

fn prepare<'js>(
    ctx: &Ctx<'js>,
    held: &ClientHandle<'js>,
    path: &str,
    json: &str,
    params: &Object<'js>,
) -> Result<Prepared> {
    let client = of(ctx, held)?;
    let channel = channel(ctx, &client)?;
    let method = method(ctx, &client, path)?;
    let (input, len) = (method.input(), json.len());
    let encoded = with_room_for(&input, len, || {
        decode(json, &input)
            .map(|message| encode_bytes(&message))
            .map_err(|error| error.to_string())
    });
    let message = encoded.map_err(|error| {
        let text = format!("unable to serialise request object to protocol buffer: {error}");
        Exception::throw_message(ctx, &text)
    })?;
    let tags: Value<'js> = params.get("tags")?;
    let timeout_ms: f64 = params.get("timeoutMs")?;
    let discards: bool = params.get("discards")?;
    let request = if message.len() > channel.send_max {
        let (len, max) = (message.len(), channel.send_max);
        let text = format!("trying to send message larger than max ({len} vs. {max})");
        Err(CallOutcome::failed(Code::RESOURCE_EXHAUSTED, text))
    } else {
        let of = Exchange {
            path,
            metadata: pairs(params.get("metadata")?),
            messages: vec![message],
            tags: sample_tags(ctx, &tags)?,
            timeout_ms,
            replies: replies_of(&method),
            ..Exchange::default()
        };
        Ok(exchange(ctx, &channel, of)?)
    };
    Ok(Prepared { client, method, discards, request })
}

/// A call that is waited for.
pub(super) fn invoke<'js>(
    ctx: Ctx<'js>,
    held: ClientHandle<'js>,
    path: String,
    json: String,
    params: Object<'js>,
) -> Result<Object<'js>> {
    let Prepared { client, method, discards, request } =
        prepare(&ctx, &held, &path, &json, &params)?;
    let outcome = match request {
        Ok(request) => {
            let vu = vu_of(&ctx)?;
            let answer = vu.perform(&ctx, WHAT, |ticket| Action::Grpc(ticket, request))?;
            grpc_of(&ctx, answer)?.outcome
        }
        Err(outcome) => outcome,
    };
    response(&ctx, &client, &method, (!discards).then_some(()), outcome)
}

/// A call whose answer is a promise.
pub(super) fn start<'js>(
    ctx: Ctx<'js>,
    held: ClientHandle<'js>,
    path: String,
    json: String,
    params: Object<'js>,
) -> Result<Value<'js>> {
    let Prepared { client, method, discards, request } =
        prepare(&ctx, &held, &path, &json, &params)?;
    let keeps = (!discards).then_some(());
    let (promise, resolve, _) = ctx.promise()?;
    match request {
        Ok(request) => {
            let mut waiting = Some(Persistent::save(&ctx, resolve));
            let then = move |ctx: &Ctx<'_>, answer| {
                let outcome = grpc_of(ctx, answer)?.outcome;
                if let Some(resolve) = waiting.take() {
                    let response = response(ctx, &client, &method, keeps, outcome)?;
                    resolve.restore(ctx)?.call::<_, ()>((response,))?;
                }
                Ok(Next::Over)
            };
            vu_of(&ctx)?.start(
                &ctx,
                WHAT,
                |ticket| Action::Grpc(ticket, request),
                Box::new(then),
            )?;
        }
        Err(outcome) => {
            let response = response(&ctx, &client, &method, keeps, outcome)?;
            resolve.call::<_, ()>((response,))?;
        }
    }
    promise.into_js(&ctx)
}

/// A service's health, as its number.
pub(super) fn health<'js>(ctx: Ctx<'js>, held: ClientHandle<'js>, service: String) -> Result<u32> {
    let client = of(&ctx, &held)?;
    let channel = channel(&ctx, &client)?;
    let of = Exchange {
        path: health_messages::CHECK_PATH,
        messages: vec![health_messages::encode_check(&service)],
        timeout_ms: 60_000.0,
        kind: GrpcKind::Probe,
        ..Exchange::default()
    };
    let request = exchange(&ctx, &channel, of)?;
    let answer = vu_of(&ctx)?.perform(&ctx, WHAT, |ticket| Action::Grpc(ticket, request))?;
    let outcome = grpc_of(&ctx, answer)?.outcome;
    if outcome.status.code != Code::OK {
        return Err(rpc_error(&ctx, &outcome.status));
    }
    let message = outcome.messages.first().map(Vec::as_slice).unwrap_or_default();
    health_messages::parse_health(message)
        .ok_or_else(|| Exception::throw_message(&ctx, "the health check's response is malformed"))
}

/// What a call came to, as an object; without `keeps` its message is dropped.
fn response<'js>(
    ctx: &Ctx<'js>,
    client: &GrpcClient,
    method: &::grpc::Method,
    keeps: Option<()>,
    mut outcome: CallOutcome,
) -> Result<Object<'js>> {
    let made = Object::new(ctx.clone())?;
    let len = outcome.messages.first().map_or(0, Vec::len);
    let text = with_room_for(&method.output(), len, || {
        let message = message_of(method, &mut outcome);
        keeps.map(|()| encode(&message).map_err(|error| error.to_string()))
    });
    if let Some(text) = text {
        let text = text.map_err(|error| {
            let text = format!("unable to convert response object to JSON: {error}");
            Exception::throw_message(ctx, &text)
        })?;
        made.set("message", text)?;
    }
    let CallOutcome { status, headers, trailers, .. } = &outcome;
    made.set("code", status.code.0)?;
    if status.code != Code::OK {
        let details = with_room(|| details_json(status, &client.definitions.borrow()));
        let text = details.map_or_else(
            || "{}".to_owned(),
            |details| {
                let (code, message) = (status.code.0, serde_json::json!(status.message));
                let details = details.join(",");
                format!("{{\"code\":{code},\"message\":{message},\"details\":[{details}]}}")
            },
        );
        made.set("error", text)?;
    }
    made.set("headers", fields(ctx, headers)?)?;
    made.set("trailers", fields(ctx, trailers)?)?;
    Ok(made)
}

/// The message of a response; an empty one where the call failed, which it also does for a message that cannot be read.
fn message_of(method: &::grpc::Method, outcome: &mut CallOutcome) -> DynamicMessage {
    let empty = || DynamicMessage::new(method.output());
    if outcome.status.code != Code::OK {
        return empty();
    }
    let Some(bytes) = outcome.messages.first() else {
        if !method.is_server_stream() {
            let text =
                "cardinality violation: received no response message from non-server-streaming RPC";
            outcome.status = Status::new(Code::INTERNAL, text);
        }
        return empty();
    };
    decode_bytes(&method.output(), bytes).unwrap_or_else(|| {
        outcome.status = Status::new(Code::INTERNAL, UNPARSED);
        empty()
    })
}

/// Metadata as an object of arrays.
fn fields<'js>(ctx: &Ctx<'js>, metadata: &::grpc::Metadata) -> Result<Object<'js>> {
    let all = Object::new(ctx.clone())?;
    for (name, values) in &metadata.0 {
        let list = Array::new(ctx.clone())?;
        for (at, value) in values.iter().enumerate() {
            list.set(at, String::from_utf8_lossy(value).into_owned())?;
        }
        all.set(name.as_str(), list)?;
    }
    Ok(all)
}
