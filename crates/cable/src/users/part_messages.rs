//! `PartMessages`: what a worker knows of the messages of a broadcast that several machines share. A message's number is that of
//! the schedule, so that all know it, and its token says when it was sent; each worker counts its own users' deliveries, and shares
//! nothing with the others.

use std::collections::VecDeque;

use stdx::Nanos;

use super::presence::Presence;
use crate::part_record::{ReceivedMessage, SentMessage};

/// How long a user must have been subscribed when a message is sent, for the message to be owed to it: clocks of machines differ.
pub(crate) const SUBSCRIBED_FOR: Nanos = Nanos::from_millis(100);

/// The messages of the whole test, as a worker's users have them.
#[derive(Debug)]
pub(super) struct PartMessages {
    worker: u16,
    timeout: Nanos,
    /// A power of two of them: a message's number selects one.
    slots: Box<[Slot]>,
    /// Messages that are open, and until when.
    open: VecDeque<(u32, Nanos)>,
    pub(super) presence: Presence,
    /// Messages that the whole test sends, if every speaker is subscribed.
    pub(super) planned: u64,
    /// Messages that were opened, and those of them that were closed.
    pub(super) seen: u64,
    closed: u64,
    /// Messages that had to make room for newer ones.
    pub(super) evicted: u64,
    pub(super) log: PartLog,
}

/// What happened since the last record.
#[derive(Debug, Default)]
pub(crate) struct PartLog {
    pub(crate) sent: Vec<SentMessage>,
    pub(crate) received: Vec<ReceivedMessage>,
}

/// A message.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Its number; 0 where there was none.
    number: u32,
    is_open: bool,
    sent: Nanos,
    expected: u32,
    delivered: u32,
    cut: u32,
    last: Nanos,
    /// One of our own speakers'.
    own: Option<SentMessage>,
}

impl Slot {
    fn owed(&self) -> u32 {
        self.expected - self.delivered - self.cut
    }
}

/// A message of this worker's speakers that is closed, as its own users had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OwnMessage {
    pub(super) message: SentMessage,
    pub(super) received: ReceivedMessage,
}

impl PartMessages {
    /// None yet, of so many that are planned; room for `window` at once.
    pub(super) fn new(worker: u16, window: usize, timeout: Nanos, planned: u64) -> Self {
        Self {
            worker,
            timeout,
            slots: vec![Slot::default(); window.next_power_of_two()].into(),
            open: VecDeque::new(),
            presence: Presence::new(),
            planned,
            seen: 0,
            closed: 0,
            evicted: 0,
            log: PartLog::default(),
        }
    }

    /// A speaker of ours sent a message. Gives an older one that makes room.
    pub(super) fn send(&mut self, message: SentMessage) -> Option<OwnMessage> {
        self.log.sent.push(message);
        let evicted = self.open(message.number, message.sent);
        self.slot(message.number).own = Some(message);
        evicted
    }

    /// When the next one is waited for no more.
    pub(super) fn next_limit(&self) -> Option<Nanos> {
        self.open.front().map(|(_, limit)| *limit)
    }

    /// Messages that are open.
    pub(super) fn open_count(&self) -> usize {
        self.open.len()
    }

    /// Whether every message of the test was had by all, or is waited for no more.
    pub(super) fn is_complete(&self) -> bool {
        self.closed >= self.planned
    }

    /// A user of ours, to which it is owed, has a message for the first time. `false` where that is too late. Gives an older
    /// message that makes room.
    pub(super) fn deliver(
        &mut self,
        number: u32,
        sent: Nanos,
        now: Nanos,
    ) -> (bool, Option<OwnMessage>) {
        if now > sent.saturating_add(self.timeout) || self.slot(number).number > number {
            return (false, None);
        }
        let is_new = self.slot(number).number != number;
        let evicted = if is_new { self.open(number, sent) } else { None };
        let slot = self.slot(number);
        if !slot.is_open || slot.owed() == 0 {
            return (false, evicted);
        }
        slot.delivered += 1;
        slot.last = slot.last.at_least(now.saturating_sub(sent));
        (true, evicted)
    }

    /// A user goes: what it is owed and has not, as `had` says, is owed no more.
    pub(super) fn leave(&mut self, since: Nanos, now: Nanos, had: impl Fn(u32) -> bool) {
        self.presence.leave(since, now);
        let slots = self.open.iter().map(|(number, _)| *number as usize & (self.slots.len() - 1));
        for at in slots.collect::<Vec<_>>() {
            let slot = &mut self.slots[at];
            let is_owed = slot.is_open && since + SUBSCRIBED_FOR <= slot.sent;
            if is_owed && slot.owed() > 0 && !had(slot.number) {
                slot.cut += 1;
            }
        }
    }

    /// Closes the oldest message that is settled or overdue; with `is_given_up` any, and what it is owed counts as cut off.
    pub(super) fn close_next(&mut self, now: Nanos, is_given_up: bool) -> Option<Closed> {
        let &(number, limit) = self.open.front()?;
        let slot = self.slot(number);
        let is_over = now >= limit || slot.owed() == 0 || slot.number != number || !slot.is_open;
        if !is_over && !is_given_up {
            return None;
        }
        self.open.pop_front();
        let slot = self.slot(number);
        if slot.number != number || !slot.is_open {
            return Some(Closed::Before);
        }
        if !is_over {
            slot.cut += slot.owed();
        }
        Some(self.close(number).map_or(Closed::Others, Closed::Own))
    }

