//! `CablePlan`: what a test of Action Cable does, decided before the first request.

use serde::{Deserialize, Serialize};
use stdx::Nanos;
use wire::cable::Codec;
use workload::SegmentSlice;

use crate::in_flight_messages::WINDOW_MAX;
use crate::template::Template;

/// The most users of a run.
pub const USERS_MAX: u32 = (1 << 20) - 1;
/// The most times that a herd is cut off.
pub const HERD_ROUNDS_MAX: u32 = 1_000;

/// What a test of Action Cable does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CablePlan {
    /// Where the cable is, as people write it: `ws://host/cable`.
    pub url: String,
    /// The same for HTTP: `http://host/cable`.
    pub http_url: String,
    /// What users do.
    pub pattern: Pattern,
    /// How many there are, 1 to [`USERS_MAX`].
    pub users: u32,
    /// The time over which they come, one after the other.
    pub ramp: Nanos,
    /// How long it goes on once all users are up.
    pub duration: Nanos,
    /// What is subscribed to: JSON text.
    pub identifier: Template,
    /// What is performed: JSON text, with the member `action` and a place for the token.
    pub data: Template,
    /// How messages are written.
    pub codec: Codec,
    /// Header fields of the handshake.
    pub headers: Vec<(String, Template)>,
    /// How long a handshake, a confirmation and a message may take, each.
    pub timeout: Nanos,
    /// A user that lost its connection reconnects after a random time up to this.
    pub jitter: Nanos,
    /// Refused users wait before the next try: each wait is longer than the one before.
    pub backs_off: bool,
    /// Every random choice follows from it.
    pub seed: u64,
    /// The numbers of the users that are this machine's, where several share the test; `None`: all.
    pub part: Option<SegmentSlice>,
}

/// What users do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pattern {
    /// Each performs and waits for its own message.
    Echo {
        /// From one message of a user to its next; `None`: as soon as the last is back.
        every: Option<Nanos>,
    },
    /// Some perform, all receive.
    Broadcast {
        /// How many perform, in turn; the first of the users.
        speakers: u32,
        /// From one message to the next, of all speakers.
        every: Nanos,
    },
    /// No user sends a message.
    Idle,
    /// All come at once, and come back at once.
    Herd {
        /// How often they are cut off, at most [`HERD_ROUNDS_MAX`].
        cuts: u32,
        /// A user that is not subscribed this long after a round's start is given up for the round.
        give_up: Nanos,
    },
}

impl Pattern {
    /// Its word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Echo { .. } => "echo",
            Self::Broadcast { .. } => "broadcast",
            Self::Idle => "idle",
            Self::Herd { .. } => "herd",
        }
    }
}

impl CablePlan {
    /// What rows of messages are called.
    #[must_use]
    pub fn line(&self) -> String {
        let word = if self.is_broadcast() { "BROADCAST" } else { "PERFORM" };
        format!("{word} {}", self.url)
    }

    /// Whether some users send what all receive.
    #[must_use]
    pub fn is_broadcast(&self) -> bool {
        matches!(self.pattern, Pattern::Broadcast { .. })
    }

    /// How many of the users are this machine's.
    pub(crate) fn own_users(&self) -> u32 {
        let own = self.part.as_ref().map(|part| part.count(self.users.into()));
        own.and_then(|own| u32::try_from(own).ok()).unwrap_or(self.users)
    }

    /// Of this machine's users the one at this place: its number among all, from 0.
    pub(crate) fn number_of(&self, own: u64) -> u32 {
        self.part.as_ref().map_or(own, |part| part.number(own)) as u32
    }

    /// The place among this machine's users of one of all; `None` where it is another machine's.
    pub(crate) fn own_place(&self, user: u64) -> Option<u64> {
        match &self.part {
            Some(part) => part.contains(user).then(|| part.count(user)),
            None => Some(user),
        }
    }

    /// How many messages a broadcast sends, if every speaker is subscribed.
    pub(crate) fn messages_planned(&self) -> u64 {
        match self.pattern {
            Pattern::Broadcast { every, .. } => self.duration.0.div_ceil(every.0.max(1)),
            _ => 0,
        }
    }

    /// How many times the users come up.
    pub(crate) fn rounds(&self) -> u32 {
        match self.pattern {
            Pattern::Herd { cuts, .. } => cuts.min(HERD_ROUNDS_MAX) + 1,
            _ => 1,
        }
    }

    /// How many messages may be in flight: twice as many as are sent within the timeout.
    pub(crate) fn window(&self) -> usize {
        match self.pattern {
            Pattern::Broadcast { every, .. } => {
                let within = self.timeout.0.saturating_mul(2) / every.0.max(1);
                usize::try_from(within).unwrap_or(WINDOW_MAX).clamp(64, WINDOW_MAX)
            }
            _ => 64,
        }
    }
}
