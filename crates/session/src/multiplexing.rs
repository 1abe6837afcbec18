//! `MultiplexingCheck`: whether connections carried several requests at once. Users may be meant as streams of HTTP/2
//! connections while the server chooses HTTP/1.1: then requests wait for each other, and response times count the wait.

use engine::{Protocol, Settings};
use metrics::{Batch, FailureKind, Sample};
use stdx::{Distribution, Nanos};
use workload::{Load, Plan};

use crate::error::ObserverError;
use crate::observer::Observer;

/// The connections that are checked, the first that carry a request; the others speak the same protocol.
const WATCHED_MAX: usize = 64;

/// Checks the connections of a run that has more users than connections.
#[derive(Debug)]
pub struct MultiplexingCheck {
    users: u64,
    connections: u64,
    /// A connection, and when the last hit on it ended.
    watched: Vec<(u32, Nanos)>,
    found: Multiplexing,
}

/// Users whose requests waited for each other, since no connection carried two at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Serialized {
    /// The users.
    pub users: u64,
    /// The connections that they share.
    pub connections: u64,
}

/// What the rows showed so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Multiplexing {
    /// No connection carried two hits.
    Unknown,
    /// Some carried several, one after the other.
    Serialized,
    /// One carried several at once.
    Concurrent,
}

impl MultiplexingCheck {
    /// `None` where each user has a connection, or the protocol is certain. Users who think need not be under way together.
    #[must_use]
    pub fn new(plan: &Plan, settings: &Settings) -> Option<Self> {
        let Load::Closed { users } = plan.load else { return None };
        let connections = settings.max_connections? as u64;
        let undecided = settings.protocol == Protocol::Alpn && plan.think == Distribution::None;
        let (watched, found) = (Vec::new(), Multiplexing::Unknown);
        (undecided && users > connections).then_some(Self { users, connections, watched, found })
    }

    fn add_one(&mut self, sample: &Sample) {
        let room = self.watched.len() < WATCHED_MAX;
        match self.watched.iter_mut().find(|(conn, _)| *conn == sample.conn) {
            Some((_, done)) if self.found == Multiplexing::Concurrent || sample.sent < *done => {
                self.found = Multiplexing::Concurrent;
            }
            Some((_, done)) => (*done, self.found) = (sample.done, Multiplexing::Serialized),
            None if room => self.watched.push((sample.conn, sample.done)),
            None => {}
        }
    }

    /// The users whose requests waited for each other; `None` where a connection carried two at once, or none carried two.
    #[must_use]
    pub fn serialized(&self) -> Option<Serialized> {
        let Self { users, connections, .. } = *self;
        (self.found == Multiplexing::Serialized).then_some(Serialized { users, connections })
    }
}

impl Observer for MultiplexingCheck {
    /// The rows of one connection come in the order in which they ended.
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        if self.found != Multiplexing::Concurrent {
            let carried = |sample: &&Sample| sample.conn > 0 && sample.failure == FailureKind::None;
            batch.samples.iter().filter(carried).for_each(|sample| self.add_one(sample));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Connection, sent, done in milliseconds, in order of completion.
    fn check(rows: &[(u32, u64, u64)], expect: Multiplexing) {
        let (watched, found) = (Vec::new(), Multiplexing::Unknown);
        let mut check = MultiplexingCheck { users: 8, connections: 2, watched, found };
        let ms = Nanos::from_millis;
        let row = |&(conn, sent, done)| Sample {
            conn,
            sent: ms(sent),
            done: ms(done),
            ..Sample::default()
        };
        check.rows(&Batch { samples: rows.iter().map(row).collect(), ..Batch::default() }).unwrap();
        assert_eq!(check.found, expect, "{rows:?}");
        assert_eq!(check.serialized().is_some(), expect == Multiplexing::Serialized);
    }

    #[test]
    fn rows_show_whether_requests_waited_for_each_other() {
        check(&[], Multiplexing::Unknown);
        check(&[(1, 0, 5), (2, 0, 6)], Multiplexing::Unknown);
        check(&[(1, 0, 5), (2, 0, 6), (1, 5, 9)], Multiplexing::Serialized);
        check(&[(1, 0, 5), (1, 5, 9), (1, 6, 10), (1, 10, 11)], Multiplexing::Concurrent);
        check(&[(0, 0, 5), (0, 0, 5)], Multiplexing::Unknown);
        let many: Vec<_> = (1..200).map(|conn| (conn, 0, 5)).collect();
        check(&many, Multiplexing::Unknown);
    }
}
