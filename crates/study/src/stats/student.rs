//! Student's t distribution: the tail beyond a value, and the value with a given tail. Degrees of freedom may be fractions,
//! as Welch's approximation gives them.

use std::f64::consts::PI;

/// The probability that a value of Student's t with `freedom` degrees of freedom is at least `|t|` away from 0, on either side:
///
/// ```text
/// p = I(freedom / (freedom + t^2); freedom / 2, 1/2)      (Abramowitz and Stegun, 26.7.1 and 26.5.27)
/// ```
///
/// with `I` the regularized incomplete beta function. `freedom` is greater than 0.
#[must_use]
pub fn two_sided(t: f64, freedom: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)
}

/// The distance from 0 that a value of Student's t reaches, on either side, with the probability `p`, 0 < p <= 1.
#[must_use]
pub fn distance(p: f64, freedom: f64) -> f64 {
    // The tail falls with the distance: halve the range of its logarithm.
    let (mut low, mut high) = (1e-6f64.ln(), 1e12f64.ln());
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if two_sided(middle.exp(), freedom) > p { low = middle } else { high = middle }
    }
    f64::midpoint(low, high).exp()
}

/// A range of 41 (in logarithms) is halved to less than 1e-10.
const HALVINGS: usize = 40;
/// Steps of the continued fraction, which needs about ten for the few runs of a comparison.
const STEPS_MAX: usize = 300;
/// Stands for 0 where the fraction divides by it.
const TINY: f64 = 1e-300;

/// The regularized incomplete beta function `I(x; a, b)`, 0 <= x <= 1, by the continued fraction of Abramowitz and Stegun,
/// 26.5.8, evaluated after Lentz; it converges fast for `x < (a + 1) / (a + b + 2)`, and elsewhere `I(x; a, b) = 1 - I(1 - x; b, a)`.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    front * fraction(x, a, b) / a
}

fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let off_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / off_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for step in 1..STEPS_MAX {
        let m = step as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / off_zero(1.0 + term * d);
            c = off_zero(1.0 + term / c);
            change = d * c;
            value *= change;
        }
        if (change - 1.0).abs() < 1e-14 {
            break;
        }
    }
    value
}

/// The logarithm of the gamma function for `x > 0`, by Stirling's series (Abramowitz and Stegun, 6.1.41) from 10 on, to about
/// 1e-12; below by `gamma(x) = gamma(x + 1) / x`.
fn ln_gamma(x: f64) -> f64 {
    if x < 10.0 {
        return ln_gamma(x + 1.0) - x.ln();
    }
    let square = x * x;
    let series = (1.0 / 12.0
        - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * square)) / square) / square)
        / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_tables() {
        let cases = [
            (1.0, 0.05, 12.7062),
            (2.0, 0.05, 4.302_65),
            (4.0, 0.05, 2.776_45),
            (4.0, 0.01, 4.604_09),
            (8.0, 0.01, 3.355_39),
            (18.0, 0.001, 3.921_65),
            (60.0, 0.05, 2.000_30),
            (1e7, 0.05, 1.959_96),
        ];
        for (freedom, p, t) in cases {
            assert!(
                (distance(p, freedom) / t - 1.0).abs() < 1e-5,
                "{freedom}, {p}: {}",
                distance(p, freedom)
            );
            assert!((two_sided(t, freedom) / p - 1.0).abs() < 1e-4, "{freedom}, {t}");
        }
    }

    #[test]
    fn closed_forms_and_ends() {
        // One degree of freedom is Cauchy's distribution, two have an algebraic tail.
        for t in [0.1, 1.0, 7.0, 300.0] {
            let cauchy = 1.0 - 2.0 / PI * f64::atan(t);
            assert!((two_sided(t, 1.0) - cauchy).abs() < 1e-12, "{t}");
            let two = 1.0 - t / (2.0 + t * t).sqrt();
            assert!((two_sided(t, 2.0) - two).abs() < 1e-12, "{t}");
        }
        assert_eq!((two_sided(0.0, 3.0), two_sided(f64::INFINITY, 3.0)), (1.0, 0.0));
        assert!((ln_gamma(0.5) - PI.sqrt().ln()).abs() < 1e-12 && ln_gamma(1.0).abs() < 1e-12);
    }
}
