//! `Pairs`: what the client and the logs of the servers told of the same request, by its id. Several logs may know one
//! request, as a proxy's and its application's do: each is joined with the client's time by itself. What is held is
//! bounded: the oldest ids go first, and those that met nothing are counted.

use std::collections::HashMap;
use std::mem;

use stdx::Nanos;

use super::LOGS_MAX;
use crate::Histogram;

/// Ids held for what the other side will tell of them; the oldest are given up, half of all at once.
pub const IDS_MAX: usize = 1 << 17;
/// Bytes of an id; longer ones are counted as left out.
const ID_MAX: usize = 128;

/// Requests that both sides know by their id.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    /// What was told of an id lately; when half of [`IDS_MAX`] are there, they take the place of the old.
    young: HashMap<Box<[u8]>, Held>,
    old: HashMap<Box<[u8]>, Held>,
    /// Logs by their names, and the client's time less theirs; at most [`LOGS_MAX`].
    logs: Vec<(String, Histogram)>,
    /// Ids that each side told of.
    client_ids: u64,
    server_ids: u64,
    left_out: u64,
}

/// What was told of an id.
#[derive(Clone, Debug, Default)]
struct Held {
    client: Option<Nanos>,
    /// Times that wait for the client's, by the place of their log; one of each log.
    servers: Vec<(usize, Nanos)>,
    /// The bits of the logs that have met the client's time.
    met: u64,
}

impl Pairs {
    /// Takes what a log told.
    pub(super) fn server(&mut self, log: &str, id: &[u8], total: Nanos) {
        if id.is_empty() {
            return;
        }
        self.server_ids += 1;
        let Some(log) = self.log(log) else {
            self.left_out += 1;
            return;
        };
        let Some(held) = self.held(id) else { return };
        if let Some(time) = held.server(log, total) {
            self.logs[log].1.record(time.saturating_sub(total));
        }
    }

    /// Takes what the client saw.
    pub(super) fn client(&mut self, id: &[u8], time: Nanos) {
        if id.is_empty() {
            return;
        }
        self.client_ids += 1;
        self.client_met(id, time, 0);
    }

    /// The same of a time that has met these logs before.
    fn client_met(&mut self, id: &[u8], time: Nanos, met: u64) {
        let Some(held) = self.held(id) else { return };
        for (log, total) in held.client(time, met) {
            self.logs[log].1.record(time.saturating_sub(total));
        }
    }

    /// Adds all that another holds and has joined.
    pub(super) fn merge(&mut self, other: &Self) {
        let places: Vec<Option<usize>> =
            other.logs.iter().map(|(name, _)| self.log(name)).collect();
        for (place, (_, times)) in places.iter().zip(&other.logs) {
            if let Some(place) = place {
                self.logs[*place].1.merge(times);
            }
        }
        for (id, held) in other.old.iter().chain(&other.young) {
            for (log, total) in &held.servers {
                self.server(&other.logs[*log].0, id, *total);
            }
            if let Some(time) = held.client {
                let met = (0..places.len()).filter(|log| held.met & bit(*log) > 0);
                let met = met.filter_map(|log| places[log]).fold(0, |met, log| met | bit(log));
                self.client_met(id, time, met);
            }
        }
        self.client_ids += other.client_ids;
        self.server_ids += other.server_ids;
        self.left_out += other.left_out;
    }

    /// The client's time less that of the log of this name.
    pub(super) fn beyond(&self, log: &str) -> Option<&Histogram> {
        self.logs.iter().find(|(name, _)| name == log).map(|(_, times)| times)
    }

    /// Ids given up before they met. Where one side knows none, there was nothing to meet.
    pub(super) fn left_out(&self) -> u64 {
        if self.client_ids > 0 && self.server_ids > 0 { self.left_out } else { 0 }
    }

    /// The place of a log, made where there is room.
    fn log(&mut self, name: &str) -> Option<usize> {
        let known = self.logs.iter().position(|(known, _)| known == name);
        known.or_else(|| {
            let room = self.logs.len() < LOGS_MAX;
            room.then(|| self.logs.push((name.to_owned(), Histogram::default())))?;
            Some(self.logs.len() - 1)
        })
    }

    /// What is held of an id, made where it is new.
    fn held(&mut self, id: &[u8]) -> Option<&mut Held> {
        if id.len() > ID_MAX {
            self.left_out += 1;
            return None;
        }
        if !self.young.contains_key(id) {
            let held = self.old.remove(id).unwrap_or_default();
            if self.young.len() == IDS_MAX / 2 {
                let gone = mem::replace(&mut self.old, mem::take(&mut self.young));
                self.left_out += gone.values().filter(|held| held.met == 0).count() as u64;
            }
            self.young.insert(id.into(), held);
        }
        self.young.get_mut(id)
    }
}

impl Held {
    /// Takes a log's time; gives the client's where the two meet.
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

    /// Takes the client's time, which has met these logs before; gives the times that it meets.
    fn client(&mut self, time: Nanos, met: u64) -> Vec<(usize, Nanos)> {
        let (meets, rest) =
            mem::take(&mut self.servers).into_iter().partition(|(log, _)| met & bit(*log) == 0);
        let meets: Vec<(usize, Nanos)> = meets;
        (self.client, self.servers) = (Some(time), rest);
        self.met = meets.iter().fold(met, |met, (log, _)| met | bit(*log));
        meets
    }
}

/// A log's bit: its place is below [`LOGS_MAX`], 64.
fn bit(log: usize) -> u64 {
    1 << log
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: usize) -> [u8; 8] {
        n.to_le_bytes()
    }

    fn joined(pairs: &Pairs) -> u64 {
        pairs.beyond("rails").map_or(0, Histogram::count)
    }

    #[test]
    fn ids_are_bounded_and_those_that_met_nothing_are_counted() {
        let mut pairs = Pairs::default();
        (0..IDS_MAX + 9).for_each(|n| pairs.client(&id(n), Nanos(1)));
        assert!(pairs.young.len() + pairs.old.len() <= IDS_MAX);
        assert_eq!(pairs.left_out(), 0, "the server tells of none: nothing is lost");
        (0..IDS_MAX + 9).for_each(|n| pairs.server("rails", &id(n), Nanos(1)));
        assert!(pairs.left_out() > 0 && pairs.young.len() + pairs.old.len() <= IDS_MAX);
        pairs.client(&[0; ID_MAX + 1], Nanos(1));
        let before = pairs.left_out();
        pairs.client(&[0; ID_MAX + 1], Nanos(1));
        assert_eq!(pairs.left_out(), before + 1);
    }

    #[test]
    fn a_run_of_any_length_is_joined_where_both_sides_tell_in_turn() {
        let mut pairs = Pairs::default();
        let requests = 2 * IDS_MAX + 9;
        for n in 0..requests {
            pairs.server("rails", &id(n), Nanos(1));
            pairs.client(&id(n), Nanos(3));
        }
        assert_eq!((joined(&pairs), pairs.left_out()), (requests as u64, 0));
    }

    #[test]
    fn what_has_met_does_not_meet_again_when_merged() {
        let (mut one, mut two) = (Pairs::default(), Pairs::default());
        two.server("nginx", b"x", Nanos(1));
        one.client(b"x", Nanos(9));
        one.server("rails", b"x", Nanos(2));
        two.merge(&one);
        two.server("rails", b"x", Nanos(2));
        let counts = ["nginx", "rails"].map(|log| two.beyond(log).map(Histogram::count));
        assert_eq!(counts, [Some(1), Some(1)]);
    }
}
