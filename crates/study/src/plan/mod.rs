//! The plan of a study: in which order the runs of all variants under all workloads come, which is next after those that have
//! ended, and which are left out. Orderings that are expected are judged here too.
//!
//! ```text
//! Cells (workload × variant), each with its repeats, seed ──▶ order ──▶ Slots
//! Slots, how those so far ended             ──▶ next  ──▶ the slot to run, or none
//! "A < B: metric", figures of the runs      ──▶ Ordering::judge ──▶ OrderingOutcome
//! ```

mod figure;
mod ordering;
mod until_sure;

use std::collections::BTreeSet;

use stdx::Prng;

pub use figure::{Better, Figure, Unit};
pub use ordering::{Ordering, OrderingError, OrderingOutcome, Relation};
pub use until_sure::{looks, undecided};

/// After so many failures of a cell in a row the rest of its runs is left out; after so many runs of a variant without ready
/// servers, the rest of all its runs.
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
pub enum RunOutcome {
    /// It was measured.
    Measured,
    /// A server or the load generator gave way.
    Failed,
    /// It failed before its servers were ready: whatever the workload is, it had no part in that.
    Unready,
}

impl RunOutcome {
    /// It was not measured.
    #[must_use]
    pub fn is_failure(self) -> bool {
        self != Self::Measured
    }
}

/// What is run no more, though runs of it were planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenUp {
    /// The variant at this place: its servers do not get ready.
    Variant(usize),
    /// A variant under one workload: its runs fail.
    Cell(Cell),
}

/// The runs of all cells, each with its repeats, in their order: each repeat is a block in which every cell with so many
/// repeats comes once, shuffled. Drift during the study affects all cells equally. The same seed gives the same order.
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

/// The index of the next run: the first in order that has no outcome, of a cell that is not given up. `ended` has an entry for
/// each slot.
#[must_use]
pub fn next(slots: &[Slot], ended: &[Option<RunOutcome>]) -> Option<usize> {
    debug_assert_eq!(slots.len(), ended.len());
    let open = |at: &usize| ended[*at].is_none() && !is_given_up(slots, ended, slots[*at].cell);
    (0..slots.len()).find(open)
}

/// This cell is run no more: its last [`FAILURES_MAX`] runs that have ended all failed, or its variant's last ones did before
/// their servers were ready.
#[must_use]
pub fn is_given_up(slots: &[Slot], ended: &[Option<RunOutcome>], cell: Cell) -> bool {
    is_never_ready(slots, ended, cell.variant)
        || last_ones(slots, ended, |of| of == cell, RunOutcome::is_failure)
}

/// The variants and cells with remaining runs that are given up, variants first.
#[must_use]
pub fn given_up(slots: &[Slot], ended: &[Option<RunOutcome>]) -> Vec<GivenUp> {
    let open = slots.iter().zip(ended).filter(|(_, ended)| ended.is_none());
    let cells: BTreeSet<Cell> = open.map(|(slot, _)| slot.cell).collect();
    let variants: BTreeSet<usize> = cells.iter().map(|cell| cell.variant).collect();
    let (never, others): (Vec<usize>, Vec<usize>) =
        variants.into_iter().partition(|variant| is_never_ready(slots, ended, *variant));
    let failing = cells
        .into_iter()
        .filter(|cell| others.contains(&cell.variant) && is_given_up(slots, ended, *cell));
    never.into_iter().map(GivenUp::Variant).chain(failing.map(GivenUp::Cell)).collect()
}

fn is_never_ready(slots: &[Slot], ended: &[Option<RunOutcome>], variant: usize) -> bool {
    last_ones(slots, ended, |of| of.variant == variant, |ended| ended == RunOutcome::Unready)
}

