//! `VirtualUsers`: users that decide themselves what they send and when, such as a script's.

use std::fmt;
use std::sync::Arc;

use stdx::Nanos;

use super::commands::Commands;
use super::pipe::{Backpressure, Pipe, PipeEvent, StreamEvent};
use super::response::EngineResponse;
use crate::arrival::Shard;

/// Users that decide themselves what they send and when. One worker has one of these, on its own thread.
pub trait VirtualUsers: fmt::Debug {
    /// Does all that is due by `now` and adds to `commands`; each request is answered once. Returns the latest time of the next
    /// poll, whether or not anything is answered before it.
    fn poll(&mut self, now: Nanos, commands: &mut Commands) -> Option<Nanos>;

    /// Takes the response to a user's request. The user acts on it at the next [`poll`](Self::poll).
    fn handle_response(&mut self, user: u32, reply: &EngineResponse<'_>);

    /// Takes what came through a user's pipe. The user acts on it at the next [`poll`](Self::poll).
    fn handle_pipe_event(&mut self, pipe: Pipe, now: Nanos, what: PipeEvent<'_>) -> Backpressure {
        let _ = (pipe, now, what);
        Backpressure::Continue
    }

    /// Takes what came through the stream of a user's request. The user acts on it at the next [`poll`](Self::poll).
    fn handle_stream_event(&mut self, user: u32, what: StreamEvent<'_>) -> Backpressure {
        let _ = (user, what);
        Backpressure::Continue
    }

    /// Starts nothing new; [`StopMode::Immediate`] also ends what is under way.
    fn stop(&mut self, ending: StopMode);

    /// How much was due and never begun until now, since every user was at work: iterations of an arrival rate.
    fn not_begun(&self) -> u64 {
        0
    }

    /// The iterations that fell due by an arrival rate until now, begun or not, and those of them that came to their end.
    fn due_and_ended(&self) -> (u64, u64) {
        (0, 0)
    }

    /// Whether every user has ended.
    fn is_over(&self) -> bool;
}

/// How users are stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopMode {
    /// After what is under way.
    Graceful,
    /// At once.
    Immediate,
}

/// Makes a worker's users, on the worker's thread.
#[derive(Clone)]
pub struct VuFactory {
    /// How many users there are at most, in all.
    pub users: u64,
    /// Makes the users of one worker of several.
    pub make: Arc<dyn Fn(Shard) -> Box<dyn VirtualUsers> + Send + Sync>,
}

impl fmt::Debug for VuFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VuFactory").field("users", &self.users).finish_non_exhaustive()
    }
}
