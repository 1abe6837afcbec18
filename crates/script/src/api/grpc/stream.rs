//! Streams: messages are written one by one, and what comes back is handed to the script's object, which calls its handlers.

use std::cell::Cell;
use std::rc::Rc;

use ::grpc::json::{decode, decode_bytes, encode, encode_bytes};
use ::grpc::{Code, Definitions, Status, details_json, encode_frame};
use rquickjs::convert::List;
use rquickjs::{Class, Ctx, Exception, Function, Object, Persistent, Result, Value};
use users::{Action, ActionResult, GrpcKind, Level, Replies, StreamAction, StreamEvent, Ticket};

use super::call::{Exchange, UNPARSED, exchange, pairs, replies_of};
use super::client::{ClientHandle, WHAT, channel, method, of};
use super::room::{with_room, with_room_for};
use crate::api::tags::sample_tags;
use crate::runtime::caught::exception_of;
use crate::runtime::current::vu_of;
use crate::runtime::event_loop::Next;
use crate::runtime::ffi::OpaqueHandle;
use crate::runtime::frames::innermost;

/// An open stream.
struct OpenStream {
    ticket: Ticket,
    method: ::grpc::Method,
    send_max: usize,
    /// The last message that the method takes was sent.
    is_complete: Cell<bool>,
}

/// What the script's object has of its stream.
pub(super) type StreamHandle<'js> = Class<'js, OpaqueHandle>;

fn held<'js>(ctx: &Ctx<'js>, handle: &StreamHandle<'js>) -> Result<Rc<OpenStream>> {
    let stream = handle.borrow().0.downcast_ref::<Rc<OpenStream>>().cloned();
    stream.ok_or_else(|| Exception::throw_internal(ctx, "this is no stream"))
}

/// Opens a stream. Each event is given to a function: `data` with a message in JSON, `error` with code, message and details in JSON,
/// and at last `end`.
pub(super) fn open<'js>(
    ctx: Ctx<'js>,
    client: ClientHandle<'js>,
    path: String,
    params: Object<'js>,
    give: Function<'js>,
) -> Result<StreamHandle<'js>> {
    let client = of(&ctx, &client)?;
    let channel = channel(&ctx, &client)?;
    let method = method(&ctx, &client, &path)?;
    let tags: Value<'js> = params.get("tags")?;
    let timeout_ms: f64 = params.get("timeoutMs")?;
    let discards: bool = params.get("discards")?;
    let of = Exchange {
        path: &path,
        metadata: pairs(params.get("metadata")?),
        tags: sample_tags(&ctx, &tags)?,
        timeout_ms: if timeout_ms == 0.0 { f64::INFINITY } else { timeout_ms },
        kind: GrpcKind::Stream,
        replies: replies_of(&method),
        ..Exchange::default()
    };
    let request = exchange(&ctx, &channel, of)?;
    let give = Persistent::save(&ctx, give);
    let output = (!discards).then(|| method.clone());
    let then = move |ctx: &Ctx<'_>, answer| {
        let give = give.clone().restore(ctx)?;
        match answer {
            ActionResult::Stream(StreamEvent::Message(message)) => {
                give_message(&give, output.as_ref(), &message)?;
                Ok(Next::More)
            }
            ActionResult::Stream(StreamEvent::Ended(ended)) => {
                let outcome = &ended.outcome;
                for message in &outcome.messages {
                    give_message(&give, output.as_ref(), message)?;
                }
                if outcome.status.code != Code::OK {
                    give_status(&give, &outcome.status, &client.definitions.borrow())?;
                }
                give.call::<_, ()>(("end",))?;
                Ok(Next::Over)
            }
            _ => Err(Exception::throw_internal(ctx, "a stream has events alone")),
        }
    };
    let vu = vu_of(&ctx)?;
    let ticket = vu.start(&ctx, WHAT, |ticket| Action::Grpc(ticket, request), Box::new(then))?;
    let stream =
        OpenStream { ticket, method, send_max: channel.send_max, is_complete: Cell::new(false) };
    Class::instance(ctx, OpaqueHandle::of(Rc::new(stream)))
}

/// Gives a message to the script's object; one that is not wanted as an empty object. A message that cannot be read is `unread`, with
/// code and text.
fn give_message(
    give: &Function<'_>,
    method: Option<&::grpc::Method>,
    message: &[u8],
) -> Result<()> {
    let Some(method) = method else { return give.call(("data", "{}")) };
    let output = method.output();
    let text = with_room_for(&output, message.len(), || {
        let message = decode_bytes(&output, message);
        message.map(|message| encode(&message).map_err(|error| error.to_string()))
    });
    let Some(text) = text else {
        return give.call(("unread", Code::INTERNAL.0, UNPARSED));
    };
    match text {
        Ok(text) => give.call(("data", text)),
        Err(error) => {
            let text = format!("failed to marshal the message: {error}");
            give.call(("unread", Code::UNKNOWN.0, text))
        }
    }
}

fn give_status(give: &Function<'_>, status: &Status, definitions: &Definitions) -> Result<()> {
    let details = with_room(|| details_json(status, definitions));
    let details = details.unwrap_or_default().join(",");
    give.call(("error", status.code.0, status.message.as_str(), format!("[{details}]")))
}

