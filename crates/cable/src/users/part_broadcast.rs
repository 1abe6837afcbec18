//! Broadcast on one of several machines: what its speakers send, and what its users have of the messages of all. Which deliveries
//! a message is due, over all machines, is known where the parts are merged.

use std::sync::Arc;

use stdx::Nanos;
use wire::cable::CommandKind;
use workload::{CustomFailure, CustomOutcome, CustomSample};

use super::part_messages::{Closed, OwnMessage, PartMessages, SUBSCRIBED_FOR};
use super::state::{CableUsers, Phase};
use super::user_table::UserId;
use crate::cable::lock;
use crate::part_record::{SentMessage, WorkerEnd};
use crate::plan::{CablePlan, Pattern};
use crate::token::Token;

impl PartMessages {
    /// Those of a worker; `None` where the plan is no broadcast, or that of one machine.
    pub(super) fn of(plan: &CablePlan, worker: u64) -> Option<Box<Self>> {
        let Pattern::Broadcast { .. } = plan.pattern else { return None };
        plan.part.as_ref()?;
        let planned = plan.messages_planned();
        Some(Box::new(Self::new(worker as u16, plan.window(), plan.timeout, planned)))
    }
}

impl CableUsers {
    /// Sends a message of the schedule, counted from 0.
    pub(super) fn send_part(&mut self, number: u64, user: UserId, due: Nanos, now: Nanos) {
        let number = u32::try_from(number + 1).unwrap_or(u32::MAX);
        let token = Token { number, user: self.global(user), sent: now };
        let Some(bytes) = self.command(user, CommandKind::Message, Some(token)) else {
            self.report.not_sent += 1;
            return;
        };
        self.report.sent += 1;
        let message = SentMessage { number, due, sent: now, bytes: bytes as u32 };
        if let Some(evicted) = self.part.as_mut().and_then(|part| part.send(message)) {
            self.write_own(&evicted, now);
        }
    }

    /// A subscriber received a message.
    pub(super) fn received_part(&mut self, user: UserId, now: Nanos, token: Token) {
        let Some(part) = &mut self.part else { return };
        let is_planned = (1..=part.planned).contains(&u64::from(token.number));
        // What a server makes of a token must not keep a message open for ever; clocks of machines differ by less.
        if !is_planned || token.sent > now + SUBSCRIBED_FOR {
            self.report.unknown += 1;
            return;
        }
        let (entry, sums) = (&mut self.users[user], &mut self.report.deliveries);
        if !entry.is_subscribed() || entry.since + SUBSCRIBED_FOR > token.sent {
            sums.early += 1;
            return;
        }
        if !sums.note(self.received.mark(user.index(), token)) {
            return;
        }
        let (in_time, evicted) = part.deliver(token.number, token.sent, now);
        if in_time {
            entry.had += 1;
            self.report.fan_out.record(now.saturating_sub(token.sent));
        } else {
            sums.late += 1;
        }
        if let Some(evicted) = evicted {
            self.write_own(&evicted, now);
        }
    }

    /// A subscriber comes.
    pub(super) fn join_part(&mut self, user: UserId, now: Nanos) {
        let Some(part) = &mut self.part else { return };
        let old = now.saturating_sub(self.cable.plan.timeout).saturating_sub(SUBSCRIBED_FOR);
        part.presence.join(now, old);
        self.users[user].first = part.seen as u32;
        self.received.begin(user.index(), 0);
    }

    /// A subscriber goes.
    pub(super) fn leave_part(&mut self, user: UserId) {
        let (entry, seen, now) = (&mut self.users[user], &self.received, self.now);
        let Some(part) = &mut self.part else { return };
        part.leave(entry.since, now, |number| seen.has(user.index(), number));
        entry.owed += part.seen - u64::from(entry.first);
    }

    /// Closes what is settled or overdue.
    pub(super) fn close_part(&mut self, now: Nanos) {
        let is_given_up = self.is_stop_overdue(now);
        loop {
            let Some(part) = &mut self.part else { return };
            match part.close_next(now, is_given_up) {
                Some(Closed::Own(own)) => self.write_own(&own, now),
                Some(Closed::Others | Closed::Before) => {}
                None => return,
            }
        }
    }

    /// The row of a message of ours, as this worker's users had it: it counts for the generator's own lateness. Where the parts are
    /// merged, the row of the whole message stands in its place.
    fn write_own(&mut self, own: &OwnMessage, now: Nanos) {
        let OwnMessage { message, received } = own;
        let lost = received.expected - received.delivered - received.cut;
        let failure = (lost > 0).then(|| (CustomFailure::Timeout, "deliveries lost".into()));
        self.commands.samples.push(CustomSample {
            line: Arc::clone(&self.line),
            due: message.due,
            sent: message.sent,
            done: if lost > 0 { now } else { message.sent + received.last },
            bytes_out: u64::from(message.bytes),
            bytes_in: 0,
            outcome: CustomOutcome::Message,
            error: Arc::from(""),
            failure,
            serial: 0,
        });
    }

    /// Whether all messages of the test were had, or are waited for no more.
    pub(super) fn is_part_finished(&self, now: Nanos) -> bool {
        let Some(part) = &self.part else { return false };
        let is_silent = self.broadcast.next.is_none();
        if self.phase == Phase::Stopping {
            return is_silent && (part.open_count() == 0 || self.is_stop_overdue(now));
        }
        let is_waited_for = self.part_limit().is_none_or(|limit| now < limit);
        is_silent && part.open_count() == 0 && (part.is_complete() || !is_waited_for)
    }

    /// Until when messages of other machines may come.
    pub(super) fn part_limit(&self) -> Option<Nanos> {
        let plan = &self.cable.plan;
        Some(self.broadcast_start()?.saturating_add(plan.duration).saturating_add(plan.timeout))
    }

    /// Hands on what was logged since the last time.
    pub(super) fn log_part(&mut self) {
        let Some(part) = &mut self.part else { return };
        let mut log = lock(&self.cable.part_log);
        log.sent.append(&mut part.log.sent);
        log.received.append(&mut part.log.received);
    }

    /// Hands on what became of this worker's subscribers; the report has none of it.
    pub(super) fn end_part(&mut self) {
        self.log_part();
        let Some(part) = &mut self.part else { return };
        self.report.evicted += std::mem::take(&mut part.evicted);
        let end = WorkerEnd {
            worker: self.shard.first as u16,
            seen: part.seen,
            subscribers: std::mem::take(&mut self.report.subscribers),
            users: self.users.iter().filter(|user| user.since > Nanos::ZERO).count() as u64,
            present: part.presence.take_times(),
        };
        lock(&self.cable.worker_ends).push(end);
    }
}
