//! `CableReport`: what a test of Action Cable saw: counts and histograms that merge. It lays out no text.

use std::borrow::Cow;
use std::collections::BTreeMap;

use metrics::Histogram;
use serde::{Deserialize, Serialize};
use stdx::Nanos;

use crate::received_set::Delivery;

/// The most messages that are kept one by one; what goes beyond is counted.
pub const MESSAGES_MAX: usize = 10_000;
/// The most different problems that are kept.
const PROBLEMS_MAX: usize = 32;
/// What problems beyond those are called.
const OTHER_PROBLEMS: &str = "other problems";

/// What was seen.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CableReport {
    /// Handshakes begun.
    pub attempts: u64,
    /// Handshakes that gave no WebSocket.
    pub refused: u64,
    /// Sockets opened.
    pub opened: u64,
    /// Subscriptions confirmed.
    pub subscribed: u64,
    /// Users whose subscription was rejected, or whose disconnect said not to reconnect.
    pub turned_away: u64,
    /// Welcomes and confirmations that did not come in time.
    pub unconfirmed: u64,
    /// Connections that the server or the network ended.
    pub dropped: u64,
    /// Times that a user waited since it was refused.
    pub backoffs: u64,
    /// How long, in all.
    pub backed_off: Nanos,
    /// The most sockets open at once.
    pub open_most: u32,
    /// From the moment a handshake was due to the confirmation.
    pub ready: Histogram,
    /// From the loss of a connection to the next confirmation.
    pub recovered: Histogram,
    /// A herd's rounds, the first one first.
    pub rounds: Vec<RoundReport>,
    /// Messages sent.
    pub sent: u64,
    /// Messages that were due and not sent: their users were not subscribed.
    pub not_sent: u64,
    /// Echo: messages that came back.
    pub answered: u64,
    /// Echo: messages that did not, within the timeout.
    pub unanswered: u64,
    /// Echo: messages whose connection ended before they came back.
    pub cut: u64,
    /// Echo: from the moment a message was due until it was back.
    pub round_trip: Histogram,
    /// Echo: messages of other users that came, too.
    pub overheard: u64,
    /// Messages without a token of this run.
    pub unknown: u64,
    /// Deliveries.
    pub deliveries: Deliveries,
    /// Broadcast: from the sending of a message to each delivery.
    pub fan_out: Histogram,
    /// Broadcast: time from the send of a message until the last subscriber received it, of messages that all received.
    pub complete: Histogram,
    /// Broadcast: the messages, as they were closed; the first [`MESSAGES_MAX`].
    pub messages: Vec<MessageReport>,
    /// Broadcast: messages that all who were owed them had.
    pub complete_messages: u64,
    /// Broadcast: messages beyond those kept.
    pub messages_more: u64,
    /// Broadcast: messages closed early, since 4,096 were in flight.
    pub evicted: u64,
    /// Broadcast: how the losses lie among the subscribers.
    pub subscribers: Subscribers,
    /// Pings of the cable's own protocol.
    pub pings: u64,
    /// From one ping of a socket to its next.
    pub ping_gap: Histogram,
    /// How often a socket received no ping for over 6 s: Action Cable's client then considers it lost.
    pub silences: u64,
    /// The longest time without a ping.
    pub silence_longest: Nanos,
    /// What went wrong, and how often; at most 33 texts.
    pub problems: BTreeMap<String, u64>,
}

/// A time that all users came up.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RoundReport {
    /// Users that were subscribed.
    pub subscribed: u64,
    /// Users that were given up, or turned away.
    pub given_up: u64,
    /// From the round's start to each confirmation.
    pub ready: Histogram,
}

