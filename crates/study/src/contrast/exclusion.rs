//! Which figures of which runs do not count: what the load generator spoilt, and the one run that stands out. It changes no figure.

use super::measure::{Doubt, Measure, Run, Scale};
use crate::stats::{RUNS_MIN, mean, student};

/// The fewest runs of a variant of which one may be called an outlier. Of fewer, the one of three or four that lies in a server's
/// other mode looks like one: with four of each the false alarms of two modes rose from 1 to 17 of 100.
const RUNS_FOR_OUTLIERS: usize = 6;
/// One run of so many may be an outlier, and one in any case. More of them are how the server behaves.
const RUNS_FOR_EACH: usize = 8;
/// How seldom any of the runs of all variants looks like one, were all of them alike (by the spread of all variants).
const LEVEL_OF_ALL: f64 = 0.001;
/// How seldom any of the runs of a variant does by the spread of that variant: one may vary more than the others.
const LEVEL_OF_ONE: f64 = 0.05;
/// A run that is nearer to the others than this share does no harm.
const DISTANCE_MIN: f64 = 0.05;

/// Decides which runs' figures count, for variants that are compared with one another. Figures that the generator spoilt
/// ([`Run::doubts`]) count nevertheless where fewer than [`RUNS_MIN`] runs of the variant would be left. Outliers are added.
pub fn exclude(variants: &mut [Vec<Run>]) {
    for measure in Measure::ALL {
        variants.iter_mut().for_each(|runs| readmit(runs, measure));
        // Errors are rare by nature: the run that has them is no outlier.
        if measure.scale() == Scale::Ratio {
            exclude_outliers(variants, measure);
        }
    }
}

/// Lets spoilt figures count where too few would be left without them.
fn readmit(runs: &mut [Run], measure: Measure) {
    let good = runs.iter().filter(|run| run.counts() && run.includes(measure)).count();
    let is_invalid = |one: &(Measure, Doubt)| *one == (measure, Doubt::Invalid);
    if good < RUNS_MIN {
        let doubts = runs.iter_mut().flat_map(|run| &mut run.doubts);
        doubts.filter(|one| is_invalid(one)).for_each(|one| one.1 = Doubt::InvalidButNeeded);
    }
}

fn exclude_outliers(variants: &mut [Vec<Run>], measure: Measure) {
    let sides: Vec<Side> = variants.iter().map(|runs| Side::of(runs, measure)).collect();
    let judged = || sides.iter().filter(|side| side.values.len() >= RUNS_FOR_OUTLIERS);
    let values: usize = judged().map(|side| side.values.len()).sum();
    let rest: usize = judged().map(|side| side.rest.len()).sum();
    let squares: f64 = judged().map(|side| squares(&side.rest)).sum();
    let freedom = rest.saturating_sub(judged().count()) as f64;
    if freedom < 1.0 {
        return;
    }
    let all = Noise { variance: squares / freedom, freedom, level: LEVEL_OF_ALL / values as f64 };
    let outliers: Vec<Vec<usize>> = sides.iter().map(|side| side.outliers(&all)).collect();
    for (runs, outliers) in variants.iter_mut().zip(outliers) {
        outliers.into_iter().for_each(|at| runs[at].doubts.push((measure, Doubt::Outlier)));
    }
}

/// What a distance is judged by.
struct Noise {
    variance: f64,
    freedom: f64,
    /// The chance of a distance that is called too great.
    level: f64,
}

/// One figure of the runs of a variant that count.
struct Side {
    /// The run, and its value on the axis of changes.
    values: Vec<(usize, f64)>,
    /// Those that lie farthest from the others.
    farthest: Vec<(usize, f64)>,
    /// All others.
    rest: Vec<f64>,
}

impl Side {
    fn of(runs: &[Run], measure: Measure) -> Self {
        let included = |(_, run): &(usize, &Run)| run.counts() && run.includes(measure);
        let value = |(at, run): (usize, &Run)| (at, measure.scale().along(measure.of(run)));
        let values: Vec<(usize, f64)> =
            runs.iter().enumerate().filter(included).map(value).collect();
        let (mut rest, mut farthest) = (values.clone(), Vec::new());
        if values.len() >= RUNS_FOR_OUTLIERS {
            for _ in 0..(values.len() / RUNS_FOR_EACH).max(1) {
                let middle = mean(&rest.iter().map(|one| one.1).collect::<Vec<_>>());
                let away = |at: &usize| (rest[*at].1 - middle).abs();
                let last = (0..rest.len()).max_by(|a, b| away(a).total_cmp(&away(b)));
                farthest.extend(last.map(|at| rest.swap_remove(at)));
            }
        }
        let rest = rest.into_iter().map(|one| one.1).collect();
        Self { values, farthest, rest }
    }

