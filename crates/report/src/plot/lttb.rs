//! Largest-Triangle-Three-Buckets: fewer points, the same shape (Steinarsson, "Downsampling Time Series for Visual
//! Representation", 2013). Pure arithmetic.

/// At most `threshold` of the points, the first and the last among them; all of them where `threshold` is 0 or not less than
/// their number. Of every bucket in between, the point with the largest triangle between the selected point before it and the
/// mean of the bucket after it is selected. `threshold` is 0 or at least 3; points come by rising `x`.
pub(super) fn downsample(points: Vec<(f64, f64)>, threshold: usize) -> Vec<(f64, f64)> {
    if threshold < 3 || points.len() <= threshold {
        return points;
    }
    let inner = points.len() - 2;
    let buckets = threshold - 2;
    // Bucket `b` is the points `edge(b)..edge(b + 1)`.
    let edge = |bucket: usize| 1 + (inner as u128 * bucket as u128 / buckets as u128) as usize;
    let mut kept = Vec::with_capacity(threshold);
    kept.push(points[0]);
    for bucket in 0..buckets {
        let (from, to) = (edge(bucket), edge(bucket + 1));
        let after = if bucket + 1 == buckets {
            &points[points.len() - 1..]
        } else {
            &points[to..edge(bucket + 2)]
        };
        let a = kept[kept.len() - 1];
        let c = mean(after);
        let area = |b: &(f64, f64)| ((a.0 - c.0) * (b.1 - a.1) - (a.0 - b.0) * (c.1 - a.1)).abs();
        let best = points[from..to].iter().copied().max_by(|p, q| area(p).total_cmp(&area(q)));
        kept.extend(best);
    }
    kept.push(points[points.len() - 1]);
    kept
}

fn mean(points: &[(f64, f64)]) -> (f64, f64) {
    let n = points.len().max(1) as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
    (x / n, y / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_ends_and_spikes() {
        let wave = |n: usize| if n == 5_000 { 99.0 } else { (n as f64 / 100.0).sin() };
        let points: Vec<(f64, f64)> = (0..10_000).map(|n| (n as f64, wave(n))).collect();
        for threshold in [3, 10, 1000, 9_999] {
            let few = downsample(points.clone(), threshold);
            assert_eq!(few.len(), threshold);
            assert_eq!((few[0], few[threshold - 1]), (points[0], points[9_999]));
            assert!(few.windows(2).all(|pair| pair[0].0 < pair[1].0));
            assert!(few.iter().any(|point| point.1 == 99.0), "{threshold}");
        }
    }

    #[test]
    fn few_points_stay_as_they_are() {
        let points = vec![(0.0, 1.0), (1.0, 2.0), (2.0, 0.0)];
        for threshold in [0, 3, 100] {
            assert_eq!(downsample(points.clone(), threshold), points);
        }
    }
}
