//! The two-sample Kolmogorov-Smirnov test: how far apart are two distributions where they are furthest apart?

use std::f64::consts::PI;

use super::tally::{Tally, merged};

/// What the Kolmogorov-Smirnov test says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smirnov {
    /// The greatest difference between the shares of values up to any one value, 0 to 1.
    pub distance: f64,
    /// How likely samples of one distribution are at least as far apart; an upper bound where there are ties.
    pub p: f64,
}

/// Tests `a` against `b`, with the asymptotic distribution of
/// `(sqrt(e) + 0.12 + 0.11 / sqrt(e)) D`, `e = m n / (m + n)` (Smirnov, 1948; Stephens, "Use of the Kolmogorov-Smirnov
/// statistics without extensive tables", 1970). `None` where a sample is empty.
#[must_use]
pub fn smirnov(a: &Tally, b: &Tally) -> Option<Smirnov> {
    let (m, n) = (a.count() as f64, b.count() as f64);
    if m == 0.0 || n == 0.0 {
        return None;
    }
    let (mut below, mut distance) = ((0u64, 0u64), 0.0f64);
    for (_, left, right) in merged(a, b) {
        below = (below.0 + left, below.1 + right);
        distance = distance.max((below.0 as f64 / m - below.1 as f64 / n).abs());
    }
    let root = (m * n / (m + n)).sqrt();
    Some(Smirnov { distance, p: tail((root + 0.12 + 0.11 / root) * distance) })
}

/// The Kolmogorov distribution's tail beyond `x`, each of its two series where it converges at once.
pub(super) fn tail(x: f64) -> f64 {
    if x < 0.04 {
        return 1.0;
    }
    if x < 1.18 {
        let terms = (1..=20).map(|k| {
            let odd = f64::from(2 * k - 1);
            (-odd * odd * PI * PI / (8.0 * x * x)).exp()
        });
        return (1.0 - (2.0 * PI).sqrt() / x * terms.sum::<f64>()).clamp(0.0, 1.0);
    }
    let terms = (1..=20).map(|k| {
        let sign = if k % 2 == 1 { 2.0 } else { -2.0 };
        sign * (-2.0 * f64::from(k * k) * x * x).exp()
    });
    terms.sum::<f64>().clamp(0.0, 1.0)
}
