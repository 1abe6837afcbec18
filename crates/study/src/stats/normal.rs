//! The normal distribution's tails.

use std::f64::consts::{PI, SQRT_2};

/// How likely a standard normal value is at least `z` away from 0, on either side.
pub(super) fn two_sided(z: f64) -> f64 {
    erfc(z.abs() / SQRT_2)
}

/// The complementary error function of `x >= 0`. Below 2.5 by the series of erf (Abramowitz and Stegun, 7.1.6), from there
/// by the continued fraction (7.1.14), each to about 1e-15.
fn erfc(x: f64) -> f64 {
    if x < 2.5 {
        let (mut term, mut sum) = (x, x);
        for n in 1..200 {
            term *= 2.0 * x * x / f64::from(2 * n + 1);
            sum += term;
            if term < sum * 1e-17 {
                break;
            }
        }
        return 1.0 - 2.0 / PI.sqrt() * (-x * x).exp() * sum;
    }
    let tail = (1..=60).rev().fold(x, |below, n| x + f64::from(n) / 2.0 / below);
    (-x * x).exp() / (PI.sqrt() * tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_of_the_table() {
        let cases = [
            (0.0, 1.0),
            (1.0, 0.317_310_507_862_914),
            (1.959_963_984_540_054, 0.05),
            (2.575_829_303_548_901, 0.01),
            (3.290_526_731_491_926, 0.001),
            (3.535_5, 0.000407004245),
            (6.0, 1.973_175_290_075e-9),
            (10.0, 1.523_970_604_832e-23),
        ];
        for (z, p) in cases {
            assert!((two_sided(z) / p - 1.0).abs() < 1e-6, "{z}: {} for {p}", two_sided(z));
            assert_eq!(two_sided(z), two_sided(-z));
        }
        assert_eq!(two_sided(1e9), 0.0);
    }
}
