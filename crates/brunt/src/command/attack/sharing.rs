//! `Sharing`: did connections carry several hits at once? Users may have been meant as streams of HTTP/2 connections, while the
//! server chose HTTP/1.1: then they stand in line, and response times are as many times too long. Rows tell.

use engine::{Protocol, Settings};
use metrics::{Batch, FailureKind, Sample};
use stdx::{Distribution, Nanos};
use workload::{Load, Plan};

/// The connections that are looked at, the first that carry a hit; their like speak the same protocol.
const WATCHED_MAX: usize = 64;

/// What connections carried that more users share than there are of them.
pub(super) struct Sharing {
    users: u64,
    connections: u64,
    /// A connection, and when the last hit on it ended.
    watched: Vec<(u32, Nanos)>,
    seen: Seen,
}

/// What the rows showed so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// No connection carried two hits.
    Nothing,
    /// Some carried several, one after the other.
    InLine,
    /// One carried several at once.
    Together,
}

impl Sharing {
    /// `None` where users have a connection each, or ALPN decides nothing. Users who think need not be under way together.
    pub(super) fn watch(plan: &Plan, settings: &Settings) -> Option<Self> {
        let Load::Closed { users } = plan.load else { return None };
        let connections = settings.max_connections? as u64;
        let undecided = settings.protocol == Protocol::Alpn && plan.think == Distribution::None;
        let (watched, seen) = (Vec::new(), Seen::Nothing);
        (undecided && users > connections).then_some(Self { users, connections, watched, seen })
    }

    /// Looks at rows; those of one connection come in the order in which they ended.
    pub(super) fn add(&mut self, batch: &Batch) {
        if self.seen != Seen::Together {
            let carried = |sample: &&Sample| sample.conn > 0 && sample.failure == FailureKind::None;
            batch.samples.iter().filter(carried).for_each(|sample| self.add_one(sample));
        }
    }

    fn add_one(&mut self, sample: &Sample) {
        let room = self.watched.len() < WATCHED_MAX;
        match self.watched.iter_mut().find(|(conn, _)| *conn == sample.conn) {
            Some((_, done)) if self.seen == Seen::Together || sample.sent < *done => {
                self.seen = Seen::Together;
            }
            Some((_, done)) => (*done, self.seen) = (sample.done, Seen::InLine),
            None if room => self.watched.push((sample.conn, sample.done)),
            None => {}
        }
    }

    /// What to say where users stood in line.
    pub(super) fn complaint(&self) -> Option<String> {
        let Self { users, connections, .. } = self;
        (self.seen == Seen::InLine).then(|| {
            let line = stdx::counted(*users, "user");
            let connections = stdx::counted(*connections, "connection");
            format!(
                "no connection had two requests under way: the server speaks HTTP/1.1 (or allows one stream), and \
                 {line} stood in line for {connections}; response times count the wait (give \
                 -c={users} without -m)"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Connection, sent, done in milliseconds, in order of completion.
    fn check(rows: &[(u32, u64, u64)], expect: Seen) {
        let (watched, seen) = (Vec::new(), Seen::Nothing);
        let mut sharing = Sharing { users: 8, connections: 2, watched, seen };
        let ms = Nanos::from_millis;
        let row = |&(conn, sent, done)| Sample {
            conn,
            sent: ms(sent),
            done: ms(done),
            ..Sample::default()
        };
        sharing.add(&Batch { samples: rows.iter().map(row).collect(), ..Batch::default() });
        assert_eq!(sharing.seen, expect, "{rows:?}");
        assert_eq!(sharing.complaint().is_some(), expect == Seen::InLine);
    }

    #[test]
    fn rows_tell_whether_users_stood_in_line() {
        check(&[], Seen::Nothing);
        check(&[(1, 0, 5), (2, 0, 6)], Seen::Nothing);
        check(&[(1, 0, 5), (2, 0, 6), (1, 5, 9)], Seen::InLine);
        check(&[(1, 0, 5), (1, 5, 9), (1, 6, 10), (1, 10, 11)], Seen::Together);
        check(&[(0, 0, 5), (0, 0, 5)], Seen::Nothing);
        let many: Vec<_> = (1..200).map(|conn| (conn, 0, 5)).collect();
        check(&many, Seen::Nothing);
    }
}