    /// Opens a message; one that has its place is closed.
    fn open(&mut self, number: u32, sent: Nanos) -> Option<OwnMessage> {
        let older = *self.slot(number);
        let is_evicted = older.is_open && older.number != number;
        let evicted = if is_evicted { self.close(older.number) } else { None };
        self.evicted += u64::from(is_evicted);
        let expected = self.presence.since(sent.saturating_sub(SUBSCRIBED_FOR));
        *self.slot(number) = Slot { number, is_open: true, sent, expected, ..Slot::default() };
        self.seen += 1;
        self.open.push_back((number, sent.saturating_add(self.timeout)));
        evicted
    }

    /// Closes an open message; gives it where it is ours.
    fn close(&mut self, number: u32) -> Option<OwnMessage> {
        let worker = self.worker;
        let slot = self.slot(number);
        slot.is_open = false;
        let Slot { expected, delivered, cut, last, own, .. } = *slot;
        let received = ReceivedMessage { number, worker, expected, delivered, cut, last };
        self.closed += 1;
        self.log.received.push(received);
        own.map(|message| OwnMessage { message, received })
    }

    fn slot(&mut self, number: u32) -> &mut Slot {
        let at = number as usize & (self.slots.len() - 1);
        &mut self.slots[at]
    }
}

/// What was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closed {
    /// A message of our own speakers.
    Own(OwnMessage),
    /// Another one.
    Others,
    /// It had been closed already.
    Before,
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn messages(users: u32) -> PartMessages {
        let mut messages = PartMessages::new(3, 64, Nanos(S), 10);
        (0..users).for_each(|_| messages.presence.join(Nanos::ZERO, Nanos::ZERO));
        messages
    }

    #[test]
    fn a_message_of_another_machine_is_known_by_its_first_delivery() {
        let mut messages = messages(2);
        let sent = Nanos(5 * S);
        assert!(messages.deliver(4, sent, sent + Nanos(7)).0);
        assert_eq!(messages.close_next(sent + Nanos(8), false), None, "one is owed still");
        assert!(messages.deliver(4, sent, sent + Nanos(9)).0);
        assert_eq!(messages.close_next(sent + Nanos(9), false), Some(Closed::Others));
        let expect = ReceivedMessage {
            number: 4,
            worker: 3,
            expected: 2,
            delivered: 2,
            cut: 0,
            last: Nanos(9),
        };
        assert_eq!(messages.log.received, [expect]);
        assert!(!messages.deliver(4, sent, sent + Nanos(10)).0, "it is closed");
    }

    #[test]
    fn who_came_too_late_is_owed_nothing_and_who_left_neither() {
        let mut messages = messages(2);
        let sent = Nanos(5 * S);
        let late = sent - Nanos(1);
        messages.presence.join(late, Nanos::ZERO);
        assert!(messages.deliver(1, sent, sent).0);
        messages.leave(Nanos::ZERO, sent, |_| false);
        messages.leave(late, sent, |_| false);
        assert_eq!(messages.close_next(sent, false), Some(Closed::Others));
        let [one] = messages.log.received[..] else { panic!("one") };
        assert_eq!((one.expected, one.delivered, one.cut), (2, 1, 1));
    }

    #[test]
    fn what_is_overdue_is_lost_and_what_is_given_up_is_cut() {
        let mut messages = messages(3);
        let sent = Nanos(5 * S);
        let own = |number| SentMessage { number, due: sent, sent, bytes: 5 };
        assert_eq!(messages.send(own(1)), None);
        messages.send(own(2));
        messages.deliver(1, sent, sent + Nanos(1));
        let Some(Closed::Own(one)) = messages.close_next(sent + Nanos(S), false) else {
            panic!("it is ours")
        };
        assert_eq!((one.received.delivered, one.received.cut), (1, 0));
        assert!(!messages.deliver(1, sent, sent + Nanos(S + 1)).0, "late");
        messages.send(SentMessage { sent: sent + Nanos(S), ..own(3) });
        messages.close_next(sent + Nanos(S), false).expect("the second is overdue as well");
        let Some(Closed::Own(one)) = messages.close_next(sent + Nanos(S), true) else {
            panic!("it is given up")
        };
        assert_eq!((one.received.delivered, one.received.cut), (0, 3));
        assert_eq!((messages.open_count(), messages.is_complete()), (0, false));
    }

    #[test]
    fn the_oldest_makes_room() {
        let mut messages = messages(1);
        let sent = |number: u32| Nanos(5 * S + u64::from(number));
        for number in 1..=64 {
            assert!(messages.deliver(number, sent(number), sent(number)).0);
        }
        (1..=63).for_each(|_| {
            messages.close_next(sent(64), false).expect("all had it");
        });
        messages.send(SentMessage { number: 70, due: sent(70), sent: sent(70), bytes: 1 });
        assert!(messages.deliver(134, sent(134), sent(134)).1.is_some(), "70 lay there");
        assert_eq!(messages.evicted, 1);
        assert!(!messages.deliver(70, sent(70), sent(134)).0);
    }
}
