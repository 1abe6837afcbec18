//! Welch's test: by how much the mean of one sample lies above that of another, without the assumption that both vary alike. The
//! interval and the p-value are of one statistic, so they cannot contradict each other.

use super::student;

/// The fewest values of each sample that are judged. Two values of each cannot be: where a server has two modes, both values of
/// one sample lie in the one and both of the other in the other in one of eight comparisons, and look like a difference without
/// noise. With three it is one of 32.
pub const RUNS_MIN: usize = 3;

/// The difference of two means, with what is needed to judge it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Welch {
    /// That of `b` minus that of `a`, in the values' unit.
    pub difference: f64,
    /// Its standard error.
    pub error: f64,
    /// Its degrees of freedom.
    pub freedom: f64,
    /// The variances of one value of `a` and of `b`, added.
    pub variance: f64,
    /// The degrees of freedom that one value more of each adds.
    pub freedom_each: f64,
}

/// The least correlation of the two values of a pair from which on the pairs' differences are what varies. A choice by it costs little:
/// where there is none, it calls one comparison of a hundred more different (docs/design/compare.md).
const CORRELATION_MIN: f64 = 0.5;

/// The difference from `a` to `b`:
///
/// ```text
/// error^2 = s_a^2 / n_a + s_b^2 / n_b
/// freedom = error^4 / ((s_a^2 / n_a)^2 / (n_a - 1) + (s_b^2 / n_b)^2 / (n_b - 1))
/// ```
///
/// with `n` values of a sample and their variance `s^2`, which is at least the sample's `variance_min`: what the values' resolution
/// hides (Welch, "The generalization of Student's problem", Biometrika 34, 1947). `None` below [`RUNS_MIN`] values of either.
#[must_use]
pub fn welch(a: &[f64], b: &[f64], variance_min: (f64, f64)) -> Option<Welch> {
    if a.len().min(b.len()) < RUNS_MIN {
        return None;
    }
    let (variance_a, variance_b) =
        (variance(a).max(variance_min.0), variance(b).max(variance_min.1));
    let (count_a, count_b) = (a.len() as f64, b.len() as f64);
    let (of_a, of_b) = (variance_a / count_a, variance_b / count_b);
    let error_squared = of_a + of_b;
    let freedom = if error_squared > 0.0 {
        error_squared * error_squared
            / (of_a * of_a / (count_a - 1.0) + of_b * of_b / (count_b - 1.0))
    } else {
        count_a + count_b - 2.0
    };
    Some(Welch {
        difference: mean(b) - mean(a),
        error: error_squared.sqrt(),
        freedom,
        variance: variance_a + variance_b,
        freedom_each: 2.0,
    })
}

