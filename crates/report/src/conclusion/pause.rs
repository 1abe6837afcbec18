//! `Pause`: a time in which answers were expected and none came.

use metrics::{Cell, Timeline};
use stdx::Nanos;

use super::steady::Steady;

/// A span without an answer is a pause from this length on, ...
pub(super) const PAUSE_MIN: Nanos = Nanos::SECOND;
/// ... and where so many answers were expected in it: that as many fail to come by chance happens once in e^12 = 160,000 times
/// (Poisson).
const PAUSE_ANSWERS_MIN: f64 = 12.0;

/// A time in which requests were under way and nothing was answered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pause {
    /// After the first request was due.
    pub(super) at: Nanos,
    pub(super) length: Nanos,
}

impl Pause {
    /// The longest one while requests were due; what comes before the first answer is the time that an answer takes.
    pub(super) fn of(timeline: &Timeline, steady: &Steady, span: (i64, i64)) -> Option<Self> {
        let expected =
            |at: usize, cells: usize| steady.ended(at + cells - 1) - steady.ended(at - 1);
        longest(timeline, span, &expected)
    }

    /// The longest one of users who each wait for their answer: they ask for nothing meanwhile, so that as many answers are
    /// expected as came in the cells that have some. It may last until the run's end (Unix ns).
    pub(super) fn of_users(timeline: &Timeline, (earliest, end): (i64, i64)) -> Option<Self> {
        let with_some = timeline.cells().filter(|cell| cell.answered > 0).count().max(1);
        let all: u64 = timeline.cells().map(|cell| cell.answered).sum();
        let mean = all as f64 / with_some as f64;
        longest(timeline, (earliest, end), &|_, cells| mean * cells as f64)
    }
}

/// The longest span of cells without an answer in which so many were expected.
fn longest(
    timeline: &Timeline,
    (earliest, end): (i64, i64),
    expected: &dyn Fn(usize, usize) -> f64,
) -> Option<Pause> {
    let width = timeline.width().0;
    let begin =
        |at: usize| timeline.start().saturating_add_unsigned(width.saturating_mul(at as u64));
    let cells: Vec<&Cell> = timeline.cells().collect();
    let first = cells.iter().position(|cell| cell.answered > 0)?;
    let last = (first..cells.len()).take_while(|at| begin(*at) < end).last()?;
    let spans = cells[first..=last].split(|cell| cell.answered > 0).scan(first, |at, span| {
        let from = *at;
        *at += span.len() + 1;
        Some((from, span.len()))
    });
    let is_pause = |(at, count): &(usize, usize)| {
        // The cells on both sides may have had a part of it each.
        width.saturating_mul(*count as u64 + 1) >= PAUSE_MIN.0
            && *at > 0
            && *count > 0
            && expected(*at, *count) >= PAUSE_ANSWERS_MIN
    };
    let (at, count) = spans.filter(is_pause).max_by_key(|(_, count)| *count)?;
    let seen = Nanos(width.saturating_mul(count as u64));
    let (before, after) = beside(cells[at - 1], cells[at], (seen, Nanos(width)));
    let at = Nanos(begin(at).abs_diff(earliest)).saturating_sub(before);
    let length = before + seen + after;
    (length >= PAUSE_MIN).then_some(Pause { at, length })
}

/// How much longer a pause was than the cells without an answer: in the cell before it, and in the one after it. Requests that were
/// due in the first of these cells have all waited for its end, and of those that were due before it the last ones have.
fn beside(last: &Cell, first: &Cell, (seen, width): (Nanos, Nanos)) -> (Nanos, Nanos) {
    if first.hits == 0 {
        // Users, who ask for nothing while they wait.
        let waited = last.response.quantile(1.0).clamp(seen, seen + width);
        return (waited - seen, Nanos::ZERO);
    }
    let after = (first.response.quantile(0.0) + width).clamp(seen, seen + width) - seen;
    let answered = last.response.count_below(seen) as f64;
    let waited = 1.0 - answered / last.response.count().max(1) as f64;
    (Nanos((width.0 as f64 * waited) as u64), after)
}
