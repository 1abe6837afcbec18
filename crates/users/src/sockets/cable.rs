//! Action Cable over a VU's socket: what its messages are to the script, and how commands are written.

use stdx::Nanos;
use wire::cable::{Codec, Command, CommandKind, Dialect, History, Incoming, Kind};
use wire::ws::{Event, WsSession};

use crate::host::socket::{CableCommand, CableEvent, SocketEvent};
use crate::sockets::frames::to_events;

/// Adds the events of a frame. A malformed message becomes a `Failed` event; the socket stays open.
pub(crate) fn push_events(
    codec: Codec,
    event: Event<'_>,
    at: Nanos,
    events: &mut Vec<SocketEvent>,
) {
    let bytes = match event {
        Event::Text(text) => text.as_bytes(),
        Event::Binary(bytes) => bytes,
        Event::Ping(_) | Event::Pong(_) => return,
        Event::Close { .. } => return events.extend(to_events(event)),
    };
    let decoded = codec.decode(bytes).and_then(|incoming| cable_event(&incoming, at));
    events.push(match decoded {
        Ok(event) => SocketEvent::Cable(Box::new(event)),
        Err(error) => SocketEvent::Failed(format!("malformed message: {error}")),
    });
}

fn cable_event(incoming: &Incoming<'_>, at: Nanos) -> Result<CableEvent, wire::cable::CableError> {
    let identifier = match incoming.kind {
        Kind::Welcome => incoming.session.decoded(),
        Kind::Disconnect => incoming.reason.decoded(),
        _ => incoming.identifier.decoded(),
    };
    let again = match incoming.kind {
        Kind::Welcome => Some(incoming.restored),
        _ => incoming.reconnect,
    };
    let place = incoming.offset.map(|offset| {
        let (stream, epoch) = (incoming.stream.decoded(), incoming.epoch.decoded());
        (stream.into_owned(), epoch.into_owned(), offset)
    });
    Ok(CableEvent {
        kind: incoming.kind,
        identifier: identifier.into_owned(),
        message: incoming.message.to_json()?.map(std::borrow::Cow::into_owned),
        again,
        at: (at.0 / 1_000_000) as f64,
        place,
    })
}

/// Removes the pings from the received events. AnyCable's extension expects an answer to them.
pub(crate) fn answer(
    codec: Codec,
    events: &mut Vec<SocketEvent>,
    session: &mut WsSession,
    out: &mut Vec<u8>,
) {
    events.retain(|event| {
        let is_ping = matches!(event, SocketEvent::Cable(event) if event.kind == Kind::Ping);
        if is_ping && codec.dialect == Dialect::Extended {
            let pong = CableCommand {
                kind: CommandKind::Pong,
                identifier: String::new(),
                data: None,
                since: None,
            };
            send(codec, &pong, session, out);
        }
        !is_ping
    });
}

/// Writes a command; gives whether it could be written.
pub(crate) fn send(
    codec: Codec,
    command: &CableCommand,
    session: &mut WsSession,
    out: &mut Vec<u8>,
) -> bool {
    let CableCommand { kind, identifier, data, since } = command;
    let joins = *kind == CommandKind::Join;
    let wanted = Command {
        kind: *kind,
        identifier,
        data: data.as_deref().filter(|_| !joins),
        history: (*kind == CommandKind::History).then_some(History { since: *since, streams: &[] }),
        presence: data.as_deref().filter(|_| joins),
    };
    let mut bytes = Vec::with_capacity(128);
    if codec.encode(&wanted, &mut bytes).is_err() {
        return false;
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) if codec.is_text() => session.send_text(text, out).is_ok(),
        _ => session.send_binary(&bytes, out).is_ok(),
    }
}
