//! `Histogram`: counts of durations in log-linear buckets, as in HDR histograms. It covers every value from 0 to 1 h with a
//! relative error of at most 0.1 %, merges without loss, and never grows past its bound. Of single values it has only the least
//! and the greatest.
//!
//! A value `v` (ns) lies in bucket `(s << B) + (v >> s)` with `s = max(0, floor(log2 v) - B)`: values below `2^(B+1)` have a
//! bucket each, and every octave above is divided into `2^B` equal buckets (Tene, HdrHistogram, 2012).

use std::fmt;

use serde::{Deserialize, Serialize};
use stdx::Nanos;
use thiserror::Error;

/// The histogram of every latency: 1024 buckets an octave, relative error at most 1/1024, at most 262 KiB.
pub type Histogram = LogLinear<10>;

/// A small histogram for the cells of a [`crate::Timeline`]: relative error at most 1/128, at most 34 KiB.
pub type Sketch = LogLinear<7>;

/// How much of a rank may be rounding, as a share of it: that of a percentage, of its hundredth and of the product.
const RANK_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Counts of durations, with `2^BITS` buckets an octave. Values above [`LogLinear::LIMIT`] are counted in the last bucket;
/// least, greatest and sum stay exact.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "HistogramParts", into = "HistogramParts")]
pub struct LogLinear<const BITS: u32> {
    /// Counts of the buckets `base..base + counts.len()`.
    counts: Vec<u64>,
    base: usize,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

/// A histogram on its way to another machine: its buckets that have values.
#[derive(Serialize, Deserialize)]
struct HistogramParts {
    pairs: Vec<(u32, u64)>,
    min: Nanos,
    max: Nanos,
    sum: u128,
}

impl<const BITS: u32> TryFrom<HistogramParts> for LogLinear<BITS> {
    type Error = HistogramError;

    /// The sum is checked as well: another machine made it, and sums are added up.
    fn try_from(parts: HistogramParts) -> Result<Self, HistogramError> {
        let HistogramParts { pairs, min, max, sum } = parts;
        let histogram = Self::from_parts(&pairs, min, max, sum)?;
        let (count, least) = (u128::from(histogram.count), u128::from(histogram.min));
        let is_possible =
            histogram.count == 0 || (count * least..=count * u128::from(max.0)).contains(&sum);
        if is_possible { Ok(histogram) } else { Err(HistogramError::Bounds { min, max }) }
    }
}

impl<const BITS: u32> From<LogLinear<BITS>> for HistogramParts {
    fn from(histogram: LogLinear<BITS>) -> Self {
        let (min, max) = (Nanos(histogram.min), Nanos(histogram.max));
        Self { pairs: histogram.to_pairs(), min, max, sum: histogram.sum }
    }
}

/// Why parts do not make a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HistogramError {
    /// A bucket number is beyond the last bucket.
    #[error("histogram bucket {0} does not exist")]
    NoSuchBucket(u32),
    /// The counts do not fit into 64 bits.
    #[error("histogram counts are too large")]
    TooMany,
    /// Least and greatest value do not lie in the first and the last bucket that is not empty.
    #[error("histogram bounds {min}..{max} do not match its buckets")]
    Bounds {
        /// The least value given.
        min: Nanos,
        /// The greatest value given.
        max: Nanos,
    },
}

impl<const BITS: u32> LogLinear<BITS> {
    /// The greatest value with a bucket of its own: 1 h.
    pub const LIMIT: Nanos = Nanos(3_600_000_000_000);
    /// How many buckets there are.
    pub const BUCKETS: usize = Self::index(Self::LIMIT.0) + 1;
    const OCTAVE: usize = 1 << BITS;

    /// An empty histogram with all its memory, so that recording never allocates.
    #[must_use]
    pub fn new() -> Self {
        Self { counts: vec![0; Self::BUCKETS], ..Self::default() }
    }

    const fn index(value: u64) -> usize {
        let value = if value > Self::LIMIT.0 { Self::LIMIT.0 } else { value };
        let shift = 63 - (value | (1 << BITS)).leading_zeros() - BITS;
        ((shift as usize) << BITS) + (value >> shift) as usize
    }

    /// The least and the greatest value of a bucket, both inclusive; the last bucket has no upper end.
    const fn range(index: usize) -> (u64, u64) {
        if index < 2 * Self::OCTAVE {
            return (index as u64, index as u64);
        }
        let shift = (index >> BITS) - 1;
        let low = ((index - (shift << BITS)) as u64) << shift;
        if index + 1 == Self::BUCKETS { (low, u64::MAX) } else { (low, low + (1 << shift) - 1) }
    }

