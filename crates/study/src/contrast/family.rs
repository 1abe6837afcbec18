//! The family's p: the probability that *any* measure of equal variants is as far apart as this one. Runs of equal variants
//! could have come in any other split, so the greatest distance over all measures is compared with that of other splits
//! (Westfall and Young, Resampling-Based Multiple Testing, 1993, 2.3.1). Measures that move together, as mean and median do,
//! count hardly twice, and a measure that never moves, such as a share of errors of 0, does not count.

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

    /// Of each measure, the share of splits in which any measure is at least as far apart. A column has all runs' values.
    pub(super) fn family<const N: usize>(&self, columns: &[Vec<f64>; N]) -> [f64; N] {
        let ranks = columns.each_ref().map(|column| Ranks::of(column, self.members[0].len()));
        let greatest = self.greatest(&ranks, Ranks::away);
        ranks.map(|ranks| share_of(&greatest, ranks.away(&self.members[0])))
    }

    /// The same for figures that some runs lack. There are many of them and few runs: by ranks, any of them may be as far apart
    /// as possible in some split, and no difference would be found. So distances are by means and deviations, where a
    /// difference beyond all noise has no equal in another split. A figure in too few runs to reach this level takes no part:
    /// any split that separates two values is beyond all noise, and would hide the differences of the others.
    pub(super) fn family_of_figures(&self, columns: &[Vec<Option<f64>>], level: f64) -> Vec<f64> {
        let means: Vec<Means> = columns.iter().map(|column| Means::of(column)).collect();
        let away = |means: &Means, split: &[u16]| match means.p_least() <= level {
            true => means.away(split),
            false => 0.0,
        };
        let greatest = self.greatest(&means, away);
        means.iter().map(|means| share_of(&greatest, away(means, &self.members[0]))).collect()
    }

    /// Of each split, how far apart the measure is that is furthest.
    fn greatest<T>(&self, columns: &[T], away: impl Fn(&T, &[u16]) -> f64) -> Vec<f64> {
        let of = |split: &Vec<u16>| columns.iter().map(|one| away(one, split)).fold(0.0, f64::max);
        self.members.iter().map(of).collect()
    }

    /// How many runs there are.
    pub(super) fn runs(&self) -> usize {
        self.runs
    }
}

