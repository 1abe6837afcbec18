//! `ExponentialHistogram`: counts in buckets whose bounds are powers of 2^(2^-scale), as OpenTelemetry and Prometheus' native
//! histograms have them.

use std::collections::BTreeMap;

/// Buckets at most, as OpenTelemetry's SDKs have it.
const BUCKETS_MAX: usize = 160;
/// From the first bucket to the last at most: OTLP sends those without counts that lie between as well.
const SPAN_MAX: i64 = 1_024;

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
    /// Of this scale, until its values are too far apart.
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
            let factor = 2f64.powi(self.scale);
            let index = (value.log2() * factor).ceil() - 1.0;
            *self.buckets.entry(index as i32).or_default() += 1;
            while self.buckets.len() > BUCKETS_MAX || self.span() > SPAN_MAX {
                self.downscale();
            }
        }
    }

    /// Buckets from the first to the last.
    fn span(&self) -> i64 {
        let ends = self.buckets.first_key_value().zip(self.buckets.last_key_value());
        ends.map_or(0, |((first, _), (last, _))| i64::from(*last) - i64::from(*first) + 1)
    }

    /// Joins each two neighbours: a scale less, and every bound of it is one of this. OpenTelemetry, metrics SDK, "Base2 exponential
    /// bucket histogram aggregation".
    fn downscale(&mut self) {
        self.scale -= 1;
        for (index, count) in std::mem::take(&mut self.buckets) {
            *self.buckets.entry(index >> 1).or_default() += count;
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

    /// Issue 42, F6: values from 1e-300 to 1e300 took a bucket each.
    #[test]
    fn values_far_apart_share_buckets() {
        let mut histogram = ExponentialHistogram::new(3);
        let values = || (-300..=300).map(|power| 1.5 * 10f64.powi(power));
        values().for_each(|value| histogram.add(value));
        let (base, buckets) = (2f64.powf(2f64.powi(-histogram.scale())), histogram.buckets.len());
        assert!((BUCKETS_MAX / 4..=BUCKETS_MAX).contains(&buckets), "{buckets}");
        assert_eq!(histogram.buckets().map(|(_, count)| count).sum::<u64>(), 601);
        for (index, count) in histogram.buckets() {
            let (low, high) = (f64::from(index) * base.log2(), f64::from(index + 1) * base.log2());
            let within = |value: &f64| value.log2() > low - 1e-9 && value.log2() <= high + 1e-9;
            assert_eq!(values().filter(within).count() as u64, count, "{index}");
        }
        let mut two = ExponentialHistogram::new(5);
        [1e-300, 1e300].into_iter().for_each(|value| two.add(value));
        assert!((SPAN_MAX / 4..=SPAN_MAX).contains(&two.span()), "{}", two.span());
        let own = ExponentialHistogram::new(3);
        assert_eq!((own.scale(), 3), (3, own.scale), "others are as fine as they were");
    }

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