/// Counts of deliveries. In a broadcast each message is owed to every subscriber of the moment in which it was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deliveries {
    /// Owed, of the messages that are closed.
    pub expected: u64,
    /// Came in time.
    pub delivered: u64,
    /// Never came, or too late.
    pub lost: u64,
    /// Not owed any more, since the connection ended.
    pub cut: u64,
    /// Came again.
    pub duplicated: u64,
    /// Came after a later one.
    pub out_of_order: u64,
    /// Came after the timeout: they are among the lost.
    pub late: u64,
    /// Came though the subscription was not confirmed when they were sent.
    pub early: u64,
}

/// A message of a broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageReport {
    /// Its number, from 1.
    pub number: u32,
    /// When it was sent.
    pub sent: Nanos,
    /// Subscribers there were.
    pub expected: u32,
    /// How many subscribers received it.
    pub delivered: u32,
    /// How many never received it, though they stayed connected.
    pub lost: u32,
    /// The time until the last of them received it.
    pub last: Nanos,
}

/// How the losses of a broadcast lie among the subscribers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscribers {
    /// Had every message.
    pub all: u64,
    /// Missed some.
    pub some: u64,
    /// Had none.
    pub none: u64,
}

impl CableReport {
    /// Counts a problem.
    pub(crate) fn note(&mut self, problem: impl Into<Cow<'static, str>>) {
        self.note_times(problem.into(), 1);
    }

    fn note_times(&mut self, problem: Cow<'_, str>, times: u64) {
        if let Some(count) = self.problems.get_mut(problem.as_ref()) {
            *count += times;
            return;
        }
        let full = self.problems.len() >= PROBLEMS_MAX;
        let name = if full { OTHER_PROBLEMS.to_owned() } else { problem.into_owned() };
        *self.problems.entry(name).or_default() += times;
    }

    /// Messages that not all had who were owed them.
    pub(crate) fn lossy_messages(&self) -> u64 {
        (self.messages.len() as u64 + self.messages_more).saturating_sub(self.complete_messages)
    }

    /// Keeps a closed message.
    pub(crate) fn keep(&mut self, message: MessageReport) {
        if self.messages.len() < MESSAGES_MAX {
            self.messages.push(message);
        } else {
            self.messages_more += 1;
        }
    }

    /// A herd's round.
    pub(crate) fn round(&mut self, round: u32) -> &mut RoundReport {
        let at = round as usize;
        if self.rounds.len() <= at {
            self.rounds.resize_with(at + 1, RoundReport::default);
        }
        &mut self.rounds[at]
    }

    /// Adds what another worker's users saw.
    pub(crate) fn merge(&mut self, other: &Self) {
        let counts = [
            (&mut self.attempts, other.attempts),
            (&mut self.refused, other.refused),
            (&mut self.opened, other.opened),
            (&mut self.subscribed, other.subscribed),
            (&mut self.turned_away, other.turned_away),
            (&mut self.unconfirmed, other.unconfirmed),
            (&mut self.dropped, other.dropped),
            (&mut self.backoffs, other.backoffs),
            (&mut self.backed_off.0, other.backed_off.0),
            (&mut self.sent, other.sent),
            (&mut self.not_sent, other.not_sent),
            (&mut self.answered, other.answered),
            (&mut self.unanswered, other.unanswered),
            (&mut self.cut, other.cut),
            (&mut self.overheard, other.overheard),
            (&mut self.unknown, other.unknown),
            (&mut self.complete_messages, other.complete_messages),
            (&mut self.messages_more, other.messages_more),
            (&mut self.evicted, other.evicted),
            (&mut self.pings, other.pings),
            (&mut self.silences, other.silences),
        ];
        counts.into_iter().for_each(|(sum, more)| *sum += more);
        self.silence_longest = self.silence_longest.at_least(other.silence_longest);
        self.deliveries.merge(other.deliveries);
        self.subscribers.merge(other.subscribers);
        self.merge_times(other);
        for (problem, times) in &other.problems {
            self.note_times(Cow::Borrowed(problem), *times);
        }
        for (at, round) in other.rounds.iter().enumerate() {
            let own = self.round(at as u32);
            own.subscribed += round.subscribed;
            own.given_up += round.given_up;
            own.ready.merge(&round.ready);
        }
        other.messages.iter().for_each(|message| self.keep(*message));
        self.messages.sort_by_key(|message| message.number);
    }