/// The share of splits in which something is at least so far apart.
fn share_of(greatest: &[f64], seen: f64) -> f64 {
    // Mirror images of a split have the same distance up to rounding; infinite distances need no tolerance.
    let least = if seen.is_finite() { seen - 1e-7 * seen.max(0.01) } else { seen };
    greatest.iter().filter(|of| **of >= least).count() as f64 / greatest.len() as f64
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

/// One figure's values, in the runs that have it.
struct Means {
    /// About the first of them, so that squares do not swallow differences.
    values: Vec<Option<f64>>,
    all: Sums,
    /// The size of values, against which rounding is nothing.
    size: f64,
}

/// Of some values: how many, their sum, and that of their squares.
#[derive(Clone, Copy, Default)]
struct Sums {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Sums {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        values.fold(Self::default(), |sums, value| Self {
            count: sums.count + 1.0,
            sum: sums.sum + value,
            squares: sums.squares + value * value,
        })
    }

    fn without(self, other: Self) -> Self {
        Self {
            count: self.count - other.count,
            sum: self.sum - other.sum,
            squares: self.squares - other.squares,
        }
    }

    /// The squares about their mean.
    fn within(self) -> f64 {
        (self.squares - self.sum * self.sum / self.count).max(0.0)
    }
}

impl Means {
    fn of(column: &[Option<f64>]) -> Self {
        let first = column.iter().flatten().next().copied().unwrap_or(0.0);
        let values: Vec<Option<f64>> =
            column.iter().map(|value| value.map(|value| value - first)).collect();
        let all = Sums::of(values.iter().flatten().copied());
        Self { values, all, size: first.abs() + all.squares.sqrt() }
    }

    /// The least p that so many values can give, split evenly.
    fn p_least(&self) -> f64 {
        let count = self.all.count as usize;
        p_least(count / 2, count - count / 2)
    }

    /// How many standard deviations the mean of these runs is from that of the others (Student's t): infinite where only the
    /// two sides differ, 0 where they do not or one of them has no value.
    fn away(&self, split: &[u16]) -> f64 {
        let these = Sums::of(split.iter().filter_map(|run| self.values[usize::from(*run)]));
        let others = self.all.without(these);
        if these.count == 0.0 || others.count == 0.0 {
            return 0.0;
        }
        let away = (these.sum / these.count - others.sum / others.count).abs();
        if away <= 1e-12 * self.size {
            return 0.0;
        }
        let free = (self.all.count - 2.0).max(1.0);
        let each = 1.0 / these.count + 1.0 / others.count;
        let deviation = ((these.within() + others.within()) / free * each).sqrt();
        // Of so little only rounding is left.
        if deviation <= 1e-4 * away { f64::INFINITY } else { away / deviation }
    }
}

#[cfg(test)]
mod tests {
    use super::super::LEVEL;
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

    /// Two of the splits have what is far apart in them, whatever the other figures do; noise that is as far apart as its
    /// ranks can be is found in other splits too.
    #[test]
    fn figures_beyond_noise_stand_out_among_many() {
        let some = |values: &[f64]| values.iter().copied().map(Some).collect::<Vec<_>>();
        let clear = some(&[1.0, 1.1, 1.05, 0.95, 1.0, 3.0, 3.1, 3.05, 2.95, 3.0]);
        let mut rng = Prng::new(5);
        let mut columns: Vec<Vec<Option<f64>>> =
            (0..12).map(|_| (0..10).map(|_| Some(rng.normal())).collect()).collect();
        columns.push(clear);
        columns.push(vec![Some(7.0); 10]);
        columns.push(some(&[4.0, 4.0, 4.0, 4.0, 4.0, 5.0, 5.0, 5.0, 5.0, 5.0]));
        let p = Splits::of(5, 5, 0).family_of_figures(&columns, LEVEL);
        assert!((p[12] - 2.0 / 252.0).abs() < 1e-12 && (p[14] - p[12]).abs() < 1e-12, "{p:?}");
        assert!(p[..12].iter().all(|p| *p > 0.05), "{p:?}");
        assert_eq!(p[13], 1.0);
        assert!(p.iter().all(|p| *p >= 2.0 / 252.0));
    }

    #[test]
    fn a_figure_of_few_runs_hides_no_other() {
        let some = |values: &[f64]| values.iter().copied().map(Some).collect::<Vec<_>>();
        let clear = some(&[1.0, 1.1, 1.05, 0.95, 1.0, 3.0, 3.1, 3.05, 2.95, 3.0]);
        for count in [1, 2, 3, 4, 7] {
            let few = (0..10).map(|at| (at < count).then_some(f64::from(at * at))).collect();
            let p = Splits::of(5, 5, 0).family_of_figures(&[clear.clone(), few], LEVEL);
            assert!((p[0] - 2.0 / 252.0).abs() < 1e-12 && p[1] == 1.0, "{count}: {p:?}");
        }
    }

    /// Equal variants with twelve figures each: one comparison in twenty finds any of them different. Each figure tested on its
    /// own would differ in nearly half of the comparisons.
    #[test]
    fn equal_variants_are_rarely_apart_however_many_figures() {
        let (mut alone, mut family) = (0, 0);
        for seed in 0..200 {
            let mut rng = Prng::new(seed);
            let column = |rng: &mut Prng| -> Vec<Option<f64>> {
                let run = |at| (at != 3 || seed % 2 == 0).then(|| rng.normal());
                (0..10).map(run).collect()
            };
            let columns: Vec<_> = (0..12).map(|_| column(&mut rng)).collect();
            let splits = Splits::of(5, 5, 0);
            family +=
                usize::from(splits.family_of_figures(&columns, LEVEL).iter().any(|p| *p <= 0.05));
            let of_one =
                |one: &Vec<_>| splits.family_of_figures(std::slice::from_ref(one), LEVEL)[0];
            alone += usize::from(columns.iter().any(|one| of_one(one) <= 0.05));
        }
        assert!((3..=20).contains(&family), "{family} of 200");
        assert!(alone > 60, "{alone} of 200");
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
