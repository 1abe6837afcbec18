//! `Trend`: a distribution of any numbers, to one part in a thousand. HDR's idea on the bits of a float: its exponent and the first
//! ten bits of its mantissa are the bucket.

use serde::{Deserialize, Serialize};

/// Bits of the mantissa that select a bucket: a bucket is at most 1/1024 of its value wide.
const BITS: u32 = 10;

/// Bits of a bucket's number that are its place in its chunk: buckets of one chunk lie together in memory.
const CHUNK_BITS: u32 = 6;

/// A distribution. Its memory grows with the spread of the values, not with their number.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "TrendParts", into = "TrendParts")]
pub struct Trend {
    /// The buckets that have values, in chunks, in the order of the values.
    chunks: Vec<Chunk>,
    /// The chunk of the last value: the next is probably near.
    last: usize,
    /// Values of exactly 0, of which there are many.
    zeros: u64,
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
}

/// A distribution on its way to another machine: its buckets that have values.
#[derive(Serialize, Deserialize)]
struct TrendParts {
    /// Number, count and sum.
    buckets: Vec<(i64, u64, f64)>,
    zeros: u64,
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
}

impl From<TrendParts> for Trend {
    fn from(parts: TrendParts) -> Self {
        let TrendParts { buckets, zeros, count, sum, min, max } = parts;
        let mut trend = Self { zeros, count, sum, min, max, ..Self::default() };
        buckets.into_iter().for_each(|(bucket, count, sum)| trend.count_in(bucket, count, sum));
        trend
    }
}

impl From<Trend> for TrendParts {
    fn from(trend: Trend) -> Self {
        let of_chunk = |chunk: &Chunk| {
            let first = chunk.key << CHUNK_BITS;
            let all = (first..).zip(*chunk.buckets).filter(|(_, (count, _))| *count > 0);
            all.map(|(bucket, (count, sum))| (bucket, count, sum)).collect::<Vec<_>>()
        };
        let buckets = trend.chunks.iter().flat_map(of_chunk).collect();
        let Trend { zeros, count, sum, min, max, .. } = trend;
        Self { buckets, zeros, count, sum, min, max }
    }
}

/// Neighbouring buckets.
#[derive(Clone, Debug)]
struct Chunk {
    /// The common first bits of the buckets' numbers.
    key: i64,
    /// How many values each bucket has, and their sum: equal values are known exactly.
    buckets: Box<[(u64, f64); 1 << CHUNK_BITS]>,
}

impl Chunk {
    /// Adds so many values, of this sum, to a bucket of this chunk.
    fn add(&mut self, bucket: i64, count: u64, sum: f64) {
        let of = &mut self.buckets[(bucket & ((1 << CHUNK_BITS) - 1)) as usize];
        *of = (of.0 + count, of.1 + sum);
    }
}

/// What was added counts, not the order of it.
impl PartialEq for Trend {
    fn eq(&self, other: &Self) -> bool {
        (self.count, self.min, self.max) == (other.count, other.min, other.max)
            && (self.sum - other.sum).abs() <= self.sum.abs() * 1e-9
            && self.buckets().map(|(n, _)| n).eq(other.buckets().map(|(n, _)| n))
    }
}

