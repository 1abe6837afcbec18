//! Intervals of quantiles of values that depend on each other, as response times do while requests wait for each other: by the means
//! of blocks, each long enough to know little of the next.
//!
//! ```text
//! p_b  share of block b's values beyond the quantile q of all           r  correlation of p_b and p_(b+1)
//! v = max(Var(p_b) / B * f, p (1 - p) / n),  f = (1 + r) / (1 - r)      B  blocks, n  values, p = 1 - q
//! low, high = the quantiles at 1 - (p ± t sqrt(v))                      t  Student's, at (B - 1) / f degrees of freedom
//! ```
//!
//! Source: batch means and their correction for what is left of the correlation: Law, Simulation Modeling and Analysis, 9.5.3;
//! the way from shares to quantiles: Chen and Kelton, "Quantile and tolerance-interval estimation in simulation", 2006.
//! docs/design/intervals.md has the shares of intervals that hold the truth.

use metrics::{Histogram, Sketch};
use stdx::Nanos;
use study::stats::student;

/// Blocks that a run is cut into.
pub(super) const BLOCKS: usize = 16;
/// Values that a run needs: ten in each block.
const VALUES_MIN: u64 = 10 * BLOCKS as u64;
/// An interval holds the truth with this probability.
pub(crate) const LEVEL: f64 = 0.95;
/// Blocks that are this much alike to the next are too short: the run is no series that forgets.
const CORRELATION_MAX: f64 = 0.7;
/// So many independent values beyond a quantile show how far it may lie above; of fewer only a lower bound is known.
const BEYOND_MIN: f64 = 9.0;
/// Kendall's statistic from which the blocks have a trend (0.5 % of series without one are beyond it).
const TREND_MAX: f64 = 2.81;

/// Where a quantile lies with probability [`LEVEL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) low: Nanos,
    /// `None` where the values do not show how far it may lie above.
    pub(crate) high: Option<Nanos>,
}

/// Whether blocks are a series that stays as it is: neither its median nor its tail has a trend.
pub(super) fn is_stationary(blocks: &[Sketch], all: &Histogram) -> bool {
    let trend = |q: f64| kendall(&shares_beyond(blocks, all.quantile(q))).abs();
    blocks.len() == BLOCKS && trend(0.5) <= TREND_MAX && trend(0.9) <= TREND_MAX
}

/// The interval of quantile `q` of `all`, of which the blocks are the parts in their order; `None` where they do not tell.
pub(super) fn interval(blocks: &[Sketch], all: &Histogram, q: f64) -> Option<Interval> {
    let values = all.count();
    if values < VALUES_MIN || blocks.len() != BLOCKS {
        return None;
    }
    let shares = shares_beyond(blocks, all.quantile(q));
    let count = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / count;
    let off: Vec<f64> = shares.iter().map(|share| share - mean).collect();
    let squares: f64 = off.iter().map(|one| one * one).sum();
    let products: f64 = off.windows(2).map(|pair| pair[0] * pair[1]).sum();
    // An estimate of the correlation is too low by 1 / B.
    let correlation = if squares > 0.0 { (products / squares + 1.0 / count).max(0.0) } else { 0.0 };
    if correlation >= CORRELATION_MAX {
        return None;
    }
    let factor = (1.0 + correlation) / (1.0 - correlation);
    let beyond = 1.0 - q;
    let alone = beyond * q / values as f64;
    let variance = (squares / (count - 1.0) / count * factor).max(alone);
    let freedom = ((count - 1.0) / factor).max(3.0);
    let half = student::distance(1.0 - LEVEL, freedom) * variance.sqrt();
    let independent = beyond * q / variance * beyond.min(q);
    let is_open = independent < BEYOND_MIN || (beyond - half) * (values as f64) < 1.0;
    let low = all.quantile((q - half).max(0.0));
    let high = (!is_open).then(|| all.quantile(q + half));
    Some(Interval { low, high })
}

/// The share of each block's values beyond a time.
fn shares_beyond(blocks: &[Sketch], time: Nanos) -> Vec<f64> {
    let beyond = |block: &Sketch| {
        let below = block.count_below(Nanos(time.0.saturating_add(1)));
        (block.count() - below) as f64 / block.count().max(1) as f64
    };
    blocks.iter().map(beyond).collect()
}

