//! `Deadlines`: the hits under way, and whose time is over next. Mostly all have the same time, so that each new one is the last: a
//! list serves. Users may give their requests times of their own: those that are over before an earlier one's are in a heap as well.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use stdx::Nanos;

use crate::hit::Hits;
use crate::ids::{HitId, Id as _};
use crate::list::{BY_DEADLINE, List};

/// Entries of hits that have ended and stay in the heap, beside as many as there are hits.
const LEFT_MAX: usize = 1_024;

/// The hits under way, and whose time is over next.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    /// Hits with a deadline. One that is not in the heap has no later deadline than those behind it that are not.
    ordered: List<BY_DEADLINE, HitId>,
    /// The latest deadline in the list of a hit that is not in the heap.
    latest: Nanos,
    /// Deadlines that are earlier than one before them, with the hit and its number; those of hits that have ended stay for a while.
    early: BinaryHeap<Reverse<(Nanos, u64, u32)>>,
    /// Hits without a deadline.
    endless: List<BY_DEADLINE, HitId>,
}

impl Deadlines {
    /// A hit has begun.
    pub(crate) fn push(&mut self, hits: &mut Hits, id: HitId) {
        let deadline = hits[id].deadline;
        if deadline == Nanos::MAX {
            return self.endless.push(hits, id);
        }
        if deadline >= self.latest {
            self.latest = deadline;
        } else {
            self.push_early(hits, id);
        }
        self.ordered.push(hits, id);
    }

    #[cold]
    fn push_early(&mut self, hits: &Hits, id: HitId) {
        let hit = &hits[id];
        self.early.push(Reverse((hit.deadline, hit.seq, id.index())));
        if self.early.len() > 2 * hits.len() + LEFT_MAX {
            self.early.retain(|Reverse(entry)| is_under_way(hits, *entry));
        }
    }

    /// A hit has ended.
    pub(crate) fn remove(&mut self, hits: &mut Hits, id: HitId) {
        if hits[id].deadline == Nanos::MAX {
            self.endless.remove(hits, id);
            return;
        }
        self.ordered.remove(hits, id);
        if self.ordered.len() == 0 {
            self.latest = Nanos::ZERO;
        }
    }

    /// Any hit that is under way.
    pub(crate) fn first(&self) -> Option<HitId> {
        self.ordered.first().or_else(|| self.endless.first())
    }

    /// When the next hit is overdue, at the earliest.
    pub(crate) fn next(&self, hits: &Hits) -> Option<Nanos> {
        let first = self.ordered.first().map(|id| hits[id].deadline);
        let early = self.early.peek().map(|Reverse((deadline, ..))| *deadline);
        match (first, early) {
            (Some(first), Some(early)) => Some(first.min(early)),
            (first, early) => first.or(early),
        }
    }

    /// A hit that is overdue.
    pub(crate) fn overdue(&mut self, hits: &Hits, now: Nanos) -> Option<HitId> {
        while let Some(Reverse(entry)) = self.early.peek().copied() {
            if is_under_way(hits, entry) {
                if entry.0 <= now {
                    return Some(HitId::from_index(entry.2));
                }
                break;
            }
            self.early.pop();
        }
        self.ordered.first().filter(|id| hits[*id].deadline <= now)
    }
}

/// Whether an entry's hit has not ended.
fn is_under_way(hits: &Hits, (_, seq, id): (Nanos, u64, u32)) -> bool {
    hits.get(HitId::from_index(id)).is_some_and(|hit| hit.seq == seq)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hit::Hit;
    use crate::ids::Arena;

    #[test]
    fn hits_are_overdue_in_the_order_of_their_deadlines() {
        let mut hits: Hits = Arena::with_capacity(8);
        let mut all = Deadlines::default();
        for (seq, deadline) in [60, 1, u64::MAX, 30, 60, 2].into_iter().enumerate() {
            let mut hit = Hit::new(seq as u64, Nanos::ZERO);
            hit.deadline = Nanos(deadline);
            let id = hits.insert(hit);
            all.push(&mut hits, id);
        }
        let mut order = Vec::new();
        for now in [0, 1, 5, 60, 100] {
            while let Some(id) = all.overdue(&hits, Nanos(now)) {
                all.remove(&mut hits, id);
                order.push((now, hits.remove(id).seq));
            }
        }
        assert_eq!(order, [(1, 1), (5, 5), (60, 3), (60, 0), (60, 4)]);
        assert_eq!(all.next(&hits), None);
        let endless = all.first().expect("it has no end");
        assert_eq!(hits[endless].seq, 2);
    }

    #[test]
    fn what_has_ended_is_forgotten() {
        let mut hits: Hits = Arena::with_capacity(8);
        let mut all = Deadlines::default();
        let mut begin = |hits: &mut Hits, seq: u64, deadline: u64| {
            let mut hit = Hit::new(seq, Nanos::ZERO);
            hit.deadline = Nanos(deadline);
            let id = hits.insert(hit);
            all.push(hits, id);
            id
        };
        begin(&mut hits, 0, 1_000_000);
        for seq in 1..10_000 {
            let id = begin(&mut hits, seq, 10);
            all_end(&mut hits, id);
        }
        fn all_end(hits: &mut Hits, id: HitId) {
            hits.remove(id);
        }
        assert!(all.early.len() < 2 * LEFT_MAX, "{}", all.early.len());
    }
}