    /// Counts one value. Allocates only where the histogram was not made by [`LogLinear::new`].
    #[inline]
    pub fn record(&mut self, value: Nanos) {
        self.record_n(value, 1);
    }

    /// Counts a value `n` times.
    #[inline]
    pub fn record_n(&mut self, value: Nanos, n: u64) {
        if n == 0 {
            return;
        }
        let index = Self::index(value.0);
        if let Some(count) = self.counts.get_mut(index.wrapping_sub(self.base)) {
            *count += n;
        } else {
            self.cover(index, index);
            self.counts[index - self.base] += n;
        }
        self.count += n;
        self.sum += u128::from(value.0) * u128::from(n);
        self.min = self.min.min(value.0);
        self.max = self.max.max(value.0);
    }

    /// Makes room for the buckets `first..=last`, in whole octaves.
    #[cold]
    fn cover(&mut self, first: usize, last: usize) {
        let end = self.base + self.counts.len();
        let (mut low, mut high) = (first & !(Self::OCTAVE - 1), (last | (Self::OCTAVE - 1)) + 1);
        if !self.counts.is_empty() {
            (low, high) = (low.min(self.base), high.max(end));
        }
        let high = high.min(Self::BUCKETS);
        let mut counts = vec![0; high - low];
        if !self.counts.is_empty() {
            counts[self.base - low..end - low].copy_from_slice(&self.counts);
        }
        (self.counts, self.base) = (counts, low);
    }

    /// The buckets between the least and the greatest value; none where the histogram is empty.
    fn used(&self) -> std::ops::Range<usize> {
        if self.count == 0 { 0..0 } else { Self::index(self.min)..Self::index(self.max) + 1 }
    }

    fn used_counts(&self) -> &[u64] {
        let used = self.used();
        if used.is_empty() {
            &[]
        } else {
            &self.counts[used.start - self.base..used.end - self.base]
        }
    }

    /// Adds all that `other` counted. Without allocation where this one was made by [`LogLinear::new`].
    pub fn merge(&mut self, other: &Self) {
        let used = other.used();
        if used.is_empty() {
            return;
        }
        if used.start < self.base || used.end > self.base + self.counts.len() {
            self.cover(used.start, used.end - 1);
        }
        let mine = &mut self.counts[used.start - self.base..used.end - self.base];
        for (mine, theirs) in mine.iter_mut().zip(other.used_counts()) {
            *mine = mine.saturating_add(*theirs);
        }
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The same in the memory of the octaves that have values: 8 KiB each, 1 KiB of a [`Sketch`].
    #[must_use]
    pub fn compact(&self) -> Self {
        let mut compact = Self::default();
        compact.merge(self);
        compact
    }

    /// Empties the histogram; it retains its memory.
    pub fn clear(&mut self) {
        let used = self.used();
        if !used.is_empty() {
            self.counts[used.start - self.base..used.end - self.base].fill(0);
        }
        (self.count, self.sum, self.min, self.max) = (0, 0, u64::MAX, 0);
    }

    /// How many values were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The least value, exact; 0 without values.
    #[must_use]
    pub fn min(&self) -> Nanos {
        Nanos(if self.count == 0 { 0 } else { self.min })
    }

    /// The greatest value, exact; 0 without values.
    #[must_use]
    pub fn max(&self) -> Nanos {
        Nanos(self.max)
    }

    /// The sum of all values in nanoseconds, exact.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The mean, from the exact sum, rounded down; 0 where there is no value.
    #[must_use]
    pub fn mean(&self) -> Nanos {
        Nanos((self.sum / u128::from(self.count.max(1))) as u64)
    }

    /// The standard deviation of the population in nanoseconds, from the buckets' middles; 0 where there is no value.
    #[must_use]
    pub fn stddev_ns(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let mean = self.sum as f64 / self.count as f64;
        let squares: f64 = self
            .buckets()
            .map(|(low, high, n)| {
                let middle = (low.0 as f64 + high.0 as f64) / 2.0;
                (middle - mean) * (middle - mean) * n as f64
            })
            .sum();
        (squares / self.count as f64).sqrt()
    }

    /// The least value (to the bucket's precision) that at least the share `q` of all values does not exceed. `q` is clamped to
    /// 0..=1; 0 gives the exact least value, 1 the exact greatest; 0 without values.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Nanos {
        self.value_at(rank(q, self.count))
    }

