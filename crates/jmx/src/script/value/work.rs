//! How much comparing values has taken, so that a run can charge for it: lists that stand in one another more than once are
//! compared exponentially often.

use std::cell::Cell;

use crate::ending;

/// Comparisons at most between two looks of the machine, about half a second; beyond them nothing is equal any more.
pub(crate) const COMPARISONS_MAX: u64 = 20_000_000;

thread_local! {
    static COMPARISONS: Cell<u64> = const { Cell::new(0) };
}

/// After so many comparisons it is looked whether the test has come to its end.
const COMPARISONS_BETWEEN_LOOKS: u64 = 1_024;

/// Counts a comparison; whether it may be made.
pub(super) fn count() -> bool {
    let before = COMPARISONS.get();
    if before.is_multiple_of(COMPARISONS_BETWEEN_LOOKS) && ending::is_over() {
        COMPARISONS.set(COMPARISONS_MAX);
    }
    let before = before.max(COMPARISONS.get());
    COMPARISONS.set(before + 1);
    before < COMPARISONS_MAX
}

/// The comparisons since the last look.
pub(crate) fn take_comparisons() -> u64 {
    COMPARISONS.replace(0)
}
