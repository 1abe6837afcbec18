//! Where the steady state of a run begins.

/// How many values are averaged into one before anything is looked for.
const BATCH: usize = 5;
/// The least number of batches for a statement.
const BATCHES_MIN: usize = 6;
/// A start is other than the rest when it lies so many of the rest's standard deviations away.
const DEVIATIONS: f64 = 3.0;

/// How many leading values of a series belong to its start and not to its steady state: a multiple of 5, at most half of them,
/// 0 where the evidence is weak.
///
/// The cut is MSER-5's: of all cuts `d` up to the middle the one with the least `S2(d) / (n - d)`, where `S2(d)` is the
/// variance of the rest, over means of 5 values (White, An effective truncation heuristic for bias reduction in simulation
/// output, 1997). It is taken only where the first of the means, and the mean of all that is cut, lie more than 3 standard
/// deviations of the rest away from it: queues come in bursts, and cutting off an early burst would make every server look
/// better.
#[must_use]
pub fn start_of_steady_state(values: &[f64]) -> usize {
    let batches: Vec<f64> =
        values.chunks_exact(BATCH).map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    if batches.len() < BATCHES_MIN {
        return 0;
    }
    let score = |cut: usize| {
        let rest = &batches[cut..];
        variance(rest) / rest.len() as f64
    };
    let cut = (0..=batches.len() / 2).min_by(|a, b| score(*a).total_cmp(&score(*b))).unwrap_or(0);
    let (start, rest) = batches.split_at(cut);
    let is_apart = |value: f64| (value - mean(rest)).abs() > DEVIATIONS * variance(rest).sqrt();
    let is_start = start.first().is_some_and(|first| is_apart(*first)) && is_apart(mean(start));
    if is_start { cut * BATCH } else { 0 }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    squares / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use stdx::Prng;

    use super::*;

    /// A noisy series around 10; its first `start` values are `times` as large.
    fn series(seed: u64, start: usize, times: f64) -> Vec<f64> {
        let mut rng = Prng::new(seed);
        let noise = |at: usize| (10.0 + rng.normal()) * if at < start { times } else { 1.0 };
        (0..100).map(noise).collect()
    }

    #[test]
    fn a_start_is_found_and_nothing_else() {
        let cases = [(0, 1.0, 0..=0), (20, 3.0, 20..=50), (33, 0.2, 35..=50), (50, 2.0, 50..=50)];
        for (start, times, expect) in cases {
            for seed in 0..50 {
                let found = start_of_steady_state(&series(seed, start, times));
                assert!(expect.contains(&found), "{start} {times} seed {seed}: {found}");
            }
        }
    }

    #[test]
    fn too_little_says_nothing() {
        for len in [0, 1, 29] {
            assert_eq!(start_of_steady_state(&series(1, 10, 9.0)[..len]), 0);
        }
        assert_eq!(start_of_steady_state(&[7.0; 100]), 0, "no noise at all");
    }

    #[test]
    fn a_burst_in_the_middle_is_no_start() {
        let mut values = series(3, 0, 1.0);
        values[40..45].fill(60.0);
        assert_eq!(start_of_steady_state(&values), 0);
    }
}
