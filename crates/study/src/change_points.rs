//! Where a series of figures changed its level for good.

/// Values before and after a change, at least.
pub const SIDE_MIN: usize = 4;
/// A change is one where chance makes such a one in fewer than this share of series without.
const LEVEL: f64 = 0.05;
/// Values that are looked at, at most: the time grows with their square.
const VALUES_MAX: usize = 2000;

/// The indices at which a new level begins, rising; none where there are more than 2000 values.
///
/// Each is found by Pettitt's test (A non-parametric approach to the change-point problem, 1979) with its approximate
/// `p = 2 exp(-6 K² / (n³ + n²))` below 0.05, and the parts before and after it are searched in the same way. Where the whole shows
/// none, its first, middle and last half are tried, at a third of that level. It takes values as drawn on their own, and knows
/// nothing of their spread: one outlier is no change.
#[must_use]
pub fn change_points(values: &[f64]) -> Vec<usize> {
    let mut found = Vec::new();
    if values.len() <= VALUES_MAX {
        search(values, 0, &mut found);
    }
    found.sort_unstable();
    found
}

fn search(values: &[f64], offset: usize, found: &mut Vec<usize>) {
    let Some(at) = change(values, LEVEL).or_else(|| change_in_part(values)) else { return };
    found.push(offset + at);
    search(&values[..at], offset, found);
    search(&values[at..], offset + at, found);
}

/// Where a change is in the first half, the middle half or the last half: a level that came back hides in the whole.
fn change_in_part(values: &[f64]) -> Option<usize> {
    let quarter = values.len() / 4;
    let begins = [0, quarter, values.len() - 2 * quarter];
    let level = LEVEL / begins.len() as f64;
    begins.into_iter().find_map(|begin| {
        let at = change(&values[begin..begin + 2 * quarter], level)?;
        Some(begin + at)
    })
}

/// Where the second part begins, if chance does not explain it at this level.
fn change(values: &[f64], level: f64) -> Option<usize> {
    let n = values.len();
    let (mut rises, mut best) = (0.0, (0.0, 0));
    for at in 1..n {
        // U(t) = U(t-1) + the sum of sgn(x(t) - x(j)) over all j, here with the sign that makes a rise positive.
        let one = values[at - 1];
        let sign = |other: &f64| match other.partial_cmp(&one) {
            Some(std::cmp::Ordering::Greater) => 1.0,
            Some(std::cmp::Ordering::Less) => -1.0,
            _ => 0.0,
        };
        rises += values.iter().map(sign).sum::<f64>();
        if f64::abs(rises) > best.0 && at >= SIDE_MIN && n - at >= SIDE_MIN {
            best = (f64::abs(rises), at);
        }
    }
    let (k, at) = best;
    let n = n as f64;
    let p = 2.0 * (-6.0 * k * k / (n.powi(3) + n.powi(2))).exp();
    (at > 0 && p < level).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_found_where_it_is() {
        let level = |at: usize| if at < 12 { 100.0 } else { 120.0 };
        let values: Vec<f64> =
            (0..24).map(|at| level(at) + [0.0, 3.0, -2.0, 1.0][at % 4]).collect();
        assert_eq!(change_points(&values), [12]);
        let back: Vec<f64> = values.iter().chain(&values[..12]).copied().collect();
        assert_eq!(change_points(&back), [12, 24]);
    }

    #[test]
    fn neither_noise_nor_an_outlier_is_a_change() {
        let mut noise: Vec<f64> = (0..40_u64).map(|at| (at * 7919 % 41) as f64).collect();
        assert_eq!(change_points(&noise), [0; 0]);
        noise[20] = 1e9;
        assert_eq!(change_points(&noise), [0; 0]);
        assert_eq!(change_points(&[1.0, 1.0, 1.0, 9.0, 9.0, 9.0]), [0; 0], "too few");
        assert_eq!(change_points(&[]), [0; 0]);
        assert_eq!(change_points(&[f64::NAN; 30]), [0; 0]);
    }
}
