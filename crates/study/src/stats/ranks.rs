//! The Mann-Whitney test: do values of one sample tend to be greater than those of the other?

use super::normal::two_sided;
use super::permutation::{EXACT_MAX, Permutation};
use super::tally::{Tally, merged};

/// What the Mann-Whitney test says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MannWhitney {
    /// Pairs of a value of `a` and a value of `b` in which the one of `b` is greater; ties count by half.
    pub u: f64,
    /// The chance that a value of `b` is greater than one of `a`, ties counted by half: `u / (m n)`, 0 to 1.
    pub superiority: f64,
    /// How likely samples of one distribution are at least as far apart, on either side.
    pub p: f64,
    /// `p` is of every way to split the values into two, not of the normal approximation.
    pub exact: bool,
}

/// Tests `a` against `b`: exactly for [`EXACT_MAX`] values or less of both together, ties included; else
///
/// ```text
/// z = (|U - m n / 2| - 1/2) / sqrt(m n / 12 * ((N + 1) - sum(t^3 - t) / (N (N - 1))))
/// ```
///
/// with `m` and `n` values, `N = m + n`, and `t` values to each tie (Mann and Whitney, 1947; Lehmann, "Nonparametrics", 1.4).
/// `None` where a sample is empty.
#[must_use]
pub fn mann_whitney(a: &Tally, b: &Tally) -> Option<MannWhitney> {
    let (m, n) = (a.count(), b.count());
    if m == 0 || n == 0 {
        return None;
    }
    let mut below = 0.0;
    let mut u = 0.0;
    for (_, left, right) in merged(a, b) {
        u += right as f64 * (below + left as f64 / 2.0);
        below += left as f64;
    }
    let pairs = m as f64 * n as f64;
    let exact = m + n <= EXACT_MAX;
    let p = if exact {
        Permutation::of(a, b).two_sided(u)
    } else {
        let spread = deviation(a, b);
        // The continuity correction is half a step; smaller distances count as 0.
        let away = ((u - pairs / 2.0).abs() - 0.5).max(0.0);
        if spread == 0.0 { 1.0 } else { two_sided(away / spread) }
    };
    Some(MannWhitney { u, superiority: u / pairs, p, exact })
}

/// The standard deviation of `U` among samples of one distribution, ties considered.
pub(super) fn deviation(a: &Tally, b: &Tally) -> f64 {
    let (m, n) = (a.count() as f64, b.count() as f64);
    let all = m + n;
    let ties: f64 = merged(a, b)
        .map(|(_, left, right)| (left + right) as f64)
        .map(|t| (t * t - 1.0) * t / (all * (all - 1.0)))
        .sum();
    (m * n / 12.0 * ((all + 1.0) - ties)).max(0.0).sqrt()
}
