//! `Load`: whether requests were due at one rate all through a run, and in which shape where they were not.

use metrics::Timeline;

use super::shape::{Bin, Shape};

/// Thirds of a load differ by more than this share of their mean where it is a ramp, or has steps.
const UNEVEN_MIN: f64 = 0.2;

/// How the load was asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Load {
    /// At about one rate all the time.
    Even,
    /// A ramp, steps, waves: in this shape, where it has a name.
    Varying(Option<Shape>),
}

impl Load {
    /// Of requests that were due from a first to a last one (Unix ns), where their rate was not even.
    pub(super) fn varying(timeline: &Timeline, (earliest, latest): (i64, i64)) -> Self {
        let after = |at: i64| at.saturating_sub(earliest).max(0) as f64 / 1e9;
        let width = i64::try_from(timeline.width().0).unwrap_or(i64::MAX);
        let bins = timeline.cells().enumerate().map(|(at, cell)| {
            let begin = timeline.start().saturating_add(width.saturating_mul(at as i64));
            let end = begin.saturating_add(width);
            (end, Bin { from: after(begin), to: after(end), count: cell.hits as f64 })
        });
        // The last cell may have requests for a part of its width alone.
        let whole = bins.filter(|(end, bin)| bin.to > 0.0 && *end <= latest).map(|(_, bin)| bin);
        Self::Varying(Shape::of(&whole.collect::<Vec<_>>()))
    }

    /// The same of iterations, whose cells are so wide (s).
    pub(super) fn of_iterations(due: &[u64], width: f64) -> Self {
        if is_even(due) {
            return Self::Even;
        }
        let bin = |(at, due): (usize, &u64)| Bin {
            from: at as f64 * width,
            to: (at + 1) as f64 * width,
            count: *due as f64,
        };
        Self::Varying(Shape::of(&due.iter().enumerate().map(bin).collect::<Vec<_>>()))
    }

    pub(super) fn shape(&self) -> Option<&Shape> {
        match self {
            Self::Even => None,
            Self::Varying(shape) => shape.as_ref(),
        }
    }
}

/// About as many fell due in each third of these cells.
fn is_even(due: &[u64]) -> bool {
    let all: u64 = due.iter().sum();
    (0..3).all(|third| {
        let [from, to] = [third, third + 1].map(|bound| due.len() * bound / 3);
        let expected = all as f64 * (to - from) as f64 / due.len().max(1) as f64;
        let off = (due[from..to].iter().sum::<u64>() as f64 - expected).abs();
        off <= UNEVEN_MIN * expected + 3.0 * expected.sqrt()
    })
}