    fn merge_times(&mut self, other: &Self) {
        let times = [
            (&mut self.ready, &other.ready),
            (&mut self.recovered, &other.recovered),
            (&mut self.round_trip, &other.round_trip),
            (&mut self.fan_out, &other.fan_out),
            (&mut self.complete, &other.complete),
            (&mut self.ping_gap, &other.ping_gap),
        ];
        times.into_iter().for_each(|(sum, more)| sum.merge(more));
    }
}

impl Deliveries {
    /// Counts how a message came. `false` where it is no delivery: it came before, or it is too old to be known.
    pub(crate) fn note(&mut self, delivery: Delivery) -> bool {
        match delivery {
            Delivery::First => return true,
            Delivery::OutOfOrder => {
                self.out_of_order += 1;
                return true;
            }
            Delivery::Duplicate => self.duplicated += 1,
            Delivery::TooOld => self.late += 1,
        }
        false
    }

    fn merge(&mut self, other: Self) {
        self.expected += other.expected;
        self.delivered += other.delivered;
        self.lost += other.lost;
        self.cut += other.cut;
        self.duplicated += other.duplicated;
        self.out_of_order += other.out_of_order;
        self.late += other.late;
        self.early += other.early;
    }
}

impl RoundReport {
    /// Counts below this.
    pub(crate) fn is_possible(&self, most: u64) -> bool {
        [self.subscribed, self.given_up, self.ready.count()].into_iter().all(|count| count < most)
    }
}

impl Subscribers {
    /// Adds those of a worker whose users heard of `seen` of the messages sent: what it did not hear of, each of its users missed.
    pub(crate) fn add(&mut self, other: Self, (seen, sent): (u64, u64), users: u64) {
        if seen == 0 && sent > 0 {
            self.none = self.none.saturating_add(users);
        } else if seen < sent {
            self.some = self.some.saturating_add(other.all).saturating_add(other.some);
            self.none = self.none.saturating_add(other.none);
        } else {
            self.merge(other);
        }
    }

    fn merge(&mut self, other: Self) {
        self.all += other.all;
        self.some += other.some;
        self.none += other.none;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_bounded() {
        let mut report = CableReport::default();
        for at in 0..100 {
            report.note(format!("problem {at}"));
        }
        assert_eq!((report.problems.len(), report.problems[OTHER_PROBLEMS]), (33, 68));
        let mut sum = CableReport::default();
        sum.merge(&report);
        sum.merge(&report);
        assert_eq!(sum.problems.values().sum::<u64>(), 200);
        assert!(sum.problems.len() <= 33);
    }

    #[test]
    fn messages_of_all_workers_stand_in_their_order() {
        let message = |number| MessageReport {
            number,
            sent: Nanos(1),
            expected: 2,
            delivered: 1,
            lost: 1,
            last: Nanos(2),
        };
        let (mut one, mut other) = (CableReport::default(), CableReport::default());
        [1, 4].into_iter().for_each(|number| one.keep(message(number)));
        [2, 3].into_iter().for_each(|number| other.keep(message(number)));
        other.round(2).subscribed = 5;
        one.merge(&other);
        assert!(one.messages.iter().map(|message| message.number).eq(1..=4));
        assert_eq!((one.rounds.len(), one.rounds[2].subscribed), (3, 5));
    }

    #[test]
    fn messages_kept_are_bounded() {
        let mut report = CableReport::default();
        let message = MessageReport {
            number: 1,
            sent: Nanos(1),
            expected: 0,
            delivered: 0,
            lost: 0,
            last: Nanos(1),
        };
        (0..MESSAGES_MAX + 7).for_each(|_| report.keep(message));
        assert_eq!((report.messages.len(), report.messages_more), (MESSAGES_MAX, 7));
    }
}
