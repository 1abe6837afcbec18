//! Splits of the runs of two variants: runs of equal variants could have come in any other, so the share of splits that are at
//! least as far apart as the observed one is the p-value of the distance of two distributions.

use stdx::Prng;

/// Splits at most; where there are fewer, all of them.
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

    /// The share of splits with a figure at least as great as that of the observed split.
    pub(super) fn share(&self, figure: impl Fn(&[u16]) -> f64) -> f64 {
        let seen = figure(&self.members[0]) - 1e-9;
        let others = self.members.iter().filter(|split| figure(split) >= seen).count();
        others as f64 / self.members.len() as f64
    }

    #[cfg(test)]
    pub(super) fn members(&self) -> &[Vec<u16>] {
        &self.members
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
}
