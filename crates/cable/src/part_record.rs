//! `PartRecord`: what one of several machines says of its part of a test: the messages of a broadcast as they are sent and
//! received, and at the end what its users saw.

use serde::{Deserialize, Serialize};
use stdx::Nanos;

use crate::cable_report::{CableReport, Subscribers};

/// What a machine says of its part.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PartRecord {
    /// How many workers it has.
    pub workers: u16,
    /// Messages that its speakers sent since the last record.
    pub sent: Vec<SentMessage>,
    /// What its workers' users had of messages that were closed since.
    pub received: Vec<ReceivedMessage>,
    /// All it saw, once its part is over.
    pub end: Option<Box<PartEnd>>,
}

/// A message that a speaker sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentMessage {
    /// Its number among those of all machines, from 1.
    pub number: u32,
    /// When it was due.
    pub due: Nanos,
    /// When it was sent.
    pub sent: Nanos,
    /// Its length as sent.
    pub bytes: u32,
}

/// What the users of a worker had of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceivedMessage {
    /// The message.
    pub number: u32,
    /// The worker.
    pub worker: u16,
    /// Subscribers of the worker to which it was owed.
    pub expected: u32,
    /// How many of them had it in time.
    pub delivered: u32,
    /// How many left without it.
    pub cut: u32,
    /// From its sending until the last of them had it.
    pub last: Nanos,
}

/// What the users of a part saw.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PartEnd {
    /// Their counts and times, without those of deliveries.
    pub report: CableReport,
    /// Each worker's subscribers.
    pub workers: Vec<WorkerEnd>,
}

/// What became of a worker's subscribers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerEnd {
    /// The worker.
    pub worker: u16,
    /// How many messages any of its users had.
    pub seen: u64,
    /// How the losses among those messages lie.
    pub subscribers: Subscribers,
    /// Users that were subscribed at any time.
    pub users: u64,
    /// How many were subscribed, from each time on.
    pub present: Vec<(Nanos, u32)>,
}

impl PartRecord {
    /// Whether it says anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sent.is_empty() && self.received.is_empty() && self.end.is_none()
    }

    /// The record in pieces of at most so many messages; the last has the end.
    #[must_use]
    pub fn split(mut self, messages_max: usize) -> Vec<Self> {
        let mut pieces = Vec::new();
        while self.sent.len() + self.received.len() > messages_max {
            let sent: Vec<_> = self.sent.drain(..self.sent.len().min(messages_max)).collect();
            let room = (messages_max - sent.len()).min(self.received.len());
            let received = self.received.drain(..room).collect();
            pieces.push(Self { workers: self.workers, sent, received, end: None });
        }
        pieces.push(self);
        pieces
    }
}

impl WorkerEnd {
    /// The fewest that were subscribed in this time, its ends included.
    pub(crate) fn present_within(&self, from: Nanos, to: Nanos) -> u32 {
        let first = self.present.partition_point(|(at, _)| *at <= from);
        let upto = self.present.partition_point(|(at, _)| *at <= to);
        let Some(first) = first.checked_sub(1) else { return 0 };
        // A record that was made up may have its times in any order.
        let times = self.present.get(first..upto).unwrap_or_default();
        times.iter().map(|(_, live)| *live).min().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_split_without_loss() {
        let sent = |number| SentMessage { number, due: Nanos(1), sent: Nanos(1), bytes: 9 };
        let received = |number| ReceivedMessage {
            number,
            worker: 0,
            expected: 1,
            delivered: 1,
            cut: 0,
            last: Nanos(1),
        };
        let record = PartRecord {
            workers: 2,
            sent: (0..7).map(sent).collect(),
            received: (0..12).map(received).collect(),
            end: Some(Box::default()),
        };
        let pieces = record.clone().split(5);
        assert!(pieces.iter().all(|one| one.sent.len() + one.received.len() <= 5));
        assert!(pieces.iter().flat_map(|one| &one.sent).eq(&record.sent));
        assert!(pieces.iter().flat_map(|one| &one.received).eq(&record.received));
        let ends = pieces.iter().filter(|one| one.end.is_some());
        assert_eq!((ends.count(), pieces.last().unwrap().end.is_some()), (1, true));
        assert_eq!(PartRecord::default().split(5).len(), 1);
    }

    #[test]
    fn presence_is_the_least_of_a_time() {
        let present = vec![(Nanos(10), 1), (Nanos(20), 5), (Nanos(30), 4)];
        let end = WorkerEnd { present, ..WorkerEnd::default() };
        let at = [(5, 5), (10, 10), (15, 19), (15, 20), (20, 29), (20, 30), (40, 50)];
        let seen = at.map(|(from, to)| end.present_within(Nanos(from), Nanos(to)));
        assert_eq!(seen, [0, 1, 1, 1, 5, 4, 4]);
    }
}
