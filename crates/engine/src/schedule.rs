//! `Schedule`: when a worker begins its hits.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use stdx::Nanos;
use workload::arrival::{Cursor, Numbers, Shard};
use workload::{Load, VirtualUsers};

use crate::prepared::Prepared;
use crate::settings::Settings;
use crate::share::share;

/// When a worker begins its hits.
#[derive(Debug)]
pub(crate) enum Schedule {
    /// By a schedule.
    Open(Open),
    /// A hit as soon as a user is idle, or has thought.
    Closed(Closed),
    /// As users decide.
    Users(Box<dyn VirtualUsers>),
    /// No more.
    Ended,
}

impl Schedule {
    /// When a worker, one of `workers`, begins its hits.
    pub(crate) fn of_worker(prepared: &Prepared, worker: u64, workers: u64) -> Self {
        let plan = &prepared.plan;
        match &plan.load {
            Load::Open { shape, max_in_flight } => {
                let limit = max_in_flight.map_or(u64::MAX, |n| share(n, worker, workers));
                let in_flight_max = usize::try_from(limit).unwrap_or(usize::MAX).min(IN_FLIGHT_MAX);
                let shard = Shard { first: worker, step: workers };
                let cursor = match &plan.part {
                    None => shape.cursor(plan.seed, shard, plan.duration),
                    Some(part) => shape.cursor_of_part(plan.seed, shard, part, plan.duration),
                };
                Self::Open(Open { cursor, in_flight_max, tick: prepared.settings.tick })
            }
            Load::Closed { users } => {
                let users = users_share(*users, &prepared.settings, worker, workers);
                let left = plan.hits_max.map_or(u64::MAX, |max| share(max, worker, workers));
                let shard = Shard { first: worker, step: workers };
                Self::Closed(Closed::new(users, Numbers::new(shard, plan.part.as_ref()), left))
            }
            Load::Users(crew) => Self::Users((crew.make)(Shard { first: worker, step: workers })),
        }
    }
}

/// A worker's share of the users: where they share connections evenly, as many as its connections carry.
fn users_share(users: u64, settings: &Settings, worker: u64, workers: u64) -> u64 {
    match settings.max_connections.map(|n| n as u64) {
        Some(conns) if conns > 0 && users.is_multiple_of(conns) => {
            share(conns, worker, workers) * (users / conns)
        }
        _ => share(users, worker, workers),
    }
}

/// A worker's share of the users.
#[derive(Debug)]
pub(crate) struct Closed {
    /// Users that begin a hit now.
    idle: u64,
    /// When those that think will have.
    thinking: BinaryHeap<Reverse<Nanos>>,
    /// The hits' numbers.
    numbers: Numbers,
    /// Hits that may still be begun and counted.
    pub(crate) left: u64,
}

impl Closed {
    /// All users idle; their hits have these numbers.
    pub(crate) fn new(users: u64, numbers: Numbers, left: u64) -> Self {
        let thinking = BinaryHeap::with_capacity(usize::try_from(users).unwrap_or(0).min(ROOM));
        Self { idle: users, thinking, numbers, left }
    }

    /// The next hit's number.
    pub(crate) fn next_number(&self) -> u64 {
        self.numbers.get()
    }

    /// When the next hit is due; none where every user waits for an answer.
    pub(crate) fn next_due(&self, now: Nanos) -> Option<Nanos> {
        if self.idle > 0 { Some(now) } else { self.thinking.peek().map(|thought| thought.0) }
    }

    /// How many users are ready to begin a hit without thinking.
    pub(crate) fn ready(&self, now: Nanos) -> u64 {
        let thought = self.thinking.peek().is_some_and(|thought| thought.0 <= now);
        self.idle + if thought { self.thinking.len() as u64 } else { 0 }
    }

    /// Starts the hit of the user that is due; returns whether the user was thinking until then.
    pub(crate) fn begin(&mut self, measured: bool) -> bool {
        let thought = self.idle == 0;
        if thought {
            self.thinking.pop();
        } else {
            self.idle -= 1;
        }
        self.numbers.advance();
        self.left -= u64::from(measured);
        thought
    }

    /// A user has its answer and thinks until `until`.
    pub(crate) fn think(&mut self, now: Nanos, until: Nanos) {
        if until <= now {
            self.idle += 1;
        } else {
            self.thinking.push(Reverse(until));
        }
    }
}

/// The most hits of one worker under way at once, whatever is asked for: past it a hit waits.
const IN_FLIGHT_MAX: usize = 1 << 20;
/// The most users there is room for before memory is asked for.
const ROOM: usize = 1 << 20;

/// A worker's share of a schedule.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) cursor: Cursor,
    /// The most hits of this worker under way at once.
    pub(crate) in_flight_max: usize,
    /// What falls due within this time is sent together; zero for exact pacing.
    pub(crate) tick: Nanos,
}

impl Open {
    /// When the next hit is to be begun: when it is due, or at the tick's end.
    pub(crate) fn next_begin(&self) -> Option<Nanos> {
        let (_, due) = self.cursor.peek()?;
        if self.tick == Nanos::ZERO {
            return Some(due);
        }
        Some(Nanos(due.0.div_ceil(self.tick.0).saturating_mul(self.tick.0)))
    }
}
