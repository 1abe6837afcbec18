//! `TimerQueue`: what a worker does when. Users have an entry each while something is due for them, and no timer.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use stdx::Nanos;

use super::user_table::UserId;

/// Something due for a user's connection: void once the user has another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) at: Nanos,
    pub(super) user: UserId,
    pub(super) generation: u32,
}

/// What is due when.
#[derive(Debug, Default)]
pub(super) struct TimerQueue {
    /// Away users come back; subscribed ones perform.
    entries: BinaryHeap<Reverse<Entry>>,
    /// When welcomes and confirmations are waited for no more: all wait equally long, so they stand in their order.
    limits: VecDeque<Entry>,
}

impl TimerQueue {
    /// Schedules a user's next action.
    pub(super) fn add(&mut self, entry: Entry) {
        self.entries.push(Reverse(entry));
    }

    /// Schedules the end of a user's wait. Its time is later than those of all earlier calls.
    pub(super) fn limit(&mut self, entry: Entry) {
        self.limits.push_back(entry);
    }

    /// The next user to act by now.
    pub(super) fn due(&mut self, now: Nanos) -> Option<Entry> {
        let first = self.entries.peek()?.0;
        (first.at <= now).then(|| self.entries.pop())?.map(|entry| entry.0)
    }

    /// The next user whose limit has passed by now.
    pub(super) fn overdue(&mut self, now: Nanos) -> Option<Entry> {
        self.limits.pop_front_if(|first| first.at <= now)
    }

    /// When something is due next.
    pub(super) fn next(&self) -> Option<Nanos> {
        let entry = self.entries.peek().map(|entry| entry.0.at);
        entry.into_iter().chain(self.limits.front().map(|limit| limit.at)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(at: u64, user: u32) -> Entry {
        Entry { at: Nanos(at), user: UserId(user), generation: 1 }
    }

    #[test]
    fn what_is_due_comes_in_its_order() {
        let mut timers = TimerQueue::default();
        for (at, user) in [(7, 1), (3, 2), (5, 3)] {
            timers.add(entry(at, user));
        }
        timers.limit(entry(4, 9));
        assert_eq!(timers.next(), Some(Nanos(3)));
        assert_eq!(timers.due(Nanos(2)), None);
        let due: Vec<u32> =
            std::iter::from_fn(|| timers.due(Nanos(5))).map(|entry| entry.user.0).collect();
        assert_eq!(due, [2, 3]);
        assert_eq!((timers.overdue(Nanos(3)), timers.next()), (None, Some(Nanos(4))));
        assert_eq!(timers.overdue(Nanos(4)), Some(entry(4, 9)));
        assert_eq!(timers.next(), Some(Nanos(7)));
    }
}
