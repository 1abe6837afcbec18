//! `User`: what a worker keeps of one user. It is small: an idle socket costs this and its connection.

use stdx::Nanos;
use wire::ws::{Offer, WsSession};
use workload::Pipe;

/// One user.
#[derive(Debug, Default)]
pub(super) struct User {
    pub(super) stage: Stage,
    /// The WebSocket, once it is open.
    pub(super) session: Option<WsSession>,
    pub(super) pipe: Option<Pipe>,
    /// Counts its connections: timers of an earlier one are void.
    pub(super) generation: u32,
    /// The round in which it was settled last, from 1; 0 before.
    pub(super) settled: u32,
    /// Refusals in a row.
    pub(super) refusals: u16,
    /// How pings come.
    pub(super) ping_state: PingState,
    /// When this connection was due.
    pub(super) due: Nanos,
    /// When the last connection was lost, unless we ended it.
    pub(super) lost_at: Option<Nanos>,
    /// When it received the last ping; before the first, when it was subscribed.
    pub(super) last_ping: Nanos,
    /// When it was subscribed.
    pub(super) since: Nanos,
    /// The first message it is owed.
    pub(super) first: u32,
    /// Messages it was owed on earlier connections.
    pub(super) owed: u64,
    /// Messages it had in time.
    pub(super) had: u64,
}

/// How far a user is.
#[derive(Debug, Default)]
pub(super) enum Stage {
    /// It has no connection; it comes, or comes back, at a time on the timer queue.
    #[default]
    Away,
    /// The handshake is under way.
    Opening(Box<Offer>),
    /// The WebSocket is open, and no welcome has come.
    Greeting,
    /// It has asked for its subscription.
    Subscribing,
    /// It is subscribed.
    Subscribed,
    /// It does not come back.
    Gone,
}

/// How pings come on a socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PingState {
    /// None has come yet.
    #[default]
    NoneYet,
    /// The last came at [`User::last_ping`].
    Regular,
    /// None has come for too long, which was counted.
    Overdue,
}

impl User {
    /// Whether messages come to it.
    pub(super) fn is_subscribed(&self) -> bool {
        matches!(self.stage, Stage::Subscribed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_user_is_small() {
        let size = size_of::<User>();
        assert!(
            size <= 256,
            "{size} bytes, of which {} are the WebSocket's",
            size_of::<WsSession>()
        );
    }
}
