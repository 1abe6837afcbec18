//! The Universal Scalability Law: throughput that grows, bends, and may fall again (Gunther, Guerrilla Capacity Planning, 2007,
//! 4.4).

use super::simplex::least;

/// `X(N) = g N / (1 + a (N - 1) + b N (N - 1))`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usl {
    /// `a`, contention: the share of the work that only one may do at a time; 0 or more.
    pub contention: f64,
    /// `b`, coherency: what keeping each pair in step costs; 0 or more.
    pub coherency: f64,
    /// `g`: the throughput of one user, per second.
    pub single_per_s: f64,
}

/// Where the search begins: contention, and coherency for as many as were seen at most.
const STARTS: [(f64, f64); 4] = [(0.01, 0.01), (0.1, 0.1), (0.5, 0.0), (0.05, 1.0)];

impl Usl {
    /// Throughput per second with `n` users.
    #[must_use]
    pub fn throughput_per_s(self, n: f64) -> f64 {
        self.single_per_s * relative(self.contention, self.coherency, n)
    }

    /// With how many users it does most, `sqrt((1 - a) / b)`; `None` where more always do more.
    #[must_use]
    pub fn peak(self) -> Option<f64> {
        let peak = ((1.0 - self.contention).max(0.0) / self.coherency).sqrt();
        peak.is_finite().then_some(peak.max(1.0))
    }

    /// The most it does per second: at its peak, or as it is approached, `g / a`; `None` where nothing bounds it.
    #[must_use]
    pub fn capacity_per_s(self) -> Option<f64> {
        match self.peak() {
            Some(peak) => Some(self.throughput_per_s(peak)),
            None => Some(self.single_per_s / self.contention).filter(|most| most.is_finite()),
        }
    }

    /// The least squares of throughputs `(n, x)`; both above 0. `None` for less than three different `n`.
    #[must_use]
    pub fn of(points: &[(f64, f64)]) -> Option<Self> {
        let most = points.iter().map(|point| point.0).fold(1.0, f64::max);
        let mut different: Vec<f64> = points.iter().map(|point| point.0).collect();
        different.sort_by(f64::total_cmp);
        different.dedup();
        if different.len() < 3 {
            return None;
        }
        // Squares keep both from falling below 0, and let them reach it.
        let coefficients = |at: &[f64]| (at[0] * at[0], at[1] * at[1] / (most * most));
        let squares = |at: &[f64]| {
            let (contention, coherency) = coefficients(at);
            let single = single(contention, coherency, points);
            let of =
                |(n, x): &(f64, f64)| (x - single * relative(contention, coherency, *n)).powi(2);
            points.iter().map(of).sum()
        };
        let tried = STARTS.map(|(contention, coherency): (f64, f64)| {
            least(&[contention.sqrt(), coherency.sqrt()], 0.1, squares)
        });
        let (at, _) = tried.into_iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let (contention, coherency) = coefficients(&at);
        let single_per_s = single(contention, coherency, points);
        Some(Self { contention, coherency, single_per_s })
    }
}

/// What `n` do of what one does.
fn relative(contention: f64, coherency: f64, n: f64) -> f64 {
    n / (1.0 + contention * (n - 1.0) + coherency * n * (n - 1.0))
}

/// The best `g` for the other two: a straight line through the origin.
fn single(contention: f64, coherency: f64, points: &[(f64, f64)]) -> f64 {
    let sums = points.iter().fold((0.0, 0.0), |(products, squares), (n, x)| {
        let of_one = relative(contention, coherency, *n);
        (products + x * of_one, squares + of_one * of_one)
    });
    sums.0 / sums.1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expect: f64, share: f64, what: &str) {
        assert!((found / expect - 1.0).abs() <= share, "{what}: {found} for {expect}");
    }

    /// Sun SPARCcenter 2000, SPEC SDM91 (users, scripts per hour), from Gunther, Guerrilla Capacity Planning, 2007; the data and
    /// the fit are published with the R package `usl` 3.0 (github.com/smoeding/usl: data/specsdm91, README, tests/fitted).
    #[test]
    fn spec_sdm91_as_published() {
        let points = [
            (1.0, 64.9),
            (18.0, 995.9),
            (36.0, 1652.4),
            (72.0, 1853.2),
            (108.0, 1828.9),
            (144.0, 1775.0),
            (216.0, 1702.2),
        ];
        let usl = Usl::of(&points).unwrap();
        near(usl.contention, 0.027_728_5, 1e-3, "contention");
        near(usl.coherency, 0.000_104_4, 1e-3, "coherency");
        near(usl.single_per_s, 89.995_233, 1e-3, "single");
        near(usl.peak().unwrap(), 96.52, 1e-3, "peak");
        near(usl.capacity_per_s().unwrap(), 1884.0, 1e-3, "throughput at the peak");
        let fitted = [90.0, 1078.0, 1541.0, 1850.0, 1879.0, 1822.0, 1646.0];
        for ((n, _), expect) in points.iter().zip(fitted) {
            near(usl.throughput_per_s(*n), expect, 1e-3, "fitted");
        }
    }

    /// The first six rows of the ray tracer on an SGI Origin 2000 (processors, rays), from the same book; the fit is published
    /// in the same package's tests/confint.
    #[test]
    fn the_ray_tracer_as_published() {
        let points =
            [(1.0, 20.0), (4.0, 78.0), (8.0, 130.0), (12.0, 170.0), (16.0, 190.0), (20.0, 200.0)];
        let usl = Usl::of(&points).unwrap();
        near(usl.contention, 0.024_44, 1e-3, "contention");
        near(usl.coherency, 0.001_63, 3e-3, "coherency");
        near(usl.single_per_s, 20.856_05, 1e-3, "single");
    }

    /// The same package's tests/coef.
    #[test]
    fn made_up_coefficients_come_back() {
        let points = [
            (1.0, 1.0),
            (2.0, 1.8868),
            (4.0, 3.0769),
            (6.0, 3.5294),
            (8.0, 3.5398),
            (10.0, 3.3557),
        ];
        let usl = Usl::of(&points).unwrap();
        near(usl.contention, 0.02, 5e-3, "contention");
        near(usl.coherency, 0.02, 5e-3, "coherency");
        near(usl.single_per_s, 1.0, 1e-3, "single");
    }

    #[test]
    fn without_coherency_there_is_no_peak() {
        let amdahl = Usl { contention: 0.1, coherency: 0.0, single_per_s: 50.0 };
        let points: Vec<(f64, f64)> =
            [1.0, 2.0, 4.0, 16.0, 64.0].map(|n| (n, amdahl.throughput_per_s(n))).into();
        let found = Usl::of(&points).unwrap();
        near(found.contention, 0.1, 1e-3, "contention");
        assert!(found.coherency < 1e-7, "{found:?}");
        assert_eq!(amdahl.peak(), None);
        assert_eq!(amdahl.capacity_per_s(), Some(500.0));
        let linear = Usl { contention: 0.0, ..amdahl };
        assert_eq!(linear.capacity_per_s(), None);
        assert_eq!(Usl::of(&points[..2]), None);
    }
}
