//! Messages and frames of a WebSocket as scripts see them.

use wire::ws::Event;

use crate::host::socket::SocketEvent;

/// The events of a frame: a message, or why the socket ends and that it does.
pub(crate) fn to_events(event: Event<'_>) -> impl Iterator<Item = SocketEvent> {
    let (failed, event) = match event {
        Event::Text(text) => (None, SocketEvent::Text(text.to_owned())),
        Event::Binary(bytes) => (None, SocketEvent::Binary(bytes.to_vec())),
        Event::Ping(_) => (None, SocketEvent::Ping),
        Event::Pong(payload) => (None, SocketEvent::Pong(payload.to_vec())),
        Event::Close { code, reason } => {
            // 1005: there was none. RFC 6455, 7.4.1.
            let code = code.unwrap_or(1005);
            let expected = matches!(code, 1000 | 1001);
            let reason_of = if reason.is_empty() { "" } else { ": " };
            let text = || {
                let text = format!("websocket: close {code}{}{reason_of}{reason}", name_of(code));
                SocketEvent::Failed(text)
            };
            ((!expected).then(text), SocketEvent::Closed(code, reason.to_owned()))
        }
    };
    failed.into_iter().chain([event])
}

/// What a close code means, in brackets. RFC 6455, 7.4.1.
fn name_of(code: u16) -> &'static str {
    match code {
        1002 => " (protocol error)",
        1003 => " (unsupported data)",
        1005 => " (no status)",
        1007 => " (invalid payload data)",
        1008 => " (policy violation)",
        1009 => " (message too big)",
        1010 => " (mandatory extension missing)",
        1011 => " (internal server error)",
        1012 => " (service restart)",
        1013 => " (try again later)",
        1015 => " (TLS handshake error)",
        _ => "",
    }
}