    /// The runs that lie too far from the rest for both the noise of all variants and that of their own.
    fn outliers(&self, all: &Noise) -> Vec<usize> {
        if self.values.len() < RUNS_FOR_OUTLIERS {
            return Vec::new();
        }
        let (count, middle) = (self.rest.len() as f64, mean(&self.rest));
        let freedom = count - 1.0;
        let level = LEVEL_OF_ONE / self.values.len() as f64;
        let own = Noise { variance: squares(&self.rest) / freedom, freedom, level };
        let is_far = |value: f64, noise: &Noise| {
            let variance = noise.variance.max(Scale::Ratio.resolution()) * (1.0 + 1.0 / count);
            student::two_sided((value - middle) / variance.sqrt(), noise.freedom) < noise.level
        };
        let far = self.farthest.iter().filter(|(_, value)| {
            (value - middle).abs() >= DISTANCE_MIN && is_far(*value, all) && is_far(*value, &own)
        });
        far.map(|(at, _)| *at).collect()
    }
}

/// The sum of squares about the mean.
fn squares(values: &[f64]) -> f64 {
    let middle = mean(values);
    values.iter().map(|value| (value - middle).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use metrics::Histogram;
    use stdx::Nanos;

    use super::*;

    /// Runs whose requests all take so many milliseconds.
    fn runs(times_ms: &[f64]) -> Vec<Run> {
        let run = |ms: &f64| {
            let mut times = Histogram::default();
            times.record_n(Nanos((ms * 1e6) as u64), 100);
            Run { times, throughput_per_s: 100.0, ..Run::default() }
        };
        times_ms.iter().map(run).collect()
    }

    fn outliers(variants: &[&[f64]]) -> Vec<(usize, usize)> {
        let mut variants: Vec<Vec<Run>> = variants.iter().map(|times| runs(times)).collect();
        exclude(&mut variants);
        let all = variants.iter().enumerate();
        all.flat_map(|(side, runs)| {
            let out = runs.iter().enumerate().filter(|(_, run)| !run.includes(Measure::P50));
            out.map(move |(at, _)| (side, at)).collect::<Vec<_>>()
        })
        .collect()
    }

    #[test]
    fn one_run_that_stands_out_does_not_count() {
        let calm = [10.0, 10.3, 9.8, 10.1, 9.9, 10.4, 9.7, 10.0];
        let mut odd = calm;
        odd[3] = 15.0;
        assert_eq!(outliers(&[&calm, &calm]), []);
        assert_eq!(outliers(&[&odd, &calm]), [(0, 3)]);
        assert_eq!(outliers(&[&calm, &odd]), [(1, 3)]);
        assert_eq!(outliers(&[&odd, &odd]), [(0, 3), (1, 3)]);
        // Two of eight are how the server behaves.
        odd[5] = 15.2;
        assert_eq!(outliers(&[&odd, &calm]), []);
        // So is one of eight beside a variant that has both levels.
        let both = [10.0, 15.0, 10.1, 15.2, 9.9, 10.0, 15.1, 14.9];
        odd[5] = 10.4;
        assert_eq!(outliers(&[&odd, &both]), []);
        assert_eq!(outliers(&[&odd[..5], &calm[..5]]), [], "few runs show no outlier");
    }

    /// Figures that the generator spoilt do not count, as long as three others do.
    #[test]
    fn spoilt_figures_count_where_too_few_are_left() {
        let counted = |spoilt: usize| {
            let mut variants = vec![runs(&[10.0; 5]), runs(&[11.0; 5])];
            for run in variants[0].iter_mut().take(spoilt) {
                run.doubts = vec![(Measure::P99, Doubt::Invalid)];
            }
            exclude(&mut variants);
            let of = |measure| variants[0].iter().filter(|run| run.includes(measure)).count();
            (of(Measure::P50), of(Measure::P99))
        };
        assert_eq!([0, 2, 3, 5].map(counted), [(5, 5), (5, 3), (5, 5), (5, 5)]);
    }
}