impl Trend {
    /// Adds a value; one that is no number is left out.
    #[inline]
    pub fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        if self.count == 0 {
            (self.min, self.max) = (value, value);
        } else if value < self.min {
            self.min = value;
        } else if value > self.max {
            self.max = value;
        }
        self.count += 1;
        if value == 0.0 {
            self.zeros += 1;
        } else {
            self.sum += value;
            self.count_in(bucket(value), 1, value);
        }
    }

    /// Adds so many values, of this sum, to a bucket.
    #[inline]
    fn count_in(&mut self, bucket: i64, count: u64, sum: f64) {
        let key = bucket >> CHUNK_BITS;
        if let Some(chunk) = self.chunks.get_mut(self.last).filter(|chunk| chunk.key == key) {
            return chunk.add(bucket, count, sum);
        }
        self.last = self.place_of(key);
        self.chunks[self.last].add(bucket, count, sum);
    }

    /// The place of a chunk, made where there is none.
    fn place_of(&mut self, key: i64) -> usize {
        self.chunks.binary_search_by_key(&key, |chunk| chunk.key).unwrap_or_else(|at| {
            let buckets = Box::new([(0, 0.0); 1 << CHUNK_BITS]);
            self.chunks.insert(at, Chunk { key, buckets });
            at
        })
    }

    /// Every bucket with values, in the order of the values, with their sum.
    fn buckets(&self) -> impl Iterator<Item = (u64, f64)> {
        let (below, above) =
            self.chunks.split_at(self.chunks.partition_point(|chunk| chunk.key < 0));
        let zeros = std::iter::once((self.zeros, 0.0));
        let all = |of: &Chunk| *of.buckets;
        let (below, above) = (below.iter().flat_map(all), above.iter().flat_map(all));
        below.chain(zeros).chain(above).filter(|bucket| bucket.0 > 0)
    }

    /// Adds what another saw.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        (self.min, self.max) = if self.count == 0 {
            (other.min, other.max)
        } else {
            (self.min.min(other.min), self.max.max(other.max))
        };
        self.count += other.count;
        self.sum += other.sum;
        self.zeros += other.zeros;
        for chunk in &other.chunks {
            for (at, (count, sum)) in (0..).zip(chunk.buckets.iter()).filter(|(_, of)| of.0 > 0) {
                self.count_in((chunk.key << CHUNK_BITS) | at, *count, *sum);
            }
        }
    }

    /// How many values there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The sum; 0 without values.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.sum
    }

    /// The least; 0 without values.
    #[must_use]
    pub fn min(&self) -> f64 {
        self.min
    }

    /// The greatest; 0 without values.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.max
    }

    /// The mean; 0 without values.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum / self.count as f64 }
    }

    /// k6's percentile, `p` from 0 to 100: between the two values around rank `p/100 · (n − 1)`, linearly. Each value is known to one
    /// part in a thousand.
    #[must_use]
    pub fn percentile(&self, p: f64) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let rank = (p / 100.0).clamp(0.0, 1.0) * (self.count - 1) as f64;
        let (low, high) = (self.of_rank(rank.floor() as u64), self.of_rank(rank.ceil() as u64));
        low + (high - low) * rank.fract()
    }

    /// The value of this rank, from 0.
    fn of_rank(&self, rank: u64) -> f64 {
        if rank == 0 {
            return self.min;
        }
        let mut below = 0;
        for (count, sum) in self.buckets() {
            below += count;
            if below > rank {
                return (sum / count as f64).clamp(self.min, self.max);
            }
        }
        self.max
    }
}

/// The bucket of a value: the first bits of a float are in the order of the values, once those below 0 are turned round.
fn bucket(value: f64) -> i64 {
    let bits = (value.abs().to_bits() >> (52 - BITS)) as i64;
    if value < 0.0 { -1 - bits } else { bits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_k6s_to_a_thousandth() {
        let mut values: Vec<f64> =
            (0..5000_u32).map(|n| (f64::from(n) * 1.37).sin() * 1000.0 + 3.0).collect();
        let mut trend = Trend::default();
        values.iter().for_each(|value| trend.add(*value));
        values.sort_by(f64::total_cmp);
        for p in [0.0, 1.0, 10.0, 50.0, 90.0, 99.0, 100.0] {
            let rank = p / 100.0 * 4999.0;
            let (low, high) = (values[rank as usize], values[f64::ceil(rank) as usize]);
            let exact = low + (high - low) * f64::fract(rank);
            let got = trend.percentile(p);
            assert!((got - exact).abs() <= exact.abs() / 1000.0 + 0.01, "p({p}) {got} {exact}");
        }
        assert_eq!((trend.min(), trend.max()), (values[0], values[4999]));
        let mut halves = [Trend::default(), Trend::default()];
        (0..).zip(&values).for_each(|(n, value)| halves[n % 2].add(*value));
        let [mut merged, other] = halves;
        merged.merge(&other);
        assert_eq!(merged, trend);
    }

    #[test]
    fn zeros_stand_between_what_is_below_and_above() {
        let mut trend = Trend::default();
        [0.0, -1.0, 0.0, 2.0, -0.0].into_iter().for_each(|value| trend.add(value));
        let at = [0.0, 25.0, 50.0, 75.0, 100.0].map(|p| trend.percentile(p));
        assert_eq!(at, [-1.0, 0.0, 0.0, 0.0, 2.0]);
    }

    #[test]
    fn few_values_are_exact_at_the_ends() {
        let mut trend = Trend::default();
        assert_eq!((trend.percentile(95.0), trend.mean()), (0.0, 0.0));
        trend.add(12.5);
        assert_eq!(
            (trend.percentile(0.0), trend.percentile(100.0), trend.percentile(50.0)),
            (12.5, 12.5, 12.5)
        );
        trend.add(f64::NAN);
        assert_eq!(trend.count(), 1);
    }
}
