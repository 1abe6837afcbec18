//! `Schedule`: when a worker begins its hits. That of a rate is in `open_schedule`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use stdx::Nanos;
use workload::arrival::{Numbers, Shard};
use workload::{Load, VirtualUsers};

use crate::contact::Contact;
use crate::open_schedule::Open;
use crate::place::Place;
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
                let place = Place::of(prepared, worker, workers);
                let shard = place.shard();
                let cursor = match &plan.part {
                    None => shape.cursor(plan.seed, shard, plan.duration),
                    Some(part) => shape.cursor_of_part(plan.seed, shard, part, plan.duration),
                };
                Self::Open(Open::new(cursor, place, in_flight_max, prepared.settings.tick))
            }
            Load::Closed { users } => {
                let users = users_share(*users, &prepared.settings, worker, workers);
                let left = plan.hits_max.map_or(u64::MAX, |max| share(max, worker, workers));
                let shard = Shard { first: worker, step: workers };
                let numbers = Numbers::new(shard, plan.part.as_ref());
                Self::Closed(Closed::new(users, shard, numbers, left))
            }
            Load::Users(crew) => Self::Users((crew.make)(Shard { first: worker, step: workers })),
        }
    }

    /// A worker's share of the idle connections of one server: of all of them where it is the only one that takes part.
    pub(crate) fn idle_share(&self, connections: usize, worker: usize, workers: usize) -> usize {
        let share = match self {
            Self::Open(open) => open.place.share(connections as u64),
            _ => share(connections as u64, worker as u64, workers as u64),
        };
        share as usize
    }
}

/// A worker's share of users and of the connections that they share, of a run whose closed loop has so many users now.
pub(crate) struct UsersShare {
    pub(crate) users: u64,
    /// `None` where the number of connections does not go with that of users.
    pub(crate) connections: Option<usize>,
}

