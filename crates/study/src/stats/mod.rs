//! Are two samples of the same distribution? Rank tests and effect sizes, from values with their counts, so that a
//! histogram of millions costs no more than its buckets.
//!
//! They take every value as drawn on its own. Requests of one run are not: a slow moment makes many of them slow together,
//! and the p-values come out far too small. With repeats, compare one figure a run.

mod normal;
mod permutation;
mod ranks;
mod shift;
mod smirnov;
mod tally;

pub use permutation::EXACT_MAX;
pub use ranks::{MannWhitney, mann_whitney};
pub use shift::{Shift, hodges_lehmann};
pub use smirnov::{Smirnov, smirnov};
pub use tally::Tally;

/// Holm's adjustment of several p-values: the probability that any of them is a false alarm stays below the level that the
/// adjusted ones are compared with (Holm, "A simple sequentially rejective multiple test procedure", 1979).
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut least = 0.0f64;
    for (rank, &at) in order.iter().enumerate() {
        least = least.max(p_values[at] * (p_values.len() - rank) as f64).min(1.0);
        adjusted[at] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests;
