//! The family's p: how likely is it that *any* measure of equal variants is as far apart as this one? Runs of equal variants
//! could have come in any other split, so the greatest distance over all measures is looked at in other splits (Westfall and
//! Young, Resampling-Based Multiple Testing, 1993, 2.3.1). What moves together, as mean and median do, counts hardly twice, and
//! what never moves, as a share of errors of 0, does not count.

use stdx::Prng;

/// Splits looked at, at most; where there are no more than that, all.
const SPLITS_MAX: usize = 1999;

/// Ways to split runs into two of their sizes.
pub(super) struct Splits {
    runs: usize,
    /// For each split, which runs are of `b`. The first is the one that was seen.
    members: Vec<Vec<u16>>,
}

impl Splits {
    /// The splits of `m` and `n` runs, the last `n` being those of `b`.
    pub(super) fn of(m: usize, n: usize, seed: u64) -> Self {
        let seen: Vec<u16> = (m..m + n).map(|run| run as u16).collect();
        let few = ways(m, n) <= SPLITS_MAX as f64;
        let members = if few { every(m + n, &seen) } else { some(m + n, &seen, seed) };
        Self { runs: m + n, members }
    }

    /// The share of splits whose figure is at least as great as that of the split seen.
    pub(super) fn share(&self, figure: impl Fn(&[u16]) -> f64) -> f64 {
        let seen = figure(&self.members[0]) - 1e-9;
        let others = self.members.iter().filter(|split| figure(split) >= seen).count();
        others as f64 / self.members.len() as f64
    }

    /// Of each measure, the share of splits in which any measure is at least as far apart. A column has all runs' values.
    pub(super) fn family<const N: usize>(&self, columns: &[Vec<f64>; N]) -> [f64; N] {
        let ranks = columns.each_ref().map(|column| Ranks::of(column, self.members[0].len()));
        let seen = ranks.each_ref().map(|ranks| ranks.away(&self.members[0]));
        let greatest =
            |split: &Vec<u16>| ranks.iter().map(|ranks| ranks.away(split)).fold(0.0, f64::max);
        let greatest: Vec<f64> = self.members.iter().map(greatest).collect();
        let count = greatest.len() as f64;
        seen.map(|seen| greatest.iter().filter(|of| **of >= seen - 1e-9).count() as f64 / count)
    }

    /// How many runs there are.
    pub(super) fn runs(&self) -> usize {
        self.runs
    }
}

/// How many splits there are.
fn ways(m: usize, n: usize) -> f64 {
    (1..=n).fold(1.0, |ways, k| ways * (m + k) as f64 / k as f64)
}

/// The least p that so many runs can give, however far apart they are: two of all splits.
pub(super) fn p_least(m: usize, n: usize) -> f64 {
    (2.0 / ways(m, n)).min(1.0)
}

/// Every split, the one seen first.
fn every(runs: usize, seen: &[u16]) -> Vec<Vec<u16>> {
    let mut splits = vec![seen.to_vec()];
    let size = seen.len();
    let mut split: Vec<u16> = (0..size as u16).collect();
    loop {
        if split != seen {
            splits.push(split.clone());
        }
        // The next in order: the last that may move on does, those behind it follow at once.
        let may_move = |at: &usize| usize::from(split[*at]) < runs - size + at;
        let Some(at) = (0..size).rev().find(may_move) else { return splits };
        split[at] += 1;
        for behind in at + 1..size {
            split[behind] = split[behind - 1] + 1;
        }
    }
}

/// The split seen, and others drawn.
fn some(runs: usize, seen: &[u16], seed: u64) -> Vec<Vec<u16>> {
    let mut rng = Prng::new(stdx::mix(seed, 0x5711));
    let mut order: Vec<u16> = (0..runs as u16).collect();
    let draw = |_| {
        for at in 0..seen.len() {
            order.swap(at, at + rng.below((runs - at) as u64) as usize);
        }
        order[..seen.len()].to_vec()
    };
    std::iter::once(seen.to_vec()).chain((0..SPLITS_MAX).map(draw)).collect()
}

/// The ranks of one measure's values.
struct Ranks {
    ranks: Vec<f64>,
    mean: f64,
    deviation: f64,
}

impl Ranks {
    fn of(values: &[f64], size: usize) -> Self {
        let count = values.len() as f64;
        let rank = |value: &f64| {
            let below = values.iter().filter(|other| *other < value).count() as f64;
            let tied = values.iter().filter(|other| *other == value).count() as f64;
            below + (tied + 1.0) / 2.0
        };
        let ranks: Vec<f64> = values.iter().map(rank).collect();
        let middle = f64::midpoint(1.0, count);
        let square: f64 = ranks.iter().map(|rank| (rank - middle).powi(2)).sum();
        let (n, m) = (size as f64, count - size as f64);
        // The variance of a sum of `n` of the ranks, drawn without putting back.
        let deviation = (n * m / (count * (count - 1.0)).max(1.0) * square).sqrt();
        Self { ranks, mean: n * middle, deviation }
    }

    /// How many standard deviations the rank sum of these runs is from what is expected.
    fn away(&self, split: &[u16]) -> f64 {
        if self.deviation == 0.0 {
            return 0.0;
        }
        let sum: f64 = split.iter().map(|run| self.ranks[usize::from(*run)]).sum();
        (sum - self.mean).abs() / self.deviation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_splits_are_there_once() {
        for (m, n, ways) in [(1, 1, 2), (3, 2, 10), (5, 5, 252), (1, 6, 7)] {
            let splits = Splits::of(m, n, 0);
            assert_eq!(splits.members.len(), ways, "{m} and {n}");
            let different: std::collections::BTreeSet<_> = splits.members.iter().collect();
            assert_eq!(different.len(), ways);
            assert!((p_least(m, n) - (2.0 / ways as f64).min(1.0)).abs() < 1e-12);
        }
        let many = Splits::of(30, 30, 7);
        assert_eq!(many.members.len(), SPLITS_MAX + 1);
        assert!(many.members.iter().all(|split| {
            let different: std::collections::BTreeSet<_> = split.iter().collect();
            different.len() == 30 && split.iter().all(|run| *run < 60)
        }));
    }

    #[test]
    fn one_measure_alone_has_mann_whitneys_p() {
        use crate::stats::{Tally, mann_whitney};
        let (a, b) = ([1.0, 4.0, 2.0, 9.0, 3.0], [5.0, 8.0, 4.0, 12.0, 10.0]);
        let test = mann_whitney(&Tally::of_values(&a), &Tally::of_values(&b)).unwrap();
        let [p] = Splits::of(5, 5, 0).family(&[[a, b].concat()]);
        assert!((p - test.p).abs() < 1e-12, "{p} {}", test.p);
    }

    #[test]
    fn what_moves_together_counts_once_and_what_never_moves_not_at_all() {
        let values: Vec<f64> = (0..8).map(f64::from).collect();
        let again: Vec<f64> = values.iter().map(|value| value * 3.0).collect();
        let alone = Splits::of(4, 4, 0).family(std::array::from_ref(&values));
        let family = Splits::of(4, 4, 0).family(&[values, again, vec![0.0; 8]]);
        assert_eq!([alone[0], alone[0], 1.0], family);
        assert!((alone[0] - 2.0 / 70.0).abs() < 1e-12);
    }
}
