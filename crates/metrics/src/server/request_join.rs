//! `RequestJoin` joins the client's time of a request with the times in the servers' logs, by the request's id. Several logs
//! may have one request, as a proxy's and its application's do; each is joined on its own. Memory is bounded: the oldest ids
//! are dropped first, and those without a match are counted.

use std::collections::HashMap;
use std::mem;

use stdx::Nanos;

use super::LOGS_MAX;
use crate::Histogram;

/// Ids that wait for the other side; past it the older half is dropped.
pub const IDS_MAX: usize = 1 << 17;
/// Bytes of an id; longer ones are counted as left out.
const ID_MAX: usize = 128;

/// Requests that both sides know by their id.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestJoin {
    /// The latest ids. When half of [`IDS_MAX`] are there, they replace the old ones.
    young: HashMap<Box<[u8]>, JoinEntry>,
    old: HashMap<Box<[u8]>, JoinEntry>,
    /// Logs by their names, and the client's time less theirs; at most [`LOGS_MAX`].
    logs: Vec<(String, Histogram)>,
    /// Ids that each side had.
    client_ids: u64,
    server_ids: u64,
    left_out: u64,
}

/// The times of one id.
#[derive(Clone, Debug, Default)]
struct JoinEntry {
    client: Option<Nanos>,
    /// Times that wait for the client's, with the index of their log; one of each log.
    servers: Vec<(usize, Nanos)>,
    /// A bit for each log with a time that is joined with the client's.
    met: u64,
}

impl RequestJoin {
    /// Adds a time of a log.
    pub(super) fn server(&mut self, log: &str, id: &[u8], total: Nanos) {
        if id.is_empty() {
            return;
        }
        self.server_ids += 1;
        let Some(log) = self.log(log) else {
            self.left_out += 1;
            return;
        };
        let Some(entry) = self.entry(id) else { return };
        if let Some(time) = entry.server(log, total) {
            self.logs[log].1.record(time.saturating_sub(total));
        }
    }

    /// Adds a time of the client.
    pub(super) fn client(&mut self, id: &[u8], time: Nanos) {
        if id.is_empty() {
            return;
        }
        self.client_ids += 1;
        self.client_met(id, time, 0);
    }

    /// Adds a time of the client that is joined with the logs of `met` already.
    fn client_met(&mut self, id: &[u8], time: Nanos, met: u64) {
        let Some(entry) = self.entry(id) else { return };
        for (log, total) in entry.client(time, met) {
            self.logs[log].1.record(time.saturating_sub(total));
        }
    }

    /// Adds the joined times of another, and its ids without a match.
    pub(super) fn merge(&mut self, other: &Self) {
        let places: Vec<Option<usize>> =
            other.logs.iter().map(|(name, _)| self.log(name)).collect();
        for (place, (_, times)) in places.iter().zip(&other.logs) {
            if let Some(place) = place {
                self.logs[*place].1.merge(times);
            }
        }
        for (id, entry) in other.old.iter().chain(&other.young) {
            for (log, total) in &entry.servers {
                self.server(&other.logs[*log].0, id, *total);
            }
            if let Some(time) = entry.client {
                let met = (0..places.len()).filter(|log| entry.met & bit(*log) > 0);
                let met = met.filter_map(|log| places[log]).fold(0, |met, log| met | bit(log));
                self.client_met(id, time, met);
            }
        }
        self.client_ids += other.client_ids;
        self.server_ids += other.server_ids;
        self.left_out += other.left_out;
    }

    /// The client's time less that of the log of this name.
    pub(super) fn network_and_queue(&self, log: &str) -> Option<&Histogram> {
        self.logs.iter().find(|(name, _)| name == log).map(|(_, times)| times)
    }

    /// Ids dropped without a match; 0 where one side has no ids at all.
    pub(super) fn left_out(&self) -> u64 {
        if self.client_ids > 0 && self.server_ids > 0 { self.left_out } else { 0 }
    }

