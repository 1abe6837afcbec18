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
pub mod student;
mod tally;
mod welch;

pub use permutation::EXACT_MAX;
pub use ranks::{MannWhitney, mann_whitney};
pub use shift::{Shift, hodges_lehmann};
pub use smirnov::{Smirnov, smirnov};
pub use tally::Tally;
pub use welch::{RUNS_MIN, Welch, mean, welch};

#[cfg(test)]
mod tests;