/// The last [`FAILURES_MAX`] runs of these cells that have ended all ended so.
fn last_ones(
    slots: &[Slot],
    ended: &[Option<RunOutcome>],
    of: impl Fn(Cell) -> bool,
    so: impl Fn(RunOutcome) -> bool,
) -> bool {
    let theirs = slots.iter().zip(ended).filter(|(slot, _)| of(slot.cell));
    let ones = theirs.filter_map(|(_, ended)| *ended).rev().take_while(|ended| so(*ended));
    ones.take(FAILURES_MAX).count() == FAILURES_MAX
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
        ended[0] = Some(RunOutcome::Measured);
        ended[3] = Some(RunOutcome::Failed);
        while let Some(at) = next(&slots, &ended) {
            ended[at] = Some(RunOutcome::Measured);
            ran.push(at);
        }
        assert_eq!(ran, [1, 2, 4, 5, 6, 7]);
    }

    #[test]
    fn three_failures_in_a_row_are_enough() {
        let slots = order(&all(cells(1, 2), 6), 9);
        let of_bad = |ended: &[Option<RunOutcome>]| {
            let pairs = slots.iter().zip(ended);
            pairs.filter(|(slot, ended)| slot.cell.variant == 1 && ended.is_some()).count()
        };
        let mut ended = vec![None; slots.len()];
        while let Some(at) = next(&slots, &ended) {
            let bad = slots[at].cell.variant == 1;
            ended[at] = Some(if bad { RunOutcome::Failed } else { RunOutcome::Measured });
        }
        assert_eq!(of_bad(&ended), FAILURES_MAX);
        assert_eq!(ended.iter().filter(|one| **one == Some(RunOutcome::Measured)).count(), 6);
        let bad = Cell { workload: 0, variant: 1 };
        let good = Cell { workload: 0, variant: 0 };
        assert!(is_given_up(&slots, &ended, bad) && !is_given_up(&slots, &ended, good));
        assert_eq!(given_up(&slots, &ended), [GivenUp::Cell(bad)]);
        // One that went well between them starts the count anew.
        let mut ended = vec![None; slots.len()];
        let mut failed = 0;
        while let Some(at) = next(&slots, &ended) {
            let well = slots[at].cell.variant == 0 || slots[at].repeat.is_multiple_of(3);
            failed += usize::from(!well);
            ended[at] = Some(if well { RunOutcome::Measured } else { RunOutcome::Failed });
        }
        assert_eq!(failed, 4);
    }

    /// Executes all runs, each with the outcome that `how` gives; returns the outcomes.
    fn run_all(slots: &[Slot], how: impl Fn(Cell) -> RunOutcome) -> Vec<Option<RunOutcome>> {
        let mut ended = vec![None; slots.len()];
        while let Some(at) = next(slots, &ended) {
            ended[at] = Some(how(slots[at].cell));
        }
        ended
    }

    #[test]
    fn a_workload_that_fails_takes_no_other_with_it() {
        let slots = order(&all(cells(3, 2), 6), 9);
        let bad = Cell { workload: 1, variant: 1 };
        let ended = run_all(&slots, |cell| match cell == bad {
            true => RunOutcome::Failed,
            false => RunOutcome::Measured,
        });
        let failed = ended.iter().filter(|one| **one == Some(RunOutcome::Failed)).count();
        assert_eq!((failed, ended.iter().filter(|one| one.is_none()).count()), (3, 3));
        assert_eq!(given_up(&slots, &ended), [GivenUp::Cell(bad)]);
    }

    #[test]
    fn a_variant_that_never_gets_ready_is_given_up_as_a_whole() {
        let slots = order(&all(cells(3, 2), 6), 9);
        let ended = run_all(&slots, |cell| match cell.variant {
            1 => RunOutcome::Unready,
            _ => RunOutcome::Measured,
        });
        assert_eq!(ended.iter().filter(|one| **one == Some(RunOutcome::Unready)).count(), 3);
        assert_eq!(given_up(&slots, &ended), [GivenUp::Variant(1)]);
        // That all of its workloads fail once it is ready, is another matter.
        let ended = run_all(&slots, |cell| match cell.variant {
            1 => RunOutcome::Failed,
            _ => RunOutcome::Measured,
        });
        assert_eq!(ended.iter().filter(|one| **one == Some(RunOutcome::Failed)).count(), 9);
        assert_eq!(given_up(&slots, &ended).len(), 3);
        // A cell without remaining runs is not given up.
        let slots = order(&all(cells(1, 1), FAILURES_MAX), 1);
        assert!(given_up(&slots, &run_all(&slots, |_| RunOutcome::Unready)).is_empty());
    }
}
