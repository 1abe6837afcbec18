//! The exact distribution of `U`: every way to split the values of both samples into two of their sizes is as likely as any
//! other.

use super::tally::{Tally, merged};

/// The most values of both samples together that are counted exactly. There are `C(50, 25) = 1.3e14` ways at most, which a
/// double represents exactly.
pub const EXACT_MAX: u64 = 50;

/// How many ways lead to each `2 U`.
pub(super) struct Permutation {
    ways: Vec<f64>,
    all: f64,
}

impl Permutation {
    /// Counts the ways of two samples with at most [`EXACT_MAX`] values.
    pub(super) fn of(a: &Tally, b: &Tally) -> Self {
        debug_assert!(a.count() + b.count() <= EXACT_MAX);
        let (m, n) = (a.count() as usize, b.count() as usize);
        let ranks = double_ranks(a, b);
        let most: usize = ranks.iter().sum();
        // by_size[k][s]: ways to take k of the values so far, their doubled ranks summing to s.
        let mut by_size = vec![vec![0.0; most + 1]; n + 1];
        by_size[0][0] = 1.0;
        for rank in ranks {
            for size in (1..=n).rev() {
                let (fewer, more) = by_size.split_at_mut(size);
                for sum in (rank..=most).rev() {
                    more[0][sum] += fewer[size - 1][sum - rank];
                }
            }
        }
        // U = W - n (n + 1) / 2, with W the sum of b's ranks.
        let ways: Vec<f64> =
            by_size[n].iter().skip(n * (n + 1)).take(2 * m * n + 1).copied().collect();
        let all = ways.iter().sum();
        Self { ways, all }
    }

    /// How likely `U` is at least as far from its mean as `u`.
    pub(super) fn two_sided(&self, u: f64) -> f64 {
        let middle = (self.ways.len() - 1) as f64 / 2.0;
        let away = (2.0 * u - middle).abs() - 1e-9;
        let far =
            self.ways.iter().enumerate().filter(|(at, _)| (*at as f64 - middle).abs() >= away);
        (far.map(|(_, ways)| ways).sum::<f64>() / self.all).min(1.0)
    }

    /// The greatest number of pairs `k` with `P(U < k) <= share`; 0 where no number has it.
    pub(super) fn quantile(&self, share: f64) -> u64 {
        let mut below = 0.0;
        for (at, ways) in self.ways.iter().enumerate() {
            below += ways;
            if below / self.all > share {
                return at as u64 / 2;
            }
        }
        0
    }
}

/// Twice the rank of every value, ties at their mean rank.
fn double_ranks(a: &Tally, b: &Tally) -> Vec<usize> {
    let mut ranks = Vec::new();
    for (_, left, right) in merged(a, b) {
        let (before, tied) = (ranks.len(), (left + right) as usize);
        ranks.extend(std::iter::repeat_n(2 * before + tied + 1, tied));
    }
    ranks
}
