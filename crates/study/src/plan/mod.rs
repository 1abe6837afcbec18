//! The plan of a study: in which order the runs of all variants under all workloads come, which is next after those that have
//! ended, and which are left out. Orderings that are expected are judged here too.
//!
//! ```text
//! Cells (workload × variant), each with its repeats, seed ──▶ order ──▶ Slots
//! Slots, how those so far ended             ──▶ next  ──▶ the slot to run, or none
//! "A < B: metric", figures of the runs      ──▶ Ordering::judge ──▶ Judged
//! ```

mod figure;
mod ordering;

use stdx::Prng;

pub use figure::{Better, Figure, Unit};
pub use ordering::{Judged, Ordering, OrderingError, Relation};

/// So many failures of a variant in a row leave out the rest of its runs.
pub const FAILURES_MAX: usize = 3;

/// One variant under one workload, each by its place in the study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    /// The workload's place.
    pub workload: usize,
    /// The variant's place.
    pub variant: usize,
}

/// One run of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Which repeat of its cell it is, from 1.
    pub repeat: usize,
    /// What is run.
    pub cell: Cell,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was measured.
    Measured,
    /// A server or the load generator gave way.
    Failed,
}

/// The runs of all cells, each with its repeats, in their order: each repeat is a block in which every cell that has so many
/// comes once, shuffled. What drifts while the study goes on, drifts for all cells alike. The same seed gives the same order.
#[must_use]
pub fn order(cells: &[(Cell, usize)], seed: u64) -> Vec<Slot> {
    let mut random = Prng::new(stdx::mix(seed, 0x57d1));
    let mut slots = Vec::with_capacity(cells.iter().map(|(_, repeats)| repeats).sum());
    for repeat in 1..=cells.iter().map(|(_, repeats)| *repeats).max().unwrap_or(0) {
        let left = cells.iter().filter(|(_, repeats)| *repeats >= repeat);
        let mut block: Vec<Cell> = left.map(|(cell, _)| *cell).collect();
        // Fisher and Yates' shuffle.
        for upto in (1..block.len()).rev() {
            block.swap(upto, random.below(upto as u64 + 1) as usize);
        }
        slots.extend(block.into_iter().map(|cell| Slot { repeat, cell }));
    }
    slots
}

/// The place of the run that is next: the first in order that has not ended, of a variant that is not given up.
/// `ended` has an entry for each of the slots.
#[must_use]
pub fn next(slots: &[Slot], ended: &[Option<Ended>]) -> Option<usize> {
    debug_assert_eq!(slots.len(), ended.len());
    let open =
        |at: &usize| ended[*at].is_none() && !is_given_up(slots, ended, slots[*at].cell.variant);
    (0..slots.len()).find(open)
}

/// The last [`FAILURES_MAX`] runs of this variant that have ended all failed.
#[must_use]
pub fn is_given_up(slots: &[Slot], ended: &[Option<Ended>], variant: usize) -> bool {
    let of_variant = slots.iter().zip(ended).filter(|(slot, _)| slot.cell.variant == variant);
    let failures = of_variant
        .filter_map(|(_, ended)| *ended)
        .rev()
        .take_while(|ended| *ended == Ended::Failed)
        .count();
    failures >= FAILURES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cells(workloads: usize, variants: usize) -> Vec<Cell> {
        let of = |workload| (0..variants).map(move |variant| Cell { workload, variant });
        (0..workloads).flat_map(of).collect()
    }

    fn all(cells: Vec<Cell>, repeats: usize) -> Vec<(Cell, usize)> {
        cells.into_iter().map(|cell| (cell, repeats)).collect()
    }

    proptest! {
        /// However many there are, each block has every cell once.
        #[test]
        fn blocks_are_whole(workloads in 1usize..5, variants in 1usize..6, repeats in 1usize..8, seed: u64) {
            let cells = cells(workloads, variants);
            let slots = order(&all(cells.clone(), repeats), seed);
            prop_assert_eq!(slots.len(), cells.len() * repeats);
            for (number, block) in slots.chunks(cells.len()).enumerate() {
                let mut found: Vec<Cell> = block.iter().map(|slot| slot.cell).collect();
                found.sort_unstable();
                prop_assert_eq!(&found, &cells);
                prop_assert!(block.iter().all(|slot| slot.repeat == number + 1));
            }
            prop_assert_eq!(&slots, &order(&all(cells, repeats), seed));
        }
    }

    #[test]
    fn a_cell_has_its_own_repeats() {
        let both = cells(2, 1);
        let slots = order(&[(both[0], 3), (both[1], 1)], 1);
        let of = |cell| -> Vec<usize> {
            slots.iter().filter(|slot| slot.cell == cell).map(|slot| slot.repeat).collect()
        };
        assert_eq!((of(both[0]), of(both[1])), (vec![1, 2, 3], vec![1]));
        assert!(slots.is_sorted_by_key(|slot| slot.repeat));
        assert!(order(&[], 1).is_empty());
    }

    /// Over many seeds every variant is first equally often (each some 250 of 1000 times).
    #[test]
    fn no_variant_is_favoured() {
        let cells = all(cells(1, 4), 1);
        let mut first = [0; 4];
        (0..1000).for_each(|seed| first[order(&cells, seed)[0].cell.variant] += 1);
        assert!(first.iter().all(|times| (200..300).contains(times)), "{first:?}");
    }

    #[test]
    fn what_has_ended_is_not_run_again() {
        let slots = order(&all(cells(2, 2), 2), 1);
        let mut ended = vec![None; slots.len()];
        let mut ran = Vec::new();
        ended[0] = Some(Ended::Measured);
        ended[3] = Some(Ended::Failed);
        while let Some(at) = next(&slots, &ended) {
            ended[at] = Some(Ended::Measured);
            ran.push(at);
        }
        assert_eq!(ran, [1, 2, 4, 5, 6, 7]);
    }

    #[test]
    fn three_failures_in_a_row_are_enough() {
        let slots = order(&all(cells(1, 2), 6), 9);
        let of_bad = |ended: &[Option<Ended>]| {
            let pairs = slots.iter().zip(ended);
            pairs.filter(|(slot, ended)| slot.cell.variant == 1 && ended.is_some()).count()
        };
        let mut ended = vec![None; slots.len()];
        while let Some(at) = next(&slots, &ended) {
            let bad = slots[at].cell.variant == 1;
            ended[at] = Some(if bad { Ended::Failed } else { Ended::Measured });
        }
        assert_eq!(of_bad(&ended), FAILURES_MAX);
        assert_eq!(ended.iter().filter(|one| **one == Some(Ended::Measured)).count(), 6);
        assert!(is_given_up(&slots, &ended, 1) && !is_given_up(&slots, &ended, 0));
        // One that went well between them starts the count anew.
        let mut ended = vec![None; slots.len()];
        let mut failed = 0;
        while let Some(at) = next(&slots, &ended) {
            let well = slots[at].cell.variant == 0 || slots[at].repeat.is_multiple_of(3);
            failed += usize::from(!well);
            ended[at] = Some(if well { Ended::Measured } else { Ended::Failed });
        }
        assert_eq!(failed, 4);
    }
}
