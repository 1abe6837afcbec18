//! Errors and events of async-nats in the words of a fleet.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::{ConnectErrorKind, Event};

use crate::transport::TransportError;

/// How long a server may take to accept a client.
pub(super) const CONNECT_WITHIN: Duration = Duration::from_secs(5);

pub(super) fn failed(
    action: &'static str,
    cause: impl Error + Send + Sync + 'static,
) -> TransportError {
    TransportError::Server { action, cause: cause.into() }
}

/// What a user can do about a connection that was not made.
pub(super) fn connect_error(error: &async_nats::ConnectError, urls: &[String]) -> TransportError {
    let at = urls.join(", ");
    let cause = match error.kind() {
        ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
            return TransportError::UnknownKey(at);
        }
        ConnectErrorKind::TimedOut => {
            format!("no answer from {at} within {}s", CONNECT_WITHIN.as_secs())
        }
        _ => format!("{at}: {}", deepest(error)),
    };
    TransportError::Server { action: "connecting to NATS", cause: cause.into() }
}

/// The innermost cause of an error, which says most.
fn deepest(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// What a user may want to know of the connection.
pub(super) fn words(event: &Event, was_lost: &AtomicBool) -> Option<String> {
    match event {
        // The first connection is what everybody expects.
        Event::Connected => was_lost
            .swap(false, Ordering::Relaxed)
            .then(|| "the connection to NATS is there again".to_owned()),
        Event::Disconnected => {
            was_lost.store(true, Ordering::Relaxed);
            Some("the connection to NATS was lost".to_owned())
        }
        Event::ServerError(error) => Some(format!("NATS: {error}")),
        Event::SlowConsumer(_) => {
            Some("messages came faster than they were read; some were dropped".to_owned())
        }
        Event::ClientError(_) | Event::LameDuckMode | Event::Draining | Event::Closed => None,
    }
}
