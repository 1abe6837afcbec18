//! Broadcast: some users send, all receive; the deliveries that each message is due, and those that came.

use std::sync::Arc;

use stdx::Nanos;
use wire::cable::CommandKind;
use workload::{CustomFailure, CustomOutcome, CustomSample};

use super::state::{CableUsers, Phase};
use super::user_table::UserId;
use crate::cable_report::MessageReport;
use crate::in_flight_messages::ClosedMessage;
use crate::plan::Pattern;
use crate::token::Token;

/// The pause between the last subscription and the first message: all workers know of it by then.
const PAUSE: Nanos = Nanos::from_millis(100);
/// The most messages sent before others' events are looked at.
const BURST_MAX: usize = 64;

impl CableUsers {
    /// When the first message is due: soon after all users are up.
    pub(super) fn broadcast_start(&self) -> Option<Nanos> {
        self.cable.barrier.up_at(0).map(|up| up + PAUSE)
    }

    /// When the next message of this worker is due, or one in flight is waited for no more.
    pub(super) fn next_broadcast(&self) -> Option<Nanos> {
        let begin = self.broadcast_start().zip(self.broadcast.next);
        let due = begin.map(|(begin, number)| begin + self.broadcast.every * number);
        let limit = match &self.part {
            // Past the last message of ours, those of other machines.
            Some(part) => part.next_limit().or_else(|| self.part_limit()),
            None => self.broadcast.in_flight.front().map(|(_, limit)| *limit),
        };
        due.into_iter().chain(limit).min()
    }

    /// Sends what is due, and closes what is settled or overdue.
    pub(super) fn run_broadcast(&mut self, now: Nanos) {
        for _ in 0..BURST_MAX {
            let Some(number) = self.broadcast.next else { break };
            let begin = self.broadcast_start();
            let due = begin.map(|begin| begin + self.broadcast.every * number);
            let end = begin.map(|begin| begin.saturating_add(self.cable.plan.duration));
            if self.phase == Phase::Stopping || due.is_some_and(|due| Some(due) >= end) {
                self.broadcast.next = None;
                self.cable.in_flight.fall_silent();
                break;
            }
            let Some(due) = due.filter(|due| *due <= now) else { break };
            self.send_broadcast(number, due, now);
            self.broadcast.next = self.broadcast.from(number + 1, &self.cable.plan, self.shard);
        }
        if self.part.is_some() { self.close_part(now) } else { self.close_settled(now) }
    }

    fn send_broadcast(&mut self, number: u64, due: Nanos, now: Nanos) {
        let speaker = number % self.broadcast.speakers;
        let Some(place) = self.cable.plan.own_place(speaker) else { return };
        let user = UserId(((place - self.shard.first) / self.shard.step) as u32);
        if !self.users[user].is_subscribed() {
            self.report.not_sent += 1;
            return;
        }
        if self.part.is_some() {
            return self.send_part(number, user, due, now);
        }
        let cable = Arc::clone(&self.cable);
        let reserved = cable.in_flight.reserve();
        let token = Token { number: reserved.number(), user: speaker as u32, sent: Nanos::ZERO };
        let Some(bytes) = self.command(user, CommandKind::Message, Some(token)) else {
            self.report.not_sent += 1;
            return;
        };
        let evicted = reserved.send(due, now, bytes);
        self.report.sent += 1;
        let limit = now.saturating_add(cable.plan.timeout);
        self.broadcast.in_flight.push_back((token.number, limit));
        if let Some(closed) = evicted {
            self.report.evicted += 1;
            self.keep(closed, now);
        }
    }

    fn close_settled(&mut self, now: Nanos) {
        let is_given_up = self.is_stop_overdue(now);
        while let Some(&(number, limit)) = self.broadcast.in_flight.front() {
            let is_over = now >= limit || self.cable.in_flight.is_settled(number);
            if !is_over && !is_given_up {
                return;
            }
            self.broadcast.in_flight.pop_front();
            match self.cable.in_flight.close(number) {
                Some(closed) if is_over => self.keep(closed, now),
                Some(closed) => self.give_up(closed, now),
                None => {}
            }
        }
    }

