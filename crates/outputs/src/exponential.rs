//! `ExponentialHistogram`: counts in buckets whose bounds are powers of 2^(2^-scale), as OpenTelemetry and Prometheus' native
//! histograms have them.

use std::collections::BTreeMap;

/// Counts of values that are not below 0.
#[derive(Clone, Debug)]
pub(crate) struct ExponentialHistogram {
    scale: i32,
    /// By OpenTelemetry's index `i`: values in `(base^i, base^(i+1)]`, base = 2^(2^-scale). Prometheus' index is one more.
    /// OpenTelemetry, metrics data model, "ExponentialHistogram"; Prometheus, "Native histograms", "Buckets".
    buckets: BTreeMap<i32, u64>,
    pub(crate) zeros: u64,
    pub(crate) count: u64,
    pub(crate) sum: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl ExponentialHistogram {
    pub(crate) fn new(scale: i32) -> Self {
        Self { scale, buckets: BTreeMap::new(), zeros: 0, count: 0, sum: 0.0, min: 0.0, max: 0.0 }
    }

    pub(crate) fn scale(&self) -> i32 {
        self.scale
    }

    /// Adds a value. One below 0 counts as 0, and one that is no number is left out.
    pub(crate) fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        let value = value.max(0.0);
        (self.min, self.max) = if self.count == 0 {
            (value, value)
        } else {
            (self.min.min(value), self.max.max(value))
        };
        self.count += 1;
        self.sum += value;
        if value < f64::MIN_POSITIVE {
            self.zeros += 1;
        } else {
            // The upper bound belongs to the bucket.
            let index = (value.log2() * f64::from(1 << self.scale)).ceil() - 1.0;
            *self.buckets.entry(index as i32).or_default() += 1;
        }
    }

    /// Buckets with counts, by OpenTelemetry's index, in its order.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (i32, u64)> {
        self.buckets.iter().map(|(index, count)| (*index, *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_between_the_bounds_of_their_bucket() {
        let mut histogram = ExponentialHistogram::new(3);
        let base = 2f64.powf(1.0 / 8.0);
        for value in [0.000_3, 0.7, 1.0, 1.000_1, 2.0, 17.3, 8192.0] {
            let mut one = ExponentialHistogram::new(3);
            one.add(value);
            let (index, count) = one.buckets().next().unwrap();
            let (low, high) = (base.powi(index), base.powi(index + 1));
            assert!(
                count == 1 && low < value * 1.000_000_1 && value <= high * 1.000_000_1,
                "{value}"
            );
            histogram.add(value);
        }
        [0.0, -3.0, f64::NAN].into_iter().for_each(|value| histogram.add(value));
        assert_eq!((histogram.count, histogram.zeros, histogram.min), (9, 2, 0.0));
        assert_eq!(histogram.buckets().map(|(_, count)| count).sum::<u64>(), 7);
    }
}