/// Kendall's rank statistic of a series against its order, in standard errors; 0 without a trend. Kendall, Rank Correlation
/// Methods, 1970.
fn kendall(values: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (at, one) in values.iter().enumerate() {
        for later in &values[at + 1..] {
            sum += (later - one).partial_cmp(&0.0).map_or(0.0, |order| f64::from(order as i8));
        }
    }
    let n = values.len() as f64;
    sum / (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt().max(1.0)
}

#[cfg(test)]
mod tests {
    use stdx::Prng;

    use super::*;

    /// Values in nanoseconds as a run's blocks and their sum.
    fn blocks_of(values: &[f64]) -> (Vec<Sketch>, Histogram) {
        let (mut all, mut blocks) = (Histogram::new(), Vec::new());
        for block in values.chunks(values.len().div_ceil(BLOCKS)) {
            let mut sketch = Sketch::new();
            for value in block {
                let time = Nanos((value * 1e6) as u64);
                sketch.record(time);
                all.record(time);
            }
            blocks.push(sketch);
        }
        (blocks, all)
    }

    /// `exp(x)`, where `x` is normal and depends on the one before by `phi`.
    fn autoregressive(phi: f64, count: usize, rng: &mut Prng) -> Vec<f64> {
        let mut x = rng.normal();
        let mut next = || {
            x = phi * x + (1.0 - phi * phi).sqrt() * rng.normal();
            x.exp()
        };
        (0..count).map(|_| next()).collect()
    }

    /// Response times of a queue with one server at this share of its capacity (Lindley's recursion), in service times.
    fn queue(load: f64, count: usize, rng: &mut Prng) -> Vec<f64> {
        let is_busy = rng.next_f64() < load;
        let mut wait = if is_busy { rng.exponential() / (1.0 - load) } else { 0.0 };
        let mut next = || {
            let response = wait + rng.exponential();
            wait = (response - rng.exponential() / load).max(0.0);
            response
        };
        (0..count).map(|_| next()).collect()
    }

    /// How many of so many series' intervals hold the truth, how many are none, and how many have no upper bound.
    fn cover(make: impl Fn(&mut Prng) -> Vec<f64>, q: f64, truth: f64) -> (u32, u32, u32) {
        let (mut held, mut none, mut open) = (0, 0, 0);
        for seed in 0..SERIES {
            let (blocks, all) = blocks_of(&make(&mut Prng::new(u64::from(seed))));
            let found = interval(&blocks, &all, q).filter(|_| is_stationary(&blocks, &all));
            let truth = Nanos((truth * 1e6) as u64);
            match found {
                None => none += 1,
                Some(Interval { low, high }) => {
                    open += u32::from(high.is_none());
                    held += u32::from(low <= truth && high.is_none_or(|high| truth <= high));
                }
            }
        }
        (held, none, open)
    }

    const SERIES: u32 = 60;

    /// Of the intervals that there are, nine in ten and more hold the truth, whether values depend on each other or not.
    #[test]
    fn intervals_hold_the_truth_of_series_that_depend() {
        let (mut held_all, mut given_all) = (0, 0);
        let mut check = |name: &str, make: &dyn Fn(&mut Prng) -> Vec<f64>, truths: [f64; 2]| {
            for (q, truth) in [0.5, 0.95].into_iter().zip(truths) {
                let (held, none, open) = cover(make, q, truth);
                let given = SERIES - none;
                println!(
                    "{name}, p{}: {held} of {given} hold, {open} of them without end",
                    100.0 * q
                );
                assert!(none <= SERIES / 5, "{name}: {none} without an interval");
                assert!(f64::from(held) >= 0.82 * f64::from(given), "{name}: {held} of {given}");
                (held_all, given_all) = (held_all + held, given_all + given);
            }
        };
        for phi in [0.0, 0.5, 0.9] {
            let name = format!("autoregressive, {phi}");
            // exp(1.645) is the 95th percentile of the lognormal law.
            check(&name, &|rng| autoregressive(phi, 1600, rng), [1.0, 1.644_853_6f64.exp()]);
        }
        for load in [0.5, 0.8] {
            let truths = [0.5, 0.05].map(|beyond: f64| -beyond.ln() / (1.0 - load));
            check(&format!("queue at {load}"), &|rng| queue(load, 3200, rng), truths);
        }
        let share = f64::from(held_all) / f64::from(given_all);
        println!("{held_all} of {given_all} hold the truth: {:.1}%", 100.0 * share);
        assert!(share >= 0.9, "{share}");
    }

    #[test]
    fn what_grows_or_is_little_has_no_interval() {
        let mut rng = Prng::new(7);
        let growing: Vec<f64> =
            (0..1600).map(|n| 1.0 + f64::from(n) / 400.0 + rng.next_f64()).collect();
        let (blocks, all) = blocks_of(&growing);
        assert!(!is_stationary(&blocks, &all));
        assert_eq!(interval(&blocks, &all, 0.5), None, "each block is like the one before");
        let (blocks, all) = blocks_of(&autoregressive(0.0, 100, &mut rng));
        assert_eq!(interval(&blocks, &all, 0.5), None, "a hundred values");
        let (blocks, all) = blocks_of(&[5.0; 400]);
        let even = interval(&blocks, &all, 0.5).expect("values that are all alike");
        assert!(is_stationary(&blocks, &all));
        assert_eq!((even.low, even.high), (all.quantile(0.5), Some(all.quantile(0.5))));
        let (blocks, all) = blocks_of(&autoregressive(0.0, 400, &mut rng));
        let open = interval(&blocks, &all, 0.99).expect("a lower bound");
        assert!(open.high.is_none() && open.low < all.quantile(0.99), "{open:?}");
    }
}