/// The arithmetic mean, which [`welch`] compares.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The unbiased variance of a value.
fn variance(values: &[f64]) -> f64 {
    let about = mean(values);
    values.iter().map(|value| (value - about).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

impl Welch {
    /// The same difference, judged by how much the differences of pairs vary; `None` where the values of a pair hardly vary together.
    /// `counts` are the values of each, of which some may be in no pair.
    pub(crate) fn of_pairs(
        &self,
        pairs: &[(f64, f64)],
        counts: (usize, usize),
        variance_min: (f64, f64),
    ) -> Option<Self> {
        if pairs.len() < RUNS_MIN {
            return None;
        }
        let of =
            |value: fn(&(f64, f64)) -> f64| variance(&pairs.iter().map(value).collect::<Vec<_>>());
        let apart = of(|(a, _)| *a).max(variance_min.0) + of(|(_, b)| *b).max(variance_min.1);
        let together = of(|(a, b)| b - a).max(variance_min.0 + variance_min.1);
        (together < (1.0 - CORRELATION_MIN) * apart).then(|| Self {
            error: (together / 2.0 * (1.0 / counts.0 as f64 + 1.0 / counts.1 as f64)).sqrt(),
            freedom: (pairs.len() - 1) as f64,
            variance: together,
            freedom_each: 1.0,
            ..*self
        })
    }

    /// The interval that holds the true difference with the probability `1 - level`.
    #[must_use]
    pub fn interval(&self, level: f64) -> (f64, f64) {
        let half = self.reach(level);
        (self.difference - half, self.difference + half)
    }

    /// Half of that interval: the difference that equal samples stay below with the probability `1 - level`.
    #[must_use]
    pub fn reach(&self, level: f64) -> f64 {
        if self.error > 0.0 { student::distance(level, self.freedom) * self.error } else { 0.0 }
    }

    /// The same for so many values of each, were they to vary as these do.
    #[must_use]
    pub fn reach_of(&self, values: usize, level: f64) -> f64 {
        let freedom = self.freedom_each * (values - 1) as f64;
        student::distance(level, freedom) * (self.variance / values as f64).sqrt()
    }

    /// The probability that equal samples are at least so far apart, on either side.
    #[must_use]
    pub fn p(&self) -> f64 {
        match (self.error > 0.0, self.difference == 0.0) {
            (true, _) => student::two_sided(self.difference / self.error, self.freedom),
            (false, true) => 1.0,
            (false, false) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_and_the_p_are_of_one_statistic() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0], [3.0, 4.5, 6.0, 7.5, 9.0]);
        let found = welch(&a, &b, (0.0, 0.0)).unwrap();
        let (of_a, of_b) = (5.0f64 / 12.0, 1.125f64);
        assert!((found.difference - 3.5).abs() < 1e-12, "{found:?}");
        assert!((found.error - (of_a + of_b).sqrt()).abs() < 1e-12, "{found:?}");
        let freedom = (of_a + of_b).powi(2) / (of_a * of_a / 3.0 + of_b * of_b / 4.0);
        assert!((found.freedom - freedom).abs() < 1e-12, "{found:?}");
        // At the level of its p the interval ends at 0, and nowhere else.
        let p = found.p();
        assert!(found.interval(p).0.abs() < 1e-8, "{found:?}");
        assert!(found.interval(p * 1.01).0 > 0.0 && found.interval(p * 0.99).0 < 0.0);
    }

    #[test]
    fn pairs_that_vary_together_leave_their_differences() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0], [1.5, 2.6, 3.4, 4.5]);
        let found = welch(&a, &b, (0.0, 0.0)).unwrap();
        let pairs: Vec<(f64, f64)> = a.into_iter().zip(b).collect();
        let of_pairs = found.of_pairs(&pairs, (4, 4), (0.0, 0.0)).unwrap();
        assert_eq!((of_pairs.difference, of_pairs.freedom), (found.difference, 3.0));
        let variance = 0.02 / 3.0;
        assert!((of_pairs.error - f64::sqrt(variance / 4.0)).abs() < 1e-12, "{of_pairs:?}");
        assert!(of_pairs.p() < 0.002 && found.p() > 0.4, "{of_pairs:?} {found:?}");
        let crossed: Vec<(f64, f64)> = a.into_iter().zip(b.into_iter().rev()).collect();
        assert_eq!(found.of_pairs(&crossed, (4, 4), (0.0, 0.0)), None);
    }

    #[test]
    fn values_that_never_vary() {
        let found = |a: [f64; 3], b: [f64; 3], least| welch(&a, &b, (least, least)).unwrap();
        let equal = found([2.0; 3], [2.0; 3], 0.0);
        assert_eq!((equal.p(), equal.interval(0.05), equal.freedom), (1.0, (0.0, 0.0), 4.0));
        assert_eq!(found([2.0; 3], [2.5; 3], 0.0).p(), 0.0);
        // A resolution hides differences of its own size.
        assert!(found([2.0; 3], [2.1; 3], 0.01).p() > 0.2);
        assert_eq!(welch(&[1.0, 2.0], &[3.0; 9], (0.0, 0.0)), None);
        assert_eq!((mean(&[1.0]), mean(&[1.0, 4.0])), (1.0, 2.5));
    }
}
