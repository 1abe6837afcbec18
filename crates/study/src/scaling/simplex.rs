//! The least value of a function of a few numbers, without its slope: the simplex of Nelder and Mead (A simplex method for
//! function minimization, 1965), begun anew where it ended, since it may come to rest before the bottom.

/// Times it is begun.
const ROUNDS: usize = 4;
/// Steps of a round, at most.
const STEPS_MAX: usize = 200;
/// The search ends when the values of the simplex differ by less than this share of the least.
const REST: f64 = 1e-13;

/// A point and its value.
type Point = (Vec<f64>, f64);

/// Where `f` is least near `start`, and how little it is. `reach` is the size of the first simplex. Values that are not
/// numbers count as infinite.
pub(super) fn least(start: &[f64], reach: f64, f: impl Fn(&[f64]) -> f64) -> Point {
    let value = |at: Vec<f64>| {
        let value = f(&at);
        (at, if value.is_nan() { f64::INFINITY } else { value })
    };
    let mut best = value(start.to_vec());
    let mut reach = reach;
    for _ in 0..ROUNDS {
        let found = round(&best, reach, value);
        if found.1 < best.1 {
            best = found;
        }
        reach /= 4.0;
    }
    best
}

fn round(start: &Point, reach: f64, value: impl Fn(Vec<f64>) -> Point) -> Point {
    let corner = |at: usize| {
        let mut corner = start.0.clone();
        corner[at] += reach;
        value(corner)
    };
    let mut simplex: Vec<Point> =
        std::iter::once(start.clone()).chain((0..start.0.len()).map(corner)).collect();
    let last = simplex.len() - 1;
    for _ in 0..STEPS_MAX {
        simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
        if simplex[last].1 - simplex[0].1 <= REST * simplex[0].1.abs() {
            break;
        }
        let middle: Vec<f64> = (0..last)
            .map(|at| simplex[..last].iter().map(|point| point.0[at]).sum::<f64>() / last as f64)
            .collect();
        // A point on the line from the worst through the middle of the others.
        let along = |simplex: &[Point], share: f64| {
            let worst = &simplex[last].0;
            value(middle.iter().zip(worst).map(|(m, w)| m + share * (m - w)).collect())
        };
        let mirrored = along(&simplex, 1.0);
        let next = if mirrored.1 < simplex[0].1 {
            let beyond = along(&simplex, 2.0);
            if beyond.1 < mirrored.1 { beyond } else { mirrored }
        } else if mirrored.1 < simplex[last - 1].1 {
            mirrored
        } else {
            along(&simplex, if mirrored.1 < simplex[last].1 { 0.5 } else { -0.5 })
        };
        if next.1 < simplex[last].1 {
            simplex[last] = next;
        } else {
            let best = simplex[0].0.clone();
            for point in &mut simplex[1..] {
                let half = point.0.iter().zip(&best).map(|(at, best)| f64::midpoint(*at, *best));
                *point = value(half.collect());
            }
        }
    }
    simplex.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).expect("a simplex has corners")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_bottom_of_valleys() {
        let bowl = |at: &[f64]| (at[0] - 3.0).powi(2);
        assert!((least(&[0.0], 0.5, bowl).0[0] - 3.0).abs() < 1e-6);
        let rosenbrock =
            |at: &[f64]| (1.0 - at[0]).powi(2) + 100.0 * (at[1] - at[0] * at[0]).powi(2);
        let (at, value) = least(&[-1.2, 1.0], 0.5, rosenbrock);
        assert!(value < 1e-9 && (at[0] - 1.0).abs() < 1e-3, "{at:?} {value}");
        let (_, value) = least(&[1.0, 1.0], 0.5, |at| at[0].ln() + f64::NAN);
        assert_eq!(value, f64::INFINITY);
    }
}
