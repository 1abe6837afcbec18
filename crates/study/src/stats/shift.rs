//! The Hodges-Lehmann shift: by how much one sample lies above the other, without a word about their shapes.

use super::permutation::{EXACT_MAX, Permutation};
use super::ranks::deviation;
use super::tally::Tally;

/// By how much `b` lies above `a`, in the values' unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// The median of all differences between a value of `b` and one of `a`.
    pub estimate: f64,
    /// The 95 % interval that belongs to the Mann-Whitney test; `None` where there are too few values for one (less than
    /// four and four).
    pub interval: Option<(f64, f64)>,
}

/// The normal distribution's 97.5th percentile.
const Z: f64 = 1.959_963_984_540_054;

/// The shift from `a` to `b` (Hodges and Lehmann, "Estimates of location based on rank tests", 1963). Costs a few dozen walks
/// over the different values. `None` where a sample is empty.
#[must_use]
pub fn hodges_lehmann(a: &Tally, b: &Tally) -> Option<Shift> {
    let (m, n) = (a.count(), b.count());
    if m == 0 || n == 0 {
        return None;
    }
    let pairs = u128::from(m) * u128::from(n);
    let low = difference(a, b, pairs.div_ceil(2));
    let high = difference(a, b, pairs / 2 + 1);
    let least = if m + n <= EXACT_MAX {
        u128::from(Permutation::of(a, b).quantile(0.025))
    } else {
        (pairs as f64 / 2.0 - Z * deviation(a, b)).floor().max(0.0) as u128
    };
    // With `P(U < least) <= 2.5 %` the interval reaches from the `least`-th difference to the `least`-th from above.
    let interval =
        (least > 0).then(|| (difference(a, b, least), difference(a, b, pairs + 1 - least)));
    Some(Shift { estimate: f64::midpoint(low, high), interval })
}

/// The `rank`-th smallest difference, counted from 1.
fn difference(a: &Tally, b: &Tally, rank: u128) -> f64 {
    let (first, last) = (|t: &Tally| t.list()[0].0, |t: &Tally| t.list()[t.list().len() - 1].0);
    let (mut low, mut high) = (first(b) - last(a), last(b) - first(a));
    if pairs_up_to(a, b, low) >= rank {
        return low;
    }
    // At least `rank` differences are at most `high`, and fewer are at most `low`.
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if pairs_up_to(a, b, middle) >= rank { high = middle } else { low = middle }
    }
    high
}

/// How many differences are at most `limit`.
fn pairs_up_to(a: &Tally, b: &Tally, limit: f64) -> u128 {
    let (mut above, mut pairs) = (u128::from(a.count()), 0);
    let mut rest = a.list().iter().peekable();
    for &(value, count) in b.list() {
        while let Some((_, skipped)) = rest.next_if(|(of, _)| value - of > limit) {
            above -= u128::from(*skipped);
        }
        pairs += above * u128::from(count);
    }
    pairs
}
