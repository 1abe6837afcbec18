//! How many runs it takes to call anything different.

use super::{Contrast, INTERVAL_RUNS_MIN, LEVEL, Measure, family};

impl Contrast {
    /// Whether so many runs could be called different at all, where there are so many comparisons.
    #[must_use]
    pub fn can_differ(&self, comparisons: usize) -> bool {
        self.has_intervals() && self.p_least * comparisons.max(1) as f64 <= LEVEL
    }

    /// Whether so many runs are called different for certain where all of one lie above all of the other, whatever the other
    /// measures do: each of them may be as far apart in splits of its own, and the family's p counts those as well.
    #[must_use]
    pub fn is_enough(&self, comparisons: usize) -> bool {
        self.has_intervals() && self.p_least <= p_enough(comparisons)
    }

    fn has_intervals(&self) -> bool {
        self.runs.0.min(self.runs.1) >= INTERVAL_RUNS_MIN
    }
}

/// The fewest runs of each variant that are [enough](Contrast::is_enough), where there are so many comparisons.
#[must_use]
pub fn runs_needed(comparisons: usize) -> usize {
    let most = p_enough(comparisons);
    let mut runs = INTERVAL_RUNS_MIN..;
    runs.find(|runs| family::p_least(*runs, *runs) <= most).expect("it goes to 0")
}

/// The greatest least p of so many runs that are enough: every measure of every comparison may have as much.
fn p_enough(comparisons: usize) -> f64 {
    LEVEL / (Measure::ALL.len() * comparisons.max(1)) as f64
}
