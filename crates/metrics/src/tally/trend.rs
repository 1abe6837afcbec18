//! `Trend`: a distribution of any numbers, to one part in a thousand. HDR's idea on the bits of a float: its exponent and the first
//! ten bits of its mantissa are the bucket.

use std::collections::BTreeMap;

/// Bits of the mantissa that tell buckets apart: a bucket is at most 1/1024 of its value wide.
const BITS: u32 = 10;

/// A distribution. Its memory grows with the spread of the values, not with their number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trend {
    /// How many values each bucket has, and their sum: equal values are known exactly.
    buckets: BTreeMap<i64, (u64, f64)>,
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
}

impl Trend {
    /// Adds a value; one that is no number is left out.
    pub fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        (self.min, self.max) = if self.count == 0 {
            (value, value)
        } else {
            (self.min.min(value), self.max.max(value))
        };
        self.count += 1;
        self.sum += value;
        let of = self.buckets.entry(bucket(value)).or_default();
        *of = (of.0 + 1, of.1 + value);
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
        for (bucket, (count, sum)) in &other.buckets {
            let of = self.buckets.entry(*bucket).or_default();
            *of = (of.0 + count, of.1 + sum);
        }
    }

    /// How many values there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
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
        for (count, sum) in self.buckets.values() {
            below += count;
            if below > rank {
                return (sum / *count as f64).clamp(self.min, self.max);
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
