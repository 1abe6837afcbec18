//! The figure that decides first: it is judged as if it were alone, so that the others cost it little.

use super::measure::{Measure, Run};

/// The mean decides where its variance is at most this share of the median's: with times as spread as exponential ones (0.48),
/// not with a log-normal spread of 0.4 (0.7).
const MEAN_SHARE_MAX: f64 = 0.55;

/// A median whose standard error, by the requests of a run, is at most this share decides: the machine's own noise is greater.
const MEDIAN_ERROR_MIN: f64 = 0.03;

/// The middle of the times that the requests within these runs determine best: the median, which slow moments of a machine hardly
/// move, or the mean, where the times are spread so evenly that their median needs twice as many requests. How far runs lie apart
/// plays no part in the choice, so it raises no false alarm.
#[must_use]
pub fn primary<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Measure {
    let (mut of_mean, mut of_median, mut count) = (0.0, 0.0, 0.0);
    for run in runs.into_iter().filter(|run| run.counts()) {
        of_mean += variance_of_mean(run);
        of_median += variance_of_median(run);
        count += 1.0;
    }
    let is_vague = of_median > count * MEDIAN_ERROR_MIN * MEDIAN_ERROR_MIN;
    if is_vague && of_mean < MEAN_SHARE_MAX * of_median { Measure::Mean } else { Measure::P50 }
}

/// The variance of a run's mean, relative to it, were its requests independent.
fn variance_of_mean(run: &Run) -> f64 {
    let (count, mean) = (run.times.count() as f64, Measure::Mean.of(run));
    (run.times.stddev_ns() / mean).powi(2) / count
}

/// The same of its median: half of the distance, in logarithms, between the order statistics one standard error to either side.
fn variance_of_median(run: &Run) -> f64 {
    let error = 0.5 / (run.times.count() as f64).sqrt();
    let at = |q: f64| (run.times.quantile(q).0 as f64).max(1.0).ln();
    ((at(0.5 + error) - at(0.5 - error)) / 2.0).powi(2)
}

#[cfg(test)]
mod tests {
    use metrics::Histogram;
    use stdx::{Nanos, Prng};

    use super::*;

    #[test]
    fn the_shape_of_the_times_decides() {
        let of = |time_ms: fn(&mut Prng) -> f64| {
            let run = |seed: u64| {
                let (mut rng, mut times) = (Prng::new(seed), Histogram::default());
                (0..400).for_each(|_| times.record(Nanos((time_ms(&mut rng) * 1e6) as u64)));
                Run { times, ..Run::default() }
            };
            let runs: Vec<Run> = (0..16).map(run).collect();
            primary(&runs)
        };
        assert_eq!(of(|rng| 10.0 * rng.exponential()), Measure::Mean);
        assert_eq!(of(|rng| 10.0 * (0.4 * rng.normal()).exp()), Measure::P50);
        assert_eq!(of(|_| 10.0), Measure::P50);
        let pauses =
            |rng: &mut Prng| if rng.below(100) == 0 { 200.0 } else { 10.0 + rng.exponential() };
        assert_eq!(of(pauses), Measure::P50);
        assert_eq!(primary(&[]), Measure::P50);
    }
}
