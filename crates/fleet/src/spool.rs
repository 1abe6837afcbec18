//! `Spool`: the deltas that an agent made and the coordinator has not applied yet.

use std::collections::VecDeque;

use stdx::Nanos;

use crate::counts::Counts;
use crate::ids::Seq;
use crate::message::{Delta, PAYLOAD_MAX};

/// The most payload bytes of a spool by default: at 6 KiB a second, three hours without a coordinator.
pub const SPOOL_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The most deltas of a spool: a day at one a second.
pub const SPOOL_LEN_MAX: usize = 86_400;

/// Deltas that wait to be applied, bounded in bytes and number. Counts are never lost: a delta for which there is no room loses
/// its payload, and beyond the number the newest delta grows instead.
#[derive(Clone, Debug)]
pub struct Spool {
    deltas: VecDeque<Delta>,
    bytes: usize,
    bytes_max: usize,
    totals: Counts,
    made: Seq,
    payloads_lost: u64,
}

impl Spool {
    /// An empty spool for so many bytes of payload.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        Self {
            deltas: VecDeque::new(),
            bytes: 0,
            bytes_max,
            totals: Counts::default(),
            made: Seq(0),
            payloads_lost: 0,
        }
    }

    /// Takes what was measured between `from` and `to`.
    pub fn push(&mut self, (from, to): (Nanos, Nanos), counts: Counts, payload: Vec<u8>) {
        // 2^64 requests do not happen; a wrong sum would show at the end.
        self.totals = self.totals.checked_add(counts).unwrap_or(self.totals);
        let fits = payload.len() <= PAYLOAD_MAX
            && self.bytes.saturating_add(payload.len()) <= self.bytes_max
            && self.deltas.len() < SPOOL_LEN_MAX;
        self.payloads_lost += u64::from(!fits && !payload.is_empty());
        let payload = if fits { payload } else { Vec::new() };
        self.bytes += payload.len();
        if self.deltas.len() >= SPOOL_LEN_MAX {
            self.grow_newest(to, counts);
            return;
        }
        self.made = self.made.next();
        self.deltas.push_back(Delta {
            seq: self.made,
            from,
            to,
            counts,
            totals: self.totals,
            payload,
            payloads_lost: self.payloads_lost,
            last: false,
        });
    }

    /// The newest delta was never sent: a window is far shorter than a full spool.
    fn grow_newest(&mut self, to: Nanos, counts: Counts) {
        if let Some(newest) = self.deltas.back_mut() {
            newest.to = to;
            newest.counts = newest.counts.checked_add(counts).unwrap_or(newest.counts);
            newest.totals = self.totals;
            newest.payloads_lost = self.payloads_lost;
        }
    }

    /// Marks the end: the last delta has all totals. An empty one follows where the newest may have been sent already.
    pub fn close(&mut self, at: Nanos) {
        if self.deltas.len() < SPOOL_LEN_MAX {
            self.push((at, at), Counts::default(), Vec::new());
        }
        if let Some(newest) = self.deltas.back_mut() {
            newest.last = true;
        }
    }

    /// Forgets deltas up to `seq`: they are applied and on the coordinator's disk.
    pub fn applied(&mut self, seq: Seq) {
        while self.deltas.front().is_some_and(|delta| delta.seq <= seq) {
            let delta = self.deltas.pop_front();
            self.bytes -= delta.map_or(0, |delta| delta.payload.len());
        }
    }

    /// The delta with this number, while it waits.
    #[must_use]
    pub fn get(&self, seq: Seq) -> Option<&Delta> {
        let first = self.deltas.front()?.seq;
        self.deltas.get(usize::try_from(seq.0.checked_sub(first.0)?).ok()?)
    }

    /// The number of the newest delta; 0 before the first.
    #[must_use]
    pub fn made(&self) -> Seq {
        self.made
    }

    /// The oldest that waits.
    #[must_use]
    pub fn oldest(&self) -> Option<Seq> {
        self.deltas.front().map(|delta| delta.seq)
    }

    /// Every delta was applied.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.deltas.is_empty()
    }

    /// Payload bytes that wait.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Counts = Counts { planned: 2, answered: 1, failed: 0, not_sent: 0 };

    fn push(spool: &mut Spool, bytes: usize) {
        spool.push((Nanos(0), Nanos(1)), ONE, vec![1; bytes]);
    }

    #[test]
    fn deltas_wait_until_they_are_applied() {
        let mut spool = Spool::new(100);
        (0..3).for_each(|_| push(&mut spool, 10));
        assert_eq!((spool.made(), spool.oldest(), spool.bytes()), (Seq(3), Some(Seq(1)), 30));
        spool.applied(Seq(2));
        assert_eq!((spool.get(Seq(2)), spool.bytes()), (None, 10));
        let third = spool.get(Seq(3)).unwrap();
        assert_eq!((third.totals.planned, third.counts.planned), (6, 2));
        spool.applied(Seq(9));
        assert!(spool.is_empty());
        assert_eq!(spool.made(), Seq(3), "numbers are never used again");
    }

    #[test]
    fn a_full_spool_loses_payloads_and_no_counts() {
        let mut spool = Spool::new(25);
        (0..4).for_each(|_| push(&mut spool, 10));
        let fourth = spool.get(Seq(4)).unwrap();
        assert_eq!((fourth.payload.len(), fourth.payloads_lost, fourth.totals.planned), (0, 2, 8));
        assert_eq!(spool.bytes(), 20);
        spool.push((Nanos(0), Nanos(1)), ONE, vec![0; PAYLOAD_MAX + 1]);
        assert_eq!(spool.get(Seq(5)).unwrap().payloads_lost, 3, "too large at any time");
    }

    #[test]
    fn a_day_without_a_coordinator_ends_in_one_delta() {
        let mut spool = Spool::new(10);
        (0..SPOOL_LEN_MAX + 5).for_each(|_| push(&mut spool, 0));
        spool.close(Nanos(9));
        let newest = spool.get(spool.made()).unwrap();
        assert_eq!((newest.seq, newest.last), (Seq(SPOOL_LEN_MAX as u64), true));
        assert_eq!(newest.counts.planned, 2 * 6);
        assert_eq!(newest.totals.planned, 2 * (SPOOL_LEN_MAX as u64 + 5));
    }
}
