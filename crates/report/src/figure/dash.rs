//! Dash patterns: lines of one figure differ by more than their colour.

use super::model::{Figure, Series, Style};

/// Patterns in the order of a figure's lines, as `stroke-dasharray` takes them; they repeat after the last.
const PATTERNS: [Option<&str>; 4] = [None, Some("7 5"), Some("1 4"), Some("9 4 1 4")];
/// The most points of a line that may be drawn in dashes, unless it only rises: dashes make a ragged line unreadable.
const POINTS_MAX: usize = 240;

/// The pattern of each series, `None` for a line without gaps.
pub(super) fn patterns(figure: &Figure) -> Vec<Option<&'static str>> {
    let mut lines = 0;
    let pattern = |series: &Series| {
        if !matches!(series.style, Style::Line | Style::Area) {
            return None;
        }
        lines += 1;
        PATTERNS[(lines - 1) % PATTERNS.len()].filter(|_| is_smooth(series))
    };
    figure.series.iter().map(pattern).collect()
}

fn is_smooth(series: &Series) -> bool {
    let rises = |pair: &[(f64, f64)]| pair[0].1 <= pair[1].1;
    series.points.len() <= POINTS_MAX || series.points.windows(2).all(rises)
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Colour, Scale};
    use super::*;

    #[test]
    fn lines_differ_and_ragged_ones_are_solid() {
        let line = |points: Vec<(f64, f64)>| Series {
            label: String::new(),
            style: Style::Line,
            colour: Colour::calm(0),
            points,
        };
        let axis = || Axis { label: String::new(), scale: Scale::Linear };
        let few = vec![(0.0, 2.0), (1.0, 1.0)];
        let rising: Vec<(f64, f64)> = (0..1000).map(|n| (f64::from(n), f64::from(n))).collect();
        let ragged = rising.iter().map(|(x, y)| (*x, y % 7.0)).collect();
        let figure = Figure {
            title: String::new(),
            x: axis(),
            y: axis(),
            series: [few.clone(), few, rising, ragged].map(line).into(),
            notes: Vec::new(),
        };
        assert_eq!(patterns(&figure), [None, Some("7 5"), Some("1 4"), None]);
    }
}
