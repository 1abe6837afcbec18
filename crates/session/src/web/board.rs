//! `Board`: what the server of the page and the runs of the command share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::LoadChange;
use serde_json::Value;

use super::history::History;
use super::log::Log;
use super::viewers::Viewers;
use crate::clock::unix_ns;

/// What a browser gets first, and what it left.
#[derive(Debug, Default)]
pub(super) struct Board {
    /// What the run is.
    pub(super) hello: Value,
    pub(super) history: History,
    pub(super) state: Value,
    /// What was printed since the page is there.
    pub(super) log: Log,
    /// What browsers ordered, for the run to carry out.
    pub(super) orders: Vec<Order>,
    /// The runs of this command that have ended: of a search, or of a study.
    pub(super) ended: Vec<Value>,
}

/// What a browser orders.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Order {
    /// To mark this moment.
    Mark(String),
    /// Another load.
    Change(LoadChange),
}

/// What the server and the runs share.
#[derive(Clone)]
pub(super) struct Shared {
    board: Arc<Mutex<Board>>,
    pub(super) viewers: Viewers,
}

impl Shared {
    pub(super) fn new(viewers: Viewers) -> Self {
        Self { board: Arc::default(), viewers }
    }

    /// Sends what was printed since the last call.
    pub(super) fn send_log(&self) {
        let lines = cli::recorded_lines();
        if lines.is_empty() {
            return;
        }
        let mut board = self.board();
        let added = board.log.add(unix_ns() / 1_000_000, &lines);
        self.viewers.send(event("log", &added));
    }

    pub(super) fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Running,
    /// No more requests begin, and those under way are waited for.
    Draining,
    Ended,
}

impl Phase {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Draining => "draining",
            Self::Ended => "ended",
        }
    }
}

/// An event of the stream. JSON has no line ends of its own.
pub(super) fn event(name: &str, data: &Value) -> String {
    // Its texts are those of servers and scripts. JSON has no line breaks here, and escapes control characters itself.
    let data = stdx::terminal_line(&data.to_string());
    format!("event: {name}\ndata: {data}\n\n")
}
