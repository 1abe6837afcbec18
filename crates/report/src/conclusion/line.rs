//! Lines through points: ordinary least squares, and a line that is level and then rises.

/// A line, with the standard error of its slope from its residuals.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Line {
    pub(super) slope: f64,
    pub(super) error: f64,
    /// The sum of squared residuals.
    pub(super) residual: f64,
}

impl Line {
    pub(super) fn through(points: &[(f64, f64)]) -> Self {
        let count = points.len() as f64;
        if points.len() < 3 {
            return Self::default();
        }
        let mean = |part: fn(&(f64, f64)) -> f64| points.iter().map(part).sum::<f64>() / count;
        let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
        let (mut xx, mut xy) = (0.0, 0.0);
        for (x, y) in points {
            xx += (x - mean_x).powi(2);
            xy += (x - mean_x) * (y - mean_y);
        }
        let slope = xy / xx.max(1e-12);
        let residuals = points.iter().map(|(x, y)| y - mean_y - slope * (x - mean_x));
        let residual: f64 = residuals.map(|one| one * one).sum();
        Self { slope, error: (residual / (count - 2.0) / xx.max(1e-12)).sqrt(), residual }
    }
}

/// Where a line that is level until one of the points and rises from there fits best; and the line through the points after it.
pub(super) fn broken(points: &[(f64, f64)]) -> (usize, Line) {
    let knots = 0..points.len().saturating_sub(3);
    let fits = knots.map(|knot| {
        let before = points[..knot].iter().map(|point| point.1);
        let mean = before.clone().sum::<f64>() / knot.max(1) as f64;
        let spread: f64 = before.map(|y| (y - mean).powi(2)).sum();
        let after = Line::through(&points[knot..]);
        (knot, spread + after.residual, after)
    });
    fits.min_by(|a, b| a.1.total_cmp(&b.1))
        .map_or((0, Line::default()), |(knot, _, line)| (knot, line))
}
