//! `PendingEchoes`: a worker's echoes under way.

use std::collections::VecDeque;

use stdx::Nanos;

use super::user_table::UserId;

/// The most messages of a worker in flight; past it none is sent, which is counted.
pub(super) const ECHOES_MAX: usize = 1 << 20;

/// A worker's messages: those on their way, and those that came back within the timeout.
#[derive(Debug)]
pub(super) struct PendingEchoes {
    /// In the order they were sent, which is that of their limits.
    pub(super) list: VecDeque<Echo>,
    /// The number of the first.
    first: u32,
    pub(super) waiting: usize,
}

/// A message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echo {
    pub(super) user: UserId,
    /// The user's connection.
    pub(super) generation: u32,
    pub(super) due: Nanos,
    pub(super) sent: Nanos,
    pub(super) limit: Nanos,
    pub(super) bytes: u32,
    pub(super) state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Waiting,
    Back,
}

impl Default for PendingEchoes {
    fn default() -> Self {
        Self { list: VecDeque::new(), first: 1, waiting: 0 }
    }
}

impl PendingEchoes {
    /// How many are on their way.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// When the oldest is waited for no more.
    pub(super) fn next_limit(&self) -> Option<Nanos> {
        self.list.front().map(|echo| echo.limit)
    }

    pub(super) fn next_number(&self) -> u32 {
        self.first.wrapping_add(self.list.len() as u32)
    }

    pub(super) fn find(&mut self, number: u32) -> Option<&mut Echo> {
        self.list.get_mut(number.wrapping_sub(self.first) as usize)
    }

    pub(super) fn add(&mut self, echo: Echo) {
        self.waiting += 1;
        self.list.push_back(echo);
    }

    /// Takes the oldest, whether it was waited for long enough or not.
    pub(super) fn pop(&mut self) -> Option<Echo> {
        self.pop_overdue(Nanos::MAX)
    }

    pub(super) fn pop_overdue(&mut self, now: Nanos) -> Option<Echo> {
        let echo = self.list.pop_front_if(|echo| echo.limit <= now)?;
        self.first = self.first.wrapping_add(1);
        self.waiting -= usize::from(echo.state == State::Waiting);
        Some(echo)
    }
}