/// Sends a message; gives a code and a text where it cannot be.
pub(super) fn write<'js>(
    ctx: Ctx<'js>,
    handle: StreamHandle<'js>,
    json: String,
) -> Result<Option<List<(u32, String)>>> {
    let stream = held(&ctx, &handle)?;
    if stream.is_complete.get() {
        let text = "SendMsg called after CloseSend".to_owned();
        return Ok(Some(List((Code::INTERNAL.0, text))));
    }
    let input = stream.method.input();
    let encoded = with_room_for(&input, json.len(), || {
        decode(&json, &input)
            .map(|message| encode_bytes(&message))
            .map_err(|error| error.to_string())
    });
    let message = match encoded {
        Ok(message) => message,
        Err(error) => {
            let text = format!("unable to serialise request object to protocol buffer: {error}");
            return Ok(Some(List((Code::UNKNOWN.0, text))));
        }
    };
    let (len, max) = (message.len(), stream.send_max);
    if len > max {
        let text = format!("trying to send message larger than max ({len} vs. {max})");
        return Ok(Some(List((Code::RESOURCE_EXHAUSTED.0, text))));
    }
    let mut frame = Vec::with_capacity(len + 5);
    encode_frame(&message, &mut frame);
    let bytes = frame.len();
    let action = Action::Stream(stream.ticket, StreamAction::Send(frame));
    let vu = vu_of(&ctx)?;
    if vu.events.push_message(action, bytes).is_err() {
        let text = "no memory is left for the messages that wait to be sent (-memory-limit)";
        return Ok(Some(List((Code::RESOURCE_EXHAUSTED.0, text.to_owned()))));
    }
    if !stream.method.is_client_stream() {
        // A server may wait for the end before it answers.
        stream.is_complete.set(true);
        vu.events.push(Action::Stream(stream.ticket, StreamAction::End));
    }
    Ok(None)
}

/// No further message is sent.
pub(super) fn end<'js>(ctx: Ctx<'js>, handle: StreamHandle<'js>) -> Result<()> {
    let ticket = held(&ctx, &handle)?.ticket;
    vu_of(&ctx)?.events.push(Action::Stream(ticket, StreamAction::End));
    Ok(())
}

/// The call is given up.
pub(super) fn cancel<'js>(ctx: Ctx<'js>, handle: StreamHandle<'js>) -> Result<()> {
    let ticket = held(&ctx, &handle)?.ticket;
    vu_of(&ctx)?.events.push(Action::Stream(ticket, StreamAction::Cancel));
    Ok(())
}

/// What a handler threw, with its place.
pub(super) fn thrown(value: Value<'_>) -> String {
    let exception = exception_of(&value);
    let place = innermost(&exception).map(|line| {
        let inner = line.rsplit_once(" (").map(|(_, place)| place.trim_end_matches(')'));
        inner.unwrap_or_else(|| line.trim_start_matches("at "))
    });
    match place {
        Some(place) => format!("{} at {place}", exception.text),
        None => exception.text.clone(),
    }
}

/// The time, in whole seconds since 1970.
pub(super) fn unix_seconds(ctx: Ctx<'_>) -> Result<f64> {
    Ok((vu_of(&ctx)?.host.unix_time().0 / 1_000_000_000) as f64)
}

/// A warning.
pub(super) fn warn(ctx: Ctx<'_>, text: String) -> Result<()> {
    vu_of(&ctx)?.host.log_event(Level::Warn, &text, &[]);
    Ok(())
}

/// A dialogue of the client's own on a channel: messages go out, and as many are waited for.
pub(super) struct Dialogue {
    ticket: Ticket,
}

impl Dialogue {
    /// Begins it.
    pub(super) fn open<'js>(
        ctx: &Ctx<'js>,
        channel: &super::client::Channel,
        of: Exchange<'_>,
    ) -> Result<Self> {
        let of = Exchange { kind: GrpcKind::Dialogue, replies: Replies::Many, ..of };
        let request = exchange(ctx, channel, of)?;
        let ticket = vu_of(ctx)?.events.put(|ticket| Action::Grpc(ticket, request));
        Ok(Self { ticket })
    }

    /// Sends messages and waits for as many; gives the status where the call ended before.
    pub(super) fn ask(
        &self,
        ctx: &Ctx<'_>,
        messages: &[Vec<u8>],
    ) -> Result<std::result::Result<Vec<Vec<u8>>, Status>> {
        let vu = vu_of(ctx)?;
        for message in messages {
            let mut frame = Vec::with_capacity(message.len() + 5);
            encode_frame(message, &mut frame);
            vu.events.push(Action::Stream(self.ticket, StreamAction::Send(frame)));
        }
        let mut answers = Vec::new();
        while answers.len() < messages.len() {
            match self.next(ctx)? {
                StreamEvent::Message(message) => answers.push(message),
                StreamEvent::Ended(ended) => return Ok(Err(ended.outcome.status)),
            }
        }
        Ok(Ok(answers))
    }

    /// Ends it in order.
    pub(super) fn close(self, ctx: &Ctx<'_>) -> Result<()> {
        vu_of(ctx)?.events.push(Action::Stream(self.ticket, StreamAction::End));
        while !matches!(self.next(ctx)?, StreamEvent::Ended(_)) {}
        Ok(())
    }

    fn next(&self, ctx: &Ctx<'_>) -> Result<StreamEvent> {
        match vu_of(ctx)?.answer_within(ctx, self.ticket, self.ticket)? {
            (_, ActionResult::Stream(event)) => Ok(event),
            _ => Err(Exception::throw_internal(ctx, "a stream has events alone")),
        }
    }
}
