//! Path data of lines: straight, stepped, with gaps; and as few points as a picture of that width can show.

use std::fmt::Write as _;

/// How a line connects its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Course {
    /// Straight on.
    Straight,
    /// Across first, then up or down.
    Stepped,
}

/// The stretches of a line between its gaps, in pixels. A point with a y that is not finite is a gap.
pub(super) fn stretches(points: impl Iterator<Item = (f64, f64)>) -> Vec<Vec<(f64, f64)>> {
    let mut all = vec![Vec::new()];
    for point in points {
        match (point.1.is_finite(), all.last_mut()) {
            (true, Some(stretch)) => stretch.push(point),
            _ => all.push(Vec::new()),
        }
    }
    all.retain(|stretch| !stretch.is_empty());
    all
}

/// A stretch's path data, of `M`, `L`, `H` and `V` only. A single point becomes a very short stroke.
pub(super) fn data(stretch: &[(f64, f64)], course: Course) -> String {
    let mut path = String::new();
    let mut before: Option<f64> = None;
    // Writing to a String cannot fail.
    for (x, y) in stretch {
        let _ = match (before, course) {
            (None, _) => write!(path, "M{x:.1} {y:.1}"),
            (Some(_), Course::Stepped) => write!(path, "H{x:.1}V{y:.1}"),
            (Some(before), _) if (x - before).abs() < 0.05 => write!(path, "V{y:.1}"),
            (Some(_), _) => write!(path, "L{x:.1} {y:.1}"),
        };
        before = Some(*x);
    }
    if let [(x, _)] = stretch {
        let _ = write!(path, "H{:.1}", x + 0.1);
    }
    path
}

/// The stretch with at most four points for each pixel column: the first, the lowest, the highest and the last, which
/// is all that can be seen of it (M4: Jugel, Jerzak, Hackenbroich and Markl, "M4: A Visualization-Oriented Time Series
/// Data Aggregation", 2014). Points come by rising x.
pub(super) fn reduced(stretch: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let columns = stretch.chunk_by(|a, b| a.0.floor() == b.0.floor());
    columns.flat_map(extremes).collect()
}

fn extremes(column: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if column.len() <= 4 {
        return column.to_vec();
    }
    let by_y = |a: &usize, b: &usize| column[*a].1.total_cmp(&column[*b].1);
    let indices = || 0..column.len();
    let mut kept = vec![0, column.len() - 1];
    kept.extend(indices().min_by(by_y));
    kept.extend(indices().max_by(by_y));
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|index| column[index]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_part_stretches() {
        let points = [(0.0, 1.0), (1.0, 2.0), (2.0, f64::NAN), (3.0, 4.0)];
        let all = stretches(points.into_iter());
        assert_eq!(all, [vec![(0.0, 1.0), (1.0, 2.0)], vec![(3.0, 4.0)]]);
        assert_eq!(data(&all[0], Course::Straight), "M0.0 1.0L1.0 2.0");
        assert_eq!(data(&all[0], Course::Stepped), "M0.0 1.0H1.0V2.0");
        assert_eq!(data(&all[1], Course::Straight), "M3.0 4.0H3.1");
        assert!(stretches([(0.0, f64::NAN)].into_iter()).is_empty());
    }

    #[test]
    fn a_column_of_pixels_keeps_its_ends_and_extremes() {
        let noise = |n: u32| f64::from(n * 7919 % 1000);
        let points: Vec<(f64, f64)> =
            (0..100_000).map(|n| (f64::from(n) / 100.0, noise(n))).collect();
        let few = reduced(&points);
        assert!(few.len() <= 4 * 1000, "{}", few.len());
        assert_eq!((few[0], few[few.len() - 1]), (points[0], points[99_999]));
        assert!(few.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        for column in points.chunks(100) {
            let highest = column.iter().map(|point| point.1).fold(f64::MIN, f64::max);
            let same = few.iter().filter(|point| point.0.floor() == column[0].0.floor());
            assert_eq!(same.map(|point| point.1).fold(f64::MIN, f64::max), highest);
        }
        assert_eq!(reduced(&points[..4]), points[..4]);
    }
}
