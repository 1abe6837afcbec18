//! Intervals by drawing runs anew: the bootstrap, with what it lacks for few runs put back.

use stdx::Prng;

/// The fewest runs of each variant that give an interval.
pub const INTERVAL_RUNS_MIN: usize = 3;
/// Draws, at most and at least; fewer where there are many runs.
const DRAWS: (usize, usize) = (1000, 200);
/// Differences over all draws of one interval, about.
const WORK: usize = 2_000_000;
/// The normal distribution's 97.5th percentile.
const Z: f64 = 1.959_963_984_540_054;

/// Draws with a seed.
pub(super) struct Resampler {
    rng: Prng,
    differences: Vec<f64>,
}

impl Resampler {
    pub(super) fn new(seed: u64) -> Self {
        Self { rng: Prng::new(stdx::mix(seed, 0xb007)), differences: Vec::new() }
    }

    /// The Hodges-Lehmann shift from `a` to `b` and its 95 % interval; no interval for less than three values of either.
    ///
    /// Values drawn from few are too close together: their variance is `(n - 1) / n` of what it should be, and the normal
    /// distribution's tail too short for as many degrees of freedom. So the percentile interval is stretched about the shift
    /// by `sqrt(n / (n - 1)) t / z` (after Hesterberg, "What Teachers Should Know about the Bootstrap", 2015, 3.2).
    pub(super) fn shift(&mut self, a: &[f64], b: &[f64]) -> (f64, Option<(f64, f64)>) {
        let shift = self.hodges_lehmann(a, b);
        let fewest = a.len().min(b.len());
        if fewest < INTERVAL_RUNS_MIN {
            return (shift, None);
        }
        let mut drawn: Vec<f64> = (0..draws(a.len(), b.len()))
            .map(|_| {
                let (a, b) = (self.drawn(a, a.len()), self.drawn(b, b.len()));
                self.hodges_lehmann(&a, &b)
            })
            .collect();
        drawn.sort_by(f64::total_cmp);
        let stretch = narrowness(fewest) * t(a.len() + b.len() - 2) / Z;
        let at = |share: f64| shift + (quantile(&drawn, share) - shift) * stretch;
        (shift, Some((at(0.025).min(shift), at(0.975).max(shift))))
    }

    /// The shift that 95 of 100 comparisons of equal variants stay below: each value's distance from its variant's mean, drawn
    /// for both. `None` with fewer than four values.
    pub(super) fn floor(&mut self, a: &[f64], b: &[f64]) -> Option<f64> {
        let repeats = |values: &[f64]| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let wide = narrowness(values.len().max(2));
            let away: Vec<f64> = values.iter().map(|value| (value - mean) * wide).collect();
            if values.len() > 1 { away } else { Vec::new() }
        };
        let pool = [repeats(a), repeats(b)].concat();
        if pool.len() < 4 {
            return None;
        }
        let mut drawn: Vec<f64> = (0..draws(a.len(), b.len()))
            .map(|_| {
                let (a, b) = (self.drawn(&pool, a.len()), self.drawn(&pool, b.len()));
                self.hodges_lehmann(&a, &b).abs()
            })
            .collect();
        drawn.sort_by(f64::total_cmp);
        Some(quantile(&drawn, 0.95))
    }

    fn drawn(&mut self, from: &[f64], count: usize) -> Vec<f64> {
        (0..count).map(|_| from[self.rng.below(from.len() as u64) as usize]).collect()
    }

    /// The median of all differences between a value of `b` and one of `a`.
    fn hodges_lehmann(&mut self, a: &[f64], b: &[f64]) -> f64 {
        let differences = &mut self.differences;
        differences.clear();
        differences.extend(b.iter().flat_map(|b| a.iter().map(move |a| b - a)));
        let middle = differences.len() / 2;
        let (below, high, _) = differences.select_nth_unstable_by(middle, f64::total_cmp);
        let high = *high;
        if below.len() < middle || middle * 2 != a.len() * b.len() {
            return high;
        }
        let low = below.iter().copied().fold(f64::MIN, f64::max);
        f64::midpoint(low, high)
    }
}

fn draws(m: usize, n: usize) -> usize {
    (WORK / (m * n).max(1)).clamp(DRAWS.1, DRAWS.0)
}

/// By how much values drawn from `n` lie too close together.
fn narrowness(n: usize) -> f64 {
    (n as f64 / (n as f64 - 1.0)).sqrt()
}

/// A quantile of sorted values, between two of them in proportion.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = share * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    low + (high - low) * at.fract()
}

/// Student's t for 97.5 % and at least four degrees of freedom, to 0.3 % (Abramowitz and Stegun, 26.7.5).
fn t(freedom: usize) -> f64 {
    let n = freedom as f64;
    let power = |k: i32| Z.powi(k);
    let first = (power(3) + Z) / 4.0;
    let second = (5.0 * power(5) + 16.0 * power(3) + 3.0 * Z) / 96.0;
    let third = (3.0 * power(7) + 19.0 * power(5) + 17.0 * power(3) - 15.0 * Z) / 384.0;
    Z + first / n + second / (n * n) + third / (n * n * n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_table() {
        for (freedom, expect) in [(4, 2.776), (8, 2.306), (18, 2.101), (60, 2.000)] {
            assert!((t(freedom) / expect - 1.0).abs() < 0.003, "{freedom}: {}", t(freedom));
        }
    }

    #[test]
    fn the_shift_is_the_median_difference() {
        let mut resampler = Resampler::new(1);
        assert_eq!(resampler.hodges_lehmann(&[1.0], &[3.5]), 2.5);
        assert_eq!(resampler.hodges_lehmann(&[0.0, 1.0], &[1.0, 4.0]), 2.0);
        assert_eq!(resampler.hodges_lehmann(&[0.0, 1.0, 5.0], &[2.0]), 1.0);
    }

    /// Intervals of normal values hold the truth as often as they say.
    #[test]
    fn intervals_cover() {
        for (runs, least) in [(3, 0.90), (5, 0.93), (10, 0.93)] {
            let mut rng = Prng::new(runs as u64);
            let rounds = 600;
            let held = (0..rounds).filter(|round| {
                let mut draw = |mean: f64| -> Vec<f64> {
                    (0..runs).map(|_| mean + 0.02 * rng.normal()).collect()
                };
                let (a, b) = (draw(0.0), draw(0.05));
                let interval = Resampler::new(*round).shift(&a, &b).1;
                interval.is_some_and(|(low, high)| (low..=high).contains(&0.05))
            });
            let share = held.count() as f64 / rounds as f64;
            assert!(share >= least, "{runs} runs: {share}");
            assert!(share < 0.99, "{runs} runs: wider than it says, {share}");
        }
    }

    /// As many comparisons of equal variants stay below the floor as it says.
    #[test]
    fn the_floor_is_that_of_equal_variants() {
        let mut rng = Prng::new(8);
        let mut draw = || -> Vec<f64> { (0..8).map(|_| 0.02 * rng.normal()).collect() };
        let below = (0..400).filter(|round| {
            let (a, b) = (draw(), draw());
            let mut resampler = Resampler::new(*round);
            let floor = resampler.floor(&a, &b).unwrap_or(0.0);
            resampler.hodges_lehmann(&a, &b).abs() <= floor
        });
        let share = below.count() as f64 / 400.0;
        assert!((0.91..0.99).contains(&share), "{share}");
    }
}
