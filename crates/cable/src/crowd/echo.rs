//! Echo: each user performs and waits for its own message.

use std::sync::Arc;

use stdx::Nanos;
use wire::cable::CommandKind;
use workload::{CustomFailure, CustomSample};

use super::agenda::Entry;
use super::flights::{FLIGHTS_MAX, Flight, State};
use super::state::{Crowd, Phase};
use crate::plan::Pattern;
use crate::token::Token;

impl Crowd {
    /// A user begins: at a moment of its own, so that not all speak at once; in a closed loop at once.
    pub(super) fn begin_echo(&mut self, user: usize, every: Option<Nanos>, now: Nanos) {
        let wait = every.unwrap_or_default().0 as f64 * self.random.next_f64();
        let at = now + Nanos(wait as u64);
        self.agenda.add(Entry { at, user: user as u32, life: self.users[user].life });
    }

    /// It is a user's turn to perform.
    pub(super) fn perform_in_turn(&mut self, user: usize, due: Nanos, now: Nanos) {
        let Pattern::Echo { every } = self.cable.plan.pattern else { return };
        self.perform(user, due, now);
        if let Some(every) = every {
            let life = self.users[user].life;
            self.agenda.add(Entry { at: due + every, user: user as u32, life });
        }
    }

    fn perform(&mut self, user: usize, due: Nanos, now: Nanos) {
        let is_over = self.end().is_some_and(|end| due >= end);
        if is_over || self.phase != Phase::Running {
            return;
        }
        let token = Token { number: self.flights.next_number(), user: self.global(user) };
        let has_room = self.flights.list.len() < FLIGHTS_MAX;
        let sent = has_room.then(|| self.command(user, CommandKind::Message, Some(token)));
        let Some(bytes) = sent.flatten() else {
            self.outcome.not_sent += 1;
            return;
        };
        self.outcome.sent += 1;
        self.flights.add(Flight {
            user: user as u32,
            life: self.users[user].life,
            due,
            sent: now,
            limit: now.saturating_add(self.cable.plan.timeout),
            bytes: bytes as u32,
            state: State::Waiting,
        });
    }

    /// A message came to a user.
    pub(super) fn echoed(&mut self, user: usize, now: Nanos, token: Token, bytes: usize) {
        if token.user != self.global(user) {
            self.outcome.overheard += 1;
            return;
        }
        let Some(flight) = self.flights.find(token.number) else {
            self.outcome.deliveries.late += 1;
            return;
        };
        if flight.state == State::Back {
            self.outcome.deliveries.duplicated += 1;
            return;
        }
        flight.state = State::Back;
        let flight = *flight;
        self.flights.waiting -= 1;
        self.outcome.answered += 1;
        self.outcome.round_trip.record(now.saturating_sub(flight.due));
        self.write_row(&flight, now, bytes, None);
        self.go_on(user, now);
    }

    /// Messages that did not come back in time are lost.
    pub(super) fn expire_flights(&mut self, now: Nanos) {
        while let Some(flight) = self.flights.pop_overdue(now) {
            if flight.state == State::Back {
                continue;
            }
            let user = flight.user as usize;
            let stayed = self.users[user].life == flight.life && self.users[user].is_subscribed();
            if stayed {
                self.outcome.unanswered += 1;
                self.write_row(
                    &flight,
                    now,
                    0,
                    Some((CustomFailure::Timeout, "no message back in time")),
                );
                self.go_on(user, now);
            } else {
                self.outcome.cut += 1;
                self.write_row(&flight, now, 0, Some((CustomFailure::Lost, "connection lost")));
            }
        }
        if self.is_out_of_patience(now) {
            self.give_up_flights(now);
        }
    }

    /// Messages that an interrupt leaves behind are not lost: nobody knows.
    fn give_up_flights(&mut self, now: Nanos) {
        while let Some(flight) = self.flights.pop() {
            if flight.state == State::Waiting {
                self.outcome.cut += 1;
                self.write_row(&flight, now, 0, Some((CustomFailure::Stopped, "interrupted")));
            }
        }
    }

    /// In a closed loop a user performs again.
    fn go_on(&mut self, user: usize, now: Nanos) {
        if self.cable.plan.pattern == (Pattern::Echo { every: None }) {
            self.perform(user, now, now);
        }
    }

    fn write_row(
        &mut self,
        flight: &Flight,
        done: Nanos,
        bytes_in: usize,
        failure: Option<(CustomFailure, &str)>,
    ) {
        let pipe = self.users[flight.user as usize].pipe;
        self.commands.samples.push(CustomSample {
            line: Arc::clone(&self.line),
            due: flight.due,
            sent: flight.sent,
            done,
            bytes_out: u64::from(flight.bytes),
            bytes_in: bytes_in as u64,
            failure: failure.map(|(kind, text)| (kind, text.into())),
            serial: pipe.map_or(0, |pipe| pipe.serial),
        });
    }
}
