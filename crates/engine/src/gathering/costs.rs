//! `Cost`: what a window costs, seen in a pair of stretches, one with and one without it; `Costs`: those of the last pairs. One pair
//! says little on a machine that does other things as well, so that pairs are judged by their medians.

use super::stretch::Measure;

/// Pairs that are judged together.
pub(super) const PAIRS: usize = 8;

/// What the window costs: natural logarithms of ratios, 0 for nothing, negative where it gains.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cost {
    /// By how much fewer answers come.
    pub(super) rate: f64,
    /// By how much longer the median takes.
    pub(super) p50: f64,
    /// The same of the 99th percentile.
    pub(super) p99: f64,
}

impl Cost {
    pub(super) fn of(with: Measure, without: Measure) -> Self {
        let ratio = |a: u64, b: u64| (a.max(1) as f64 / b.max(1) as f64).ln();
        Self {
            rate: (without.rate_per_s / with.rate_per_s).ln(),
            p50: ratio(with.p50.0, without.p50.0),
            p99: ratio(with.p99.0, without.p99.0),
        }
    }

    /// Whether it is within what each may be.
    pub(super) fn is_within(self, limit: Self) -> bool {
        self.rate <= limit.rate && self.p50 <= limit.p50 && self.p99 <= limit.p99
    }
}

/// The costs of the last pairs, the oldest replaced first.
#[derive(Debug, Default)]
pub(super) struct Costs {
    pairs: [Cost; PAIRS],
    /// How many there were, those replaced included.
    seen: usize,
}

impl Costs {
    pub(super) fn clear(&mut self) {
        self.seen = 0;
    }

    pub(super) fn push(&mut self, cost: Cost) {
        self.pairs[self.seen % PAIRS] = cost;
        self.seen += 1;
    }

    /// The median of each figure, of the last `most` pairs; `None` where there were fewer than `least`.
    pub(super) fn median(&self, most: usize, least: usize) -> Option<Cost> {
        let count = self.seen.min(most).min(PAIRS);
        if count < least.max(1) {
            return None;
        }
        let median = |figure: fn(&Cost) -> f64| {
            let mut sorted = [0.0; PAIRS];
            let sorted = &mut sorted[..count];
            for (age, to) in sorted.iter_mut().enumerate() {
                *to = figure(&self.pairs[(self.seen - 1 - age) % PAIRS]);
            }
            sorted.sort_unstable_by(f64::total_cmp);
            f64::midpoint(sorted[(count - 1) / 2], sorted[count / 2])
        };
        Some(Cost {
            rate: median(|cost| cost.rate),
            p50: median(|cost| cost.p50),
            p99: median(|cost| cost.p99),
        })
    }
}

#[cfg(test)]
mod tests {
    use stdx::Nanos;

    use super::*;

    fn cost(rate: f64) -> Cost {
        Cost { rate, p50: -rate, p99: 0.0 }
    }

    #[test]
    fn a_pair_is_a_ratio() {
        let measure = |rate_per_s, p50_us| Measure {
            rate_per_s,
            p50: Nanos::from_micros(p50_us),
            p99: Nanos::MILLI,
        };
        let cost = Cost::of(measure(90_000.0, 700), measure(100_000.0, 600));
        assert!((cost.rate - (1.0_f64 / 0.9).ln()).abs() < 1e-9);
        assert!((cost.p50 - (7.0_f64 / 6.0).ln()).abs() < 1e-9);
        assert_eq!(cost.p99, 0.0);
        assert!(cost.is_within(Cost { rate: 0.11, p50: 0.16, p99: 0.0 }));
        assert!(!cost.is_within(Cost { rate: 0.10, p50: 0.16, p99: 0.0 }));
        assert!(!cost.is_within(Cost { rate: 0.11, p50: 0.15, p99: 0.0 }));
    }

    #[test]
    fn few_outliers_change_no_median() {
        let mut costs = Costs::default();
        (0..5).for_each(|_| costs.push(cost(0.01)));
        assert_eq!(costs.median(PAIRS, 6), None);
        costs.push(cost(9.0));
        costs.push(cost(0.01));
        costs.push(cost(-9.0));
        assert_eq!(costs.median(PAIRS, 6), Some(cost(0.01)));
        // The oldest go first.
        (0..5).for_each(|_| costs.push(cost(0.05)));
        assert_eq!(costs.median(PAIRS, 6).map(|cost| cost.rate), Some(0.05));
        costs.push(cost(0.2));
        costs.push(cost(0.1));
        assert_eq!(costs.median(3, 3).map(|cost| cost.rate), Some(0.1), "of the last three");
        costs.clear();
        assert_eq!(costs.median(PAIRS, 0), None);
    }
}