    /// Counts a closed message and writes its row.
    fn keep(&mut self, closed: ClosedMessage, now: Nanos) {
        let lost = closed.lost();
        if lost == 0 {
            self.report.complete_messages += 1;
            self.report.complete.record(closed.last.saturating_sub(closed.sent));
        }
        let text = || format!("{lost} of {} deliveries lost", closed.expected).into();
        let failure = (lost > 0).then(|| (CustomFailure::Timeout, text()));
        self.count(&closed, now, failure);
    }

    /// Deliveries that an interrupt leaves behind are not counted as lost: they may still come.
    fn give_up(&mut self, closed: ClosedMessage, now: Nanos) {
        let cut = closed.cut + closed.lost();
        let text =
            format!("interrupted: {} of {} deliveries made", closed.delivered, closed.expected);
        let failure = Some((CustomFailure::Stopped, text.into()));
        self.count(&ClosedMessage { cut, ..closed }, now, failure);
    }

    fn count(
        &mut self,
        closed: &ClosedMessage,
        now: Nanos,
        failure: Option<(CustomFailure, Arc<str>)>,
    ) {
        let lost = closed.lost();
        let sums = &mut self.report.deliveries;
        sums.expected += u64::from(closed.expected);
        sums.delivered += u64::from(closed.delivered);
        sums.lost += u64::from(lost);
        sums.cut += u64::from(closed.cut);
        self.report.keep(MessageReport {
            number: closed.number,
            sent: closed.sent,
            expected: closed.expected,
            delivered: closed.delivered,
            lost,
            last: closed.last.saturating_sub(closed.sent),
        });
        self.commands.samples.push(CustomSample {
            line: Arc::clone(&self.line),
            due: closed.due,
            sent: closed.sent,
            done: if failure.is_none() { closed.last } else { now },
            bytes_out: u64::from(closed.bytes),
            bytes_in: 0,
            outcome: CustomOutcome::Message,
            error: Arc::from(""),
            failure,
            serial: 0,
        });
    }

    /// A subscriber comes.
    pub(super) fn join(&mut self, user: UserId, now: Nanos) {
        if self.part.is_some() {
            return self.join_part(user, now);
        }
        let first = self.cable.in_flight.join();
        self.users[user].first = first;
        self.received.begin(user.index(), first);
    }

    /// A subscriber goes.
    pub(super) fn leave(&mut self, user: UserId) {
        if !matches!(self.cable.plan.pattern, Pattern::Broadcast { .. }) {
            return;
        }
        if self.part.is_some() {
            return self.leave_part(user);
        }
        let (entry, seen) = (&mut self.users[user], &self.received);
        let owed = self.cable.in_flight.leave(entry.first, |number| seen.has(user.index(), number));
        entry.owed += u64::from(owed);
    }

    /// A subscriber received a message.
    pub(super) fn received_broadcast(&mut self, user: UserId, now: Nanos, token: Token) {
        if self.part.is_some() {
            return self.received_part(user, now, token);
        }
        let in_flight = &self.cable.in_flight;
        let (entry, sums) = (&mut self.users[user], &mut self.report.deliveries);
        if !in_flight.was_sent(token.number) {
            self.report.unknown += 1;
            return;
        }
        if !entry.is_subscribed() || token.number < entry.first {
            sums.early += 1;
            return;
        }
        if !sums.note(self.received.mark(user.index(), token)) {
            return;
        }
        match in_flight.deliver(token.number, now) {
            Some(sent) => {
                entry.had += 1;
                self.report.fan_out.record(now.saturating_sub(sent));
            }
            None => sums.late += 1,
        }
    }

    /// Whether every message of all speakers is sent and closed.
    pub(super) fn is_finished(&self, now: Nanos) -> bool {
        if self.part.is_some() {
            return self.is_part_finished(now);
        }
        let in_flight = &self.cable.in_flight;
        in_flight.silent() >= self.broadcast.workers && in_flight.open() == 0
    }

    /// Counts how the losses are distributed among the subscribers. All of them have ended.
    pub(super) fn count_subscribers(&mut self) {
        for user in self.users.iter().filter(|user| user.owed > 0) {
            let seen = &mut self.report.subscribers;
            *match (user.had, user.owed) {
                (0, _) => &mut seen.none,
                (had, owed) if had >= owed => &mut seen.all,
                _ => &mut seen.some,
            } += 1;
        }
    }
}