    /// The quantile of a percentage, 0 to 100: 99.9 is the quantile 0.999.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Nanos {
        self.quantile(percent / 100.0)
    }

    /// The value of the `rank`-th smallest sample, counted from 1, to the bucket's precision.
    fn value_at(&self, rank: u64) -> Nanos {
        if rank == 0 || self.count == 0 {
            return self.min();
        }
        let mut seen = 0;
        for (_, high, count) in self.buckets() {
            seen += count;
            if seen >= rank {
                return high;
            }
        }
        self.max()
    }

    /// How many values lie below `value`. Exact at bucket bounds; within a bucket its values are taken as evenly spread.
    #[must_use]
    pub fn count_below(&self, value: Nanos) -> u64 {
        if value > self.max() {
            return self.count;
        }
        let mut below = 0;
        for (low, high, count) in self.buckets() {
            if high < value {
                below += count;
            } else {
                let width = u128::from(high.0 - low.0) + 1;
                let part = u128::from(value.saturating_sub(low).0);
                return below + (u128::from(count) * part / width) as u64;
            }
        }
        below
    }

    /// The buckets that are not empty, in order: least value, greatest value (both inclusive, cut to the exact least and
    /// greatest of all), count.
    pub fn buckets(&self) -> impl Iterator<Item = (Nanos, Nanos, u64)> + '_ {
        let first = self.used().start;
        let (min, max) = (self.min, self.max);
        self.used_counts().iter().enumerate().filter(|(_, count)| **count > 0).map(
            move |(offset, &count)| {
                let (low, high) = Self::range(first + offset);
                (Nanos(low.max(min)), Nanos(high.min(max)), count)
            },
        )
    }

    /// The middle of every bucket that is not empty, in nanoseconds, with its count. Middles are not clamped to the least and
    /// greatest value, so the same bucket has the same middle in two histograms; for the last bucket, which has no end, it is
    /// the start.
    pub fn middles(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let first = self.used().start;
        self.used_counts().iter().enumerate().filter(|(_, count)| **count > 0).map(
            move |(offset, &count)| {
                let (low, high) = Self::range(first + offset);
                let last = first + offset + 1 == Self::BUCKETS;
                (if last { low as f64 } else { f64::midpoint(low as f64, high as f64) }, count)
            },
        )
    }

    /// The exchange form: number and count of every bucket that is not empty. With `min`, `max` and `sum` it is all there is.
    #[must_use]
    pub fn to_pairs(&self) -> Vec<(u32, u64)> {
        let first = self.used().start;
        let pairs = self.used_counts().iter().enumerate().filter(|(_, count)| **count > 0);
        pairs.map(|(offset, &count)| ((first + offset) as u32, count)).collect()
    }

    /// What this histogram has more than an earlier state of it: pairs as those of [`LogLinear::to_pairs`]. `None` where it is no
    /// later state: a bucket has less.
    #[must_use]
    pub fn pairs_since(&self, earlier: &Self) -> Option<Vec<(u32, u64)>> {
        let count = |index: u32| earlier.counts.get((index as usize).wrapping_sub(earlier.base));
        let pairs = self.to_pairs();
        let before = |index| count(index).copied().unwrap_or(0);
        let known: u64 = pairs.iter().map(|(index, _)| before(*index)).sum();
        if known != earlier.count || pairs.iter().any(|(index, now)| *now < before(*index)) {
            return None;
        }
        let more = pairs.into_iter().map(|(index, now)| (index, now - before(index)));
        Some(more.filter(|(_, more)| *more > 0).collect())
    }

    /// The later state of this histogram that has these [`LogLinear::pairs_since`] it, and these bounds and sum.
    ///
    /// # Errors
    /// As [`LogLinear::from_parts`]. The histogram is what it was.
    pub fn advance(
        &mut self,
        pairs: &[(u32, u64)],
        (min, max): (Nanos, Nanos),
        sum: u128,
    ) -> Result<(), HistogramError> {
        let filled = || pairs.iter().filter(|pair| pair.1 > 0).map(|pair| pair.0 as usize);
        let mine = (self.count > 0).then(|| (Self::index(self.min), Self::index(self.max)));
        let first = filled().min().into_iter().chain(mine.map(|mine| mine.0)).min();
        let last = filled().max().into_iter().chain(mine.map(|mine| mine.1)).max();
        let (Some(first), Some(last)) = (first, last) else { return Ok(()) };
        if last >= Self::BUCKETS {
            return Err(HistogramError::NoSuchBucket(last as u32));
        }
        if Self::index(min.0) != first || Self::index(max.0) != last || min > max {
            return Err(HistogramError::Bounds { min, max });
        }
        let more = pairs.iter().try_fold(0_u64, |all, pair| all.checked_add(pair.1));
        let count = more.and_then(|more| self.count.checked_add(more));
        let count = count.ok_or(HistogramError::TooMany)?;
        if first < self.base || last >= self.base + self.counts.len() {
            self.cover(first, last);
        }
        for &(index, more) in pairs.iter().filter(|pair| pair.1 > 0) {
            self.counts[index as usize - self.base] += more;
        }
        (self.count, self.min, self.max, self.sum) = (count, min.0, max.0, sum);
        Ok(())
    }

    /// The histogram with these [`LogLinear::to_pairs`], `min`, `max` and `sum`. Pairs may come in any order.
    ///
    /// # Errors
    /// A bucket does not exist, the counts overflow, or the bounds do not match the buckets; the parts are corrupt.
    pub fn from_parts(
        pairs: &[(u32, u64)],
        min: Nanos,
        max: Nanos,
        sum: u128,
    ) -> Result<Self, HistogramError> {
        let mut histogram = Self::default();
        let filled = || pairs.iter().filter(|pair| pair.1 > 0).map(|pair| pair.0);
        let (Some(first), Some(last)) = (filled().min(), filled().max()) else {
            return Ok(histogram);
        };
        if last as usize >= Self::BUCKETS {
            return Err(HistogramError::NoSuchBucket(last));
        }
        if Self::index(min.0) != first as usize || Self::index(max.0) != last as usize || min > max
        {
            return Err(HistogramError::Bounds { min, max });
        }
        histogram.cover(first as usize, last as usize);
        for &(index, count) in pairs.iter().filter(|pair| pair.1 > 0) {
            let total = histogram.count.checked_add(count);
            histogram.count = total.ok_or(HistogramError::TooMany)?;
            histogram.counts[index as usize - histogram.base] += count;
        }
        (histogram.min, histogram.max, histogram.sum) = (min.0, max.0, sum);
        Ok(histogram)
    }
}

