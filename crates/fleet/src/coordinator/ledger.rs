//! `Ledger`: which deltas of one agent were taken and applied: each once, in order, without a hole.

use std::collections::BTreeMap;

use crate::counts::Counts;
use crate::ids::Seq;
use crate::message::Delta;

/// Deltas that came before their turn and are held, at most, for each agent.
pub const HOLD_MAX: usize = 32;

/// The deltas of one agent.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    /// Written to the journal, or on the way there.
    taken: Seq,
    /// In the journal, and counted.
    applied: Seq,
    /// The sum of the applied ones.
    counts: Counts,
    /// What the agent counted itself, by the last one applied.
    totals: Counts,
    payloads_lost: u64,
    is_last: bool,
    hold: BTreeMap<Seq, Delta>,
}

impl Ledger {
    /// The deltas that this one brings in turn: itself and what was held behind it; none where it came before, or before its
    /// turn.
    pub(super) fn take(&mut self, delta: Delta) -> Vec<Delta> {
        if delta.seq > self.taken.next() {
            if self.hold.len() < HOLD_MAX {
                self.hold.insert(delta.seq, delta);
            }
            return Vec::new();
        }
        if delta.seq <= self.taken {
            return Vec::new();
        }
        self.taken = delta.seq;
        let mut taken = vec![delta];
        while let Some(next) = self.hold.remove(&self.taken.next()) {
            self.taken = next.seq;
            taken.push(next);
        }
        self.hold.retain(|seq, _| *seq > self.taken);
        taken
    }

    /// Counts a delta of the journal.
    pub(super) fn apply(&mut self, delta: &Delta) {
        debug_assert_eq!(delta.seq, self.applied.next(), "the journal has no hole");
        self.applied = delta.seq;
        self.taken = self.taken.max(delta.seq);
        // A sum beyond 2^64 is false: the difference from the totals shows it.
        self.counts = self.counts.checked_add(delta.counts).unwrap_or_default();
        self.totals = delta.totals;
        self.payloads_lost = delta.payloads_lost;
        self.is_last |= delta.last;
    }

    /// The last one applied.
    pub(super) fn applied(&self) -> Seq {
        self.applied
    }

    /// The last one taken.
    pub(super) fn taken(&self) -> Seq {
        self.taken
    }

    /// No delta follows, and all are applied.
    pub(super) fn is_complete(&self) -> bool {
        self.is_last
    }

    /// The sum of the applied deltas.
    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// What the agent counted itself.
    pub(super) fn totals(&self) -> Counts {
        self.totals
    }

    /// Deltas whose payload the agent had no room for.
    pub(super) fn payloads_lost(&self) -> u64 {
        self.payloads_lost
    }

    /// Deltas that wait for their turn.
    pub(super) fn held(&self) -> usize {
        self.hold.len()
    }
}

#[cfg(test)]
mod tests {
    use stdx::Nanos;

    use super::*;

    fn delta(seq: u64) -> Delta {
        let one = Counts { planned: 1, answered: 1, ..Counts::default() };
        let totals = Counts { planned: seq, answered: seq, ..Counts::default() };
        Delta {
            seq: Seq(seq),
            from: Nanos(0),
            to: Nanos(1),
            counts: one,
            totals,
            payload: Vec::new(),
            payloads_lost: 0,
            last: seq == 9,
        }
    }

    fn take(ledger: &mut Ledger, seq: u64) -> Vec<u64> {
        let taken = ledger.take(delta(seq));
        taken.iter().for_each(|delta| ledger.apply(delta));
        taken.iter().map(|delta| delta.seq.0).collect()
    }

    #[test]
    fn each_is_taken_once_and_in_order() {
        let mut ledger = Ledger::default();
        let order = [1, 1, 3, 5, 4, 3, 2, 2, 5, 6, 9, 8, 7, 9];
        let expect: [&[u64]; 14] = [
            &[1],
            &[],
            &[],
            &[],
            &[],
            &[],
            &[2, 3, 4, 5],
            &[],
            &[],
            &[6],
            &[],
            &[],
            &[7, 8, 9],
            &[],
        ];
        for (seq, expect) in order.iter().zip(expect) {
            assert_eq!(take(&mut ledger, *seq), expect, "{seq}");
        }
        assert!(ledger.is_complete());
        assert_eq!(ledger.counts(), ledger.totals());
        assert_eq!(ledger.held(), 0);
    }

    #[test]
    fn what_is_held_is_bounded() {
        let mut ledger = Ledger::default();
        (2..1000).for_each(|seq| assert!(take(&mut ledger, seq).is_empty()));
        assert_eq!(ledger.held(), HOLD_MAX);
        assert_eq!(take(&mut ledger, 1).len(), HOLD_MAX + 1);
    }
}
