//! Echo: each user performs and waits for its own message.

use std::sync::Arc;

use stdx::Nanos;
use wire::cable::CommandKind;
use workload::{CustomFailure, CustomOutcome, CustomSample};

use super::pending_echoes::{ECHOES_MAX, Echo, State};
use super::state::{CableUsers, Phase};
use super::timer_queue::Entry;
use super::user_table::UserId;
use crate::plan::Pattern;
use crate::token::Token;

impl CableUsers {
    /// A user begins: at a moment of its own, so that not all speak at once; in a closed loop at once.
    pub(super) fn begin_echo(&mut self, user: UserId, every: Option<Nanos>, now: Nanos) {
        let wait = every.unwrap_or_default().0 as f64 * self.random.next_f64();
        let at = now + Nanos(wait as u64);
        self.timers.add(Entry { at, user, generation: self.users[user].generation });
    }

    /// It is a user's turn to perform.
    pub(super) fn perform_in_turn(&mut self, user: UserId, due: Nanos, now: Nanos) {
        let Pattern::Echo { every } = self.cable.plan.pattern else { return };
        self.perform(user, due, now);
        if let Some(every) = every {
            let generation = self.users[user].generation;
            self.timers.add(Entry { at: due + every, user, generation });
        }
    }

    fn perform(&mut self, user: UserId, due: Nanos, now: Nanos) {
        let is_over = self.end().is_some_and(|end| due >= end);
        if is_over || self.phase != Phase::Running {
            return;
        }
        let (number, user_number) = (self.echoes.next_number(), self.global(user));
        let token = Token { number, user: user_number, sent: now };
        let has_room = self.echoes.list.len() < ECHOES_MAX;
        let sent = has_room.then(|| self.command(user, CommandKind::Message, Some(token)));
        let Some(bytes) = sent.flatten() else {
            self.report.not_sent += 1;
            return;
        };
        self.report.sent += 1;
        self.echoes.add(Echo {
            user,
            generation: self.users[user].generation,
            due,
            sent: now,
            limit: now.saturating_add(self.cable.plan.timeout),
            bytes: bytes as u32,
            state: State::Waiting,
        });
    }

    /// A user received a message.
    pub(super) fn echoed(&mut self, user: UserId, now: Nanos, token: Token, bytes: usize) {
        if token.user != self.global(user) {
            self.report.overheard += 1;
            return;
        }
        let Some(echo) = self.echoes.find(token.number) else {
            self.report.deliveries.late += 1;
            return;
        };
        if echo.state == State::Back {
            self.report.deliveries.duplicated += 1;
            return;
        }
        echo.state = State::Back;
        let echo = *echo;
        self.echoes.waiting -= 1;
        self.report.answered += 1;
        self.report.round_trip.record(now.saturating_sub(echo.due));
        self.write_row(&echo, now, bytes, None);
        self.perform_again(user, now);
    }

    /// Messages that did not come back in time are lost.
    pub(super) fn expire_echoes(&mut self, now: Nanos) {
        while let Some(echo) = self.echoes.pop_overdue(now) {
            if echo.state == State::Back {
                continue;
            }
            let user = echo.user;
            let stayed =
                self.users[user].generation == echo.generation && self.users[user].is_subscribed();
            if stayed {
                self.report.unanswered += 1;
                self.write_row(
                    &echo,
                    now,
                    0,
                    Some((CustomFailure::Timeout, "no message back in time")),
                );
                self.perform_again(user, now);
            } else {
                self.report.cut += 1;
                self.write_row(&echo, now, 0, Some((CustomFailure::Lost, "connection lost")));
            }
        }
        if self.is_stop_overdue(now) {
            self.give_up_echoes(now);
        }
    }

    /// Messages that an interrupt leaves behind are not counted as lost: they may still come.
    fn give_up_echoes(&mut self, now: Nanos) {
        while let Some(echo) = self.echoes.pop() {
            if echo.state == State::Waiting {
                self.report.cut += 1;
                self.write_row(&echo, now, 0, Some((CustomFailure::Stopped, "interrupted")));
            }
        }
    }

    /// In a closed loop a user performs again.
    fn perform_again(&mut self, user: UserId, now: Nanos) {
        if self.cable.plan.pattern == (Pattern::Echo { every: None }) {
            self.perform(user, now, now);
        }
    }

    fn write_row(
        &mut self,
        echo: &Echo,
        done: Nanos,
        bytes_in: usize,
        failure: Option<(CustomFailure, &str)>,
    ) {
        let pipe = self.users[echo.user].pipe;
        self.commands.samples.push(CustomSample {
            line: Arc::clone(&self.line),
            due: echo.due,
            sent: echo.sent,
            done,
            bytes_out: u64::from(echo.bytes),
            bytes_in: bytes_in as u64,
            outcome: CustomOutcome::Message,
            error: Arc::from(""),
            failure: failure.map(|(kind, text)| (kind, text.into())),
            serial: pipe.map_or(0, |pipe| pipe.serial),
        });
    }
}