/// The number of a quantile's value in the order of all values, from 1: `ceil(q · count)`. A share and its product are rounded,
/// and 99.9 / 100 is a little more than 0.999: a product that is a whole number but for that rounding is this number.
fn rank(q: f64, count: u64) -> u64 {
    let product = q.clamp(0.0, 1.0) * count as f64;
    ((product * (1.0 - RANK_ROUNDING)).ceil() as u64).min(count)
}

impl<const BITS: u32> Default for LogLinear<BITS> {
    /// An empty histogram without memory; recording allocates octave by octave.
    fn default() -> Self {
        Self { counts: Vec::new(), base: 0, count: 0, sum: 0, min: u64::MAX, max: 0 }
    }
}

impl<const BITS: u32> PartialEq for LogLinear<BITS> {
    /// Equal are histograms that counted the same, whatever memory they hold.
    fn eq(&self, other: &Self) -> bool {
        (self.count, self.sum, self.min, self.max) == (other.count, other.sum, other.min, other.max)
            && self.used_counts() == other.used_counts()
    }
}

impl<const BITS: u32> fmt::Debug for LogLinear<BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogLinear")
            .field("count", &self.count)
            .field("min", &self.min())
            .field("p50", &self.quantile(0.5))
            .field("p99", &self.quantile(0.99))
            .field("max", &self.max())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|&value| histogram.record(Nanos(value)));
        histogram
    }

    #[test]
    fn what_came_since_makes_the_later_state() {
        let mut before = of(&[5, 5, 70_000]);
        let mut now = before.clone();
        assert_eq!(now.pairs_since(&before), Some(Vec::new()));
        for value in [3, 5, 9_000_000] {
            now.record(Nanos(value));
        }
        let more = now.pairs_since(&before).unwrap();
        assert_eq!(more.iter().map(|pair| pair.1).sum::<u64>(), 3);
        assert_eq!(before.pairs_since(&now), None, "it is the earlier one");
        let wrong = before.advance(&more, (Nanos(5), now.max()), now.sum());
        assert_eq!(wrong, Err(HistogramError::Bounds { min: Nanos(5), max: now.max() }));
        assert_eq!(before, of(&[5, 5, 70_000]));
        before.advance(&more, (now.min(), now.max()), now.sum()).unwrap();
        assert_eq!(before, now);
        let mut fresh = Histogram::default();
        fresh.advance(&now.to_pairs(), (now.min(), now.max()), now.sum()).unwrap();
        assert_eq!(fresh, now);
        let beyond = [(Histogram::BUCKETS as u32, 1)];
        assert!(fresh.advance(&beyond, (now.min(), now.max()), 0).is_err());
        assert!(fresh.advance(&[(5, u64::MAX)], (now.min(), now.max()), 0).is_err());
    }

    /// Regression: 99.9 / 100 was 0.9990000000000001, and the rank of 1,000 values was 1,000.
    #[test]
    fn the_rank_of_a_percentage_is_exact() {
        for count in 1..=3000_u64 {
            for tenths in 1..1000_u64 {
                let exact = (count * tenths).div_ceil(1000);
                let percent = tenths as f64 / 10.0;
                assert_eq!(rank(percent / 100.0, count), exact, "p{percent} of {count}");
                assert_eq!(rank(tenths as f64 / 1000.0, count), exact, "p{percent} of {count}");
            }
        }
        for count in (10_000..=1_000_000_000).step_by(9_990_000) {
            assert_eq!(rank(99.99 / 100.0, count), (count * 9999).div_ceil(10_000), "{count}");
        }
        assert_eq!([0.0, 1.0, 2.0].map(|q| rank(q, 7)), [0, 7, 7]);
        assert_eq!((rank(1.0, u64::from(u32::MAX)), rank(0.5, 0)), (u64::from(u32::MAX), 0));
    }

    /// Latencies with equal weight for every order of magnitude, up to above the limit.
    fn latency() -> impl Strategy<Value = u64> {
        (0u32..43, any::<u64>()).prop_map(|(bits, random)| random & ((1 << bits) - 1))
    }

    #[test]
    fn a_compact_one_counts_the_same() {
        for values in [&[][..], &[0], &[5, 1_000_000], &[1 << 20, u64::MAX]] {
            let mut whole = Histogram::new();
            values.iter().for_each(|value| whole.record(Nanos(*value)));
            let compact = whole.compact();
            assert_eq!(compact, whole);
            assert!(compact.counts.len() < whole.counts.len(), "{values:?}");
            assert!(compact.counts.capacity() * 8 <= 262_144, "{values:?}");
        }
    }

    #[test]
    fn buckets_follow_one_another_without_gap() {
        fn check<const BITS: u32>() {
            let mut next = 0;
            for index in 0..LogLinear::<BITS>::BUCKETS {
                let (low, high) = LogLinear::<BITS>::range(index);
                assert_eq!(low, next, "{index}");
                assert_eq!(LogLinear::<BITS>::index(low), index);
                assert_eq!(LogLinear::<BITS>::index(high), index);
                next = high.wrapping_add(1);
            }
            assert_eq!(next, 0, "the last bucket goes on to the end");
        }
        check::<10>();
        check::<7>();
        assert!(Histogram::new().counts.len() * 8 <= 300_000);
    }

    #[test]
    fn an_empty_one_has_zeros() {
        let empty = Histogram::default();
        assert_eq!((empty.min(), empty.max(), empty.mean()), (Nanos(0), Nanos(0), Nanos(0)));
        assert_eq!(
            (empty.quantile(0.5), empty.count_below(Nanos(9)), empty.stddev_ns()),
            (Nanos(0), 0, 0.0)
        );
        assert_eq!(empty, Histogram::new());
        assert_eq!(Histogram::from_parts(&[], Nanos(0), Nanos(0), 0), Ok(empty));
    }

    #[test]
    fn known_values_give_known_figures() {
        let histogram = of(&[100, 200, 300, 400, 1000]);
        let cases = [
            (0.0, 100),
            (0.2, 100),
            (0.21, 200),
            (0.5, 300),
            (0.8, 400),
            (0.81, 1000),
            (1.0, 1000),
        ];
        for (q, value) in cases {
            assert_eq!(histogram.quantile(q), Nanos(value), "{q}");
        }
        assert_eq!((histogram.mean(), histogram.sum()), (Nanos(400), 2000));
        assert!((histogram.stddev_ns() - 316.227_766).abs() < 1e-3);
        let below = [(0, 0), (100, 0), (101, 1), (300, 2), (1000, 4), (1001, 5)];
        for (value, count) in below {
            assert_eq!(histogram.count_below(Nanos(value)), count, "{value}");
        }
    }

    #[test]
    fn above_the_limit_the_greatest_stays_exact() {
        let day = 86_400_000_000_000;
        let histogram = of(&[1_000, day]);
        assert_eq!((histogram.max(), histogram.quantile(1.0)), (Nanos(day), Nanos(day)));
        assert_eq!(histogram.sum(), 1_000 + u128::from(day));
        assert_eq!(of(&[u64::MAX; 3]).quantile(0.5), Nanos::MAX);
    }

    #[test]
    fn cleared_it_is_as_new() {
        let mut histogram = of(&[1, 1_000_000, u64::MAX]);
        histogram.clear();
        assert_eq!(histogram, Histogram::new());
        histogram.record(Nanos(5));
        assert_eq!(histogram, of(&[5]));
    }

    #[test]
    fn what_travels_arrives_as_it_was_or_not_at_all() {
        let mut histogram = Histogram::default();
        [5, 70, 70, 4_000_000].into_iter().for_each(|ns| histogram.record(Nanos(ns)));
        let parts = || HistogramParts::from(histogram.clone());
        assert_eq!(Histogram::try_from(parts()), Ok(histogram.clone()));
        let empty = HistogramParts::from(Histogram::default());
        assert_eq!(Histogram::try_from(empty), Ok(Histogram::default()));
        for sum in [0, 19, 16_000_001, u128::MAX] {
            let made_up = Histogram::try_from(HistogramParts { sum, ..parts() });
            assert!(matches!(made_up, Err(HistogramError::Bounds { .. })), "{sum}");
        }
    }

    #[test]
    fn corrupt_parts_are_refused() {
        let parts = |pairs: &[(u32, u64)], min, max| {
            Histogram::from_parts(pairs, Nanos(min), Nanos(max), 7)
        };
        let last = Histogram::BUCKETS as u32;
        assert_eq!(parts(&[(last, 1)], 7, u64::MAX), Err(HistogramError::NoSuchBucket(last)));
        let bounds = HistogramError::Bounds { min: Nanos(8), max: Nanos(7) };
        assert_eq!(parts(&[(7, 1)], 8, 7), Err(bounds));
        assert_eq!(parts(&[(7, u64::MAX), (8, 2)], 7, 8), Err(HistogramError::TooMany));
        assert_eq!(parts(&[(7, u64::MAX), (7, 2)], 7, 7), Err(HistogramError::TooMany));
    }

    proptest! {
        #[test]
        fn any_split_over_cores_merges_to_the_same(
            values in prop::collection::vec((latency(), 0usize..4), 0..300),
            room in any::<bool>(),
        ) {
            let mut cores: Vec<Histogram> = (0..4)
                .map(|core| if room && core % 2 == 0 { Histogram::new() } else { Histogram::default() })
                .collect();
            values.iter().for_each(|&(value, core)| cores[core].record(Nanos(value)));
            let mut merged = Histogram::default();
            cores.iter().for_each(|core| merged.merge(core));
            let all: Vec<u64> = values.iter().map(|pair| pair.0).collect();
            prop_assert_eq!(merged, of(&all));
        }

        #[test]
        fn quantiles_err_by_a_thousandth_at_most(
            mut values in prop::collection::vec(0u64..3_600_000_000_000, 1..200),
            bits in 1u32..43,
            q in 0.0f64..=1.0,
        ) {
            values.iter_mut().for_each(|value| *value &= (1 << bits) - 1);
            values.sort_unstable();
            let rank = ((q * values.len() as f64).ceil() as usize).max(1);
            let (exact, found) = (values[rank - 1] as f64, of(&values).quantile(q).0 as f64);
            prop_assert!(found >= exact && found - exact <= exact * 0.001, "{found} for {exact}");
        }

        #[test]
        fn the_exchange_form_leads_back(values in prop::collection::vec(latency(), 0..300)) {
            let histogram = of(&values);
            let (pairs, sum) = (histogram.to_pairs(), histogram.sum());
            let back = Histogram::from_parts(&pairs, histogram.min(), histogram.max(), sum);
            prop_assert_eq!(back, Ok(histogram));
        }

        #[test]
        fn the_mean_is_exact(values in prop::collection::vec(latency(), 1..100)) {
            let sum: u128 = values.iter().map(|&value| u128::from(value)).sum();
            prop_assert_eq!(u128::from(of(&values).mean().0), sum / values.len() as u128);
        }
    }
}