    /// The index of a log, which is added where there is room.
    fn log(&mut self, name: &str) -> Option<usize> {
        let known = self.logs.iter().position(|(known, _)| known == name);
        known.or_else(|| {
            let room = self.logs.len() < LOGS_MAX;
            room.then(|| self.logs.push((name.to_owned(), Histogram::default())))?;
            Some(self.logs.len() - 1)
        })
    }

    /// The entry of an id, which is added where it is new.
    fn entry(&mut self, id: &[u8]) -> Option<&mut JoinEntry> {
        if id.len() > ID_MAX {
            self.left_out += 1;
            return None;
        }
        if !self.young.contains_key(id) {
            let entry = self.old.remove(id).unwrap_or_default();
            if self.young.len() == IDS_MAX / 2 {
                let gone = mem::replace(&mut self.old, mem::take(&mut self.young));
                self.left_out += gone.values().filter(|entry| entry.met == 0).count() as u64;
            }
            self.young.insert(id.into(), entry);
        }
        self.young.get_mut(id)
    }
}

impl JoinEntry {
    /// Adds a log's time; returns the client's where it is there.
    fn server(&mut self, log: usize, total: Nanos) -> Option<Nanos> {
        if let Some(time) = self.client.filter(|_| self.met & bit(log) == 0) {
            self.met |= bit(log);
            return Some(time);
        }
        match self.servers.iter_mut().find(|(known, _)| *known == log) {
            Some((_, known)) => *known = total,
            None => self.servers.push((log, total)),
        }
        None
    }

    /// Adds the client's time, which is joined with the logs of `met` already; returns the times that it joins.
    fn client(&mut self, time: Nanos, met: u64) -> Vec<(usize, Nanos)> {
        let (meets, rest) =
            mem::take(&mut self.servers).into_iter().partition(|(log, _)| met & bit(*log) == 0);
        let meets: Vec<(usize, Nanos)> = meets;
        (self.client, self.servers) = (Some(time), rest);
        self.met = meets.iter().fold(met, |met, (log, _)| met | bit(*log));
        meets
    }
}

/// A log's bit: its index is below [`LOGS_MAX`], 64.
fn bit(log: usize) -> u64 {
    1 << log
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: usize) -> [u8; 8] {
        n.to_le_bytes()
    }

    fn joined(join: &RequestJoin) -> u64 {
        join.network_and_queue("rails").map_or(0, Histogram::count)
    }

    #[test]
    fn ids_are_bounded_and_those_that_met_nothing_are_counted() {
        let mut join = RequestJoin::default();
        (0..IDS_MAX + 9).for_each(|n| join.client(&id(n), Nanos(1)));
        assert!(join.young.len() + join.old.len() <= IDS_MAX);
        assert_eq!(join.left_out(), 0, "the server has no ids: nothing is lost");
        (0..IDS_MAX + 9).for_each(|n| join.server("rails", &id(n), Nanos(1)));
        assert!(join.left_out() > 0 && join.young.len() + join.old.len() <= IDS_MAX);
        join.client(&[0; ID_MAX + 1], Nanos(1));
        let before = join.left_out();
        join.client(&[0; ID_MAX + 1], Nanos(1));
        assert_eq!(join.left_out(), before + 1);
    }

    #[test]
    fn a_run_of_any_length_is_joined_where_both_sides_take_turns() {
        let mut join = RequestJoin::default();
        let requests = 2 * IDS_MAX + 9;
        for n in 0..requests {
            join.server("rails", &id(n), Nanos(1));
            join.client(&id(n), Nanos(3));
        }
        assert_eq!((joined(&join), join.left_out()), (requests as u64, 0));
    }

    #[test]
    fn joined_times_are_not_joined_again_by_a_merge() {
        let (mut one, mut two) = (RequestJoin::default(), RequestJoin::default());
        two.server("nginx", b"x", Nanos(1));
        one.client(b"x", Nanos(9));
        one.server("rails", b"x", Nanos(2));
        two.merge(&one);
        two.server("rails", b"x", Nanos(2));
        let counts = ["nginx", "rails"].map(|log| two.network_and_queue(log).map(Histogram::count));
        assert_eq!(counts, [Some(1), Some(1)]);
    }
}
