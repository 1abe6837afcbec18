//! Echo: each user performs and waits for its own message.

use std::collections::VecDeque;
use std::sync::Arc;

use stdx::Nanos;
use wire::cable::CommandKind;
use workload::{Trip, TripFailure};

use super::agenda::Entry;
use super::{Crowd, Phase};
use crate::plan::Pattern;
use crate::token::Token;

/// The most messages of a worker in flight; past it none is sent, which is counted.
const FLIGHTS_MAX: usize = 1 << 20;

/// A crowd's messages: those on their way, and those that came back within the timeout.
#[derive(Debug)]
pub(super) struct Flights {
    /// In the order they were sent, which is that of their limits.
    list: VecDeque<Flight>,
    /// The number of the first.
    first: u32,
    waiting: usize,
}

/// A message.
#[derive(Clone, Copy, Debug)]
struct Flight {
    user: u32,
    /// The user's connection.
    life: u32,
    due: Nanos,
    sent: Nanos,
    limit: Nanos,
    bytes: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Back,
}

impl Default for Flights {
    fn default() -> Self {
        Self { list: VecDeque::new(), first: 1, waiting: 0 }
    }
}

impl Flights {
    /// How many are on their way.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// When the oldest is waited for no more.
    pub(super) fn next_limit(&self) -> Option<Nanos> {
        self.list.front().map(|flight| flight.limit)
    }

    fn next_number(&self) -> u32 {
        self.first.wrapping_add(self.list.len() as u32)
    }

    fn find(&mut self, number: u32) -> Option<&mut Flight> {
        self.list.get_mut(number.wrapping_sub(self.first) as usize)
    }

    fn add(&mut self, flight: Flight) {
        self.waiting += 1;
        self.list.push_back(flight);
    }

    /// Takes the oldest, whether it was waited for long enough or not.
    fn pop(&mut self) -> Option<Flight> {
        self.pop_overdue(Nanos::MAX)
    }

    fn pop_overdue(&mut self, now: Nanos) -> Option<Flight> {
        let flight = self.list.pop_front_if(|flight| flight.limit <= now)?;
        self.first = self.first.wrapping_add(1);
        self.waiting -= usize::from(flight.state == State::Waiting);
        Some(flight)
    }
}

impl Crowd {
    /// A user begins: at a moment of its own, so that not all speak at once; in a closed loop at once.
    pub(super) fn begin_echo(&mut self, user: usize, every: Option<Nanos>, now: Nanos) {
        let wait = every.unwrap_or_default().0 as f64 * self.random.unit();
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
                    Some((TripFailure::Timeout, "no message back in time")),
                );
                self.go_on(user, now);
            } else {
                self.outcome.cut += 1;
                self.write_row(&flight, now, 0, Some((TripFailure::Lost, "connection lost")));
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
                self.write_row(&flight, now, 0, Some((TripFailure::Stopped, "interrupted")));
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
        failure: Option<(TripFailure, &str)>,
    ) {
        let pipe = self.users[flight.user as usize].pipe;
        self.wishes.trips.push(Trip {
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