impl UsersShare {
    /// The share of this worker. Connections go with users where no user was to need one that another holds: they are then
    /// both the most that there are and the most that stay open.
    pub(crate) fn of(users: u64, prepared: &Prepared, shard: Shard) -> Self {
        let (settings, planned) = (&prepared.settings, &prepared.plan.load);
        let own = |total: u64| share(total, shard.first, shard.step);
        let conns = settings.max_connections.filter(|conns| *conns == settings.connections);
        let (Some(conns), Load::Closed { users: before }) = (conns.map(|n| n as u64), planned)
        else {
            return Self { users: own(users), connections: None };
        };
        let each = (before / conns.max(1)).max(1);
        let connections = own(users.div_ceil(each));
        let own_users = match users.is_multiple_of(each) {
            true => connections * each,
            false => own(users),
        };
        Self { users: own_users, connections: usize::try_from(connections).ok() }
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

/// The user that begins a hit.
pub(crate) struct NextUser {
    pub(crate) contact: Contact,
    /// It was thinking until then.
    pub(crate) thought: bool,
}

/// A worker's share of the users.
#[derive(Debug)]
pub(crate) struct Closed {
    /// Users that begin a hit now, by their [`Contact`].
    idle: [u64; 3],
    /// When those that think will have.
    thinking: BinaryHeap<Reverse<(Nanos, Contact)>>,
    /// The hits' numbers.
    numbers: Numbers,
    /// Hits that may still be begun and counted.
    pub(crate) left: u64,
    /// Which of the users are this worker's.
    pub(crate) shard: Shard,
    /// Users that go away after their hit.
    leaving: u64,
    /// Users that stay.
    users: u64,
    is_paused: bool,
}

impl Closed {
    /// All users idle; their hits have these numbers.
    pub(crate) fn new(users: u64, shard: Shard, numbers: Numbers, left: u64) -> Self {
        let thinking = BinaryHeap::with_capacity(usize::try_from(users).unwrap_or(0).min(ROOM));
        let idle = [users, 0, 0];
        Self { idle, thinking, numbers, left, shard, leaving: 0, users, is_paused: false }
    }

    /// Has so many users from now on. Those that are idle or think go at once, the others after their hit.
    pub(crate) fn set_users(&mut self, users: u64) {
        let more = users.saturating_sub(self.users);
        let back = more.min(self.leaving);
        self.leaving -= back;
        self.idle[Contact::New as usize] += more - back;
        let mut fewer = self.users.saturating_sub(users);
        for idle in &mut self.idle {
            let gone = fewer.min(*idle);
            (*idle, fewer) = (*idle - gone, fewer - gone);
        }
        while fewer > 0 && self.thinking.pop().is_some() {
            fewer -= 1;
        }
        self.leaving += fewer;
        self.users = users;
    }

    /// Begins no hits.
    pub(crate) fn pause(&mut self) {
        self.is_paused = true;
    }

    /// Begins hits again. What users would have begun meanwhile is due now.
    pub(crate) fn resume(&mut self, now: Nanos) {
        self.is_paused = false;
        while let Some(Reverse((until, contact))) = self.thinking.peek().copied()
            && until <= now
        {
            self.thinking.pop();
            self.idle[contact as usize] += 1;
        }
    }

    /// The next hit's number.
    pub(crate) fn next_number(&self) -> u64 {
        self.numbers.get()
    }

    /// When the next hit is due; none where every user waits for an answer.
    pub(crate) fn next_due(&self, now: Nanos) -> Option<Nanos> {
        if self.is_paused {
            return None;
        }
        let thinking = || self.thinking.peek().map(|Reverse((until, _))| *until);
        if self.idle() > 0 { Some(now) } else { thinking() }
    }

    /// How many users are ready to begin a hit without thinking.
    pub(crate) fn ready(&self, now: Nanos) -> u64 {
        if self.is_paused {
            return 0;
        }
        let thought = self.thinking.peek().is_some_and(|Reverse((until, _))| *until <= now);
        self.idle() + if thought { self.thinking.len() as u64 } else { 0 }
    }

    fn idle(&self) -> u64 {
        self.idle.iter().sum()
    }

    /// Starts the hit of the user that is due. Of those that are idle it is one that was never answered, so that all have tried
    /// before any begins a second one.
    pub(crate) fn begin(&mut self, measured: bool) -> NextUser {
        self.numbers.advance();
        self.left -= u64::from(measured);
        let contacts = [Contact::New, Contact::Never, Contact::Made];
        let idle = contacts.into_iter().zip(&mut self.idle).find(|(_, idle)| **idle > 0);
        match idle {
            Some((contact, idle)) => {
                *idle -= 1;
                NextUser { contact, thought: false }
            }
            None => {
                let contact = self.thinking.pop().map_or(Contact::Made, |Reverse(one)| one.1);
                NextUser { contact, thought: true }
            }
        }
    }

    /// A user has its answer and thinks until `until`, or goes away.
    pub(crate) fn think(&mut self, now: Nanos, until: Nanos, contact: Contact) {
        if self.leaving > 0 {
            self.leaving -= 1;
        } else if until <= now {
            self.idle[contact as usize] += 1;
        } else {
            self.thinking.push(Reverse((until, contact)));
        }
    }
}

/// The most hits of one worker under way at once, whatever is asked for: past it a hit waits.
const IN_FLIGHT_MAX: usize = 1 << 20;
/// The most users there is room for before memory is asked for.
const ROOM: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_come_and_go() {
        let mut closed = Closed::new(3, Shard::ALL, Numbers::new(Shard::ALL, None), u64::MAX);
        let now = Nanos(10);
        // One waits for its answer, one thinks, one is idle.
        closed.begin(true);
        closed.begin(true);
        closed.think(now, Nanos(50), Contact::Made);
        closed.set_users(1);
        assert_eq!((closed.ready(now), closed.next_due(now), closed.leaving), (0, None, 0));
        closed.set_users(0);
        assert_eq!(closed.leaving, 1);
        closed.set_users(2);
        assert_eq!((closed.leaving, closed.ready(now)), (0, 1), "the one under way stays");
        closed.set_users(0);
        closed.think(now, now, Contact::Made);
        assert_eq!((closed.leaving, closed.ready(now)), (0, 0));
    }

    #[test]
    fn users_try_in_turn_and_stay_what_they_are() {
        let mut closed = Closed::new(2, Shard::ALL, Numbers::new(Shard::ALL, None), u64::MAX);
        let now = Nanos(10);
        assert_eq!(closed.begin(true).contact, Contact::New);
        closed.think(now, now, Contact::Made);
        assert_eq!(closed.begin(true).contact, Contact::New, "the other has not tried");
        closed.think(now, Nanos(20), Contact::Never);
        assert_eq!(closed.begin(true).contact, Contact::Made);
        let next = closed.begin(true);
        assert!(next.thought && next.contact == Contact::Never);
    }

    #[test]
    fn a_pause_makes_none_late() {
        let mut closed = Closed::new(1, Shard::ALL, Numbers::new(Shard::ALL, None), u64::MAX);
        closed.begin(true);
        closed.think(Nanos(10), Nanos(20), Contact::Made);
        closed.pause();
        assert_eq!((closed.next_due(Nanos(15)), closed.ready(Nanos(30))), (None, 0));
        closed.resume(Nanos(100));
        assert_eq!(closed.next_due(Nanos(100)), Some(Nanos(100)));
    }
}
