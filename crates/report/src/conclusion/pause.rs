//! `Pause`: a time in which answers were expected and none came.

use metrics::{Cell, Timeline};
use stdx::Nanos;

use super::repeat::Repeat;
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
    /// Requests that waited for its end.
    pub(super) waited: u64,
    /// No answer came after it.
    pub(super) is_last: bool,
    /// All pauses, where there were several; this is the longest.
    pub(super) all: Option<Repeat>,
}

impl Pause {
    /// The longest one while requests were due; what comes before the first answer is the time that an answer takes.
    pub(super) fn of(timeline: &Timeline, steady: &Steady, span: (i64, i64)) -> Option<Self> {
        let expected =
            |at: usize, cells: usize| steady.ended(at + cells - 1) - steady.ended(at - 1);
        longest(timeline, span, &expected)
    }

    /// The longest one of so many users who each wait for their answer: they ask for nothing meanwhile, so that as many answers are
    /// expected as came in the cells that have some. It may last until the run's end (Unix ns).
    pub(super) fn of_users(timeline: &Timeline, users: u64, span: (i64, i64)) -> Option<Self> {
        let with_some = timeline.cells().filter(|cell| cell.answered > 0).count().max(1);
        let all: u64 = timeline.cells().map(|cell| cell.answered).sum();
        let mean = all as f64 / with_some as f64;
        let expected = |_: usize, cells: usize| mean * cells as f64;
        last(timeline, users, span, mean).or_else(|| longest(timeline, span, &expected))
    }
}

/// The pause after the last answer, in which all users waited: fewer have done what they were asked for.
fn last(timeline: &Timeline, users: u64, (earliest, end): (i64, i64), mean: f64) -> Option<Pause> {
    let cells: Vec<&Cell> = timeline.cells().collect();
    let after = cells.iter().rposition(|cell| cell.answered > 0)? + 1;
    let from = begin(timeline, after);
    let length = Nanos(end.saturating_sub(from).max(0).unsigned_abs());
    let expected = mean * length.0 as f64 / timeline.width().0.max(1) as f64;
    let waited = waited(timeline, from.saturating_add_unsigned(length.0 / 2));
    let is_pause = length >= PAUSE_MIN && expected >= PAUSE_ANSWERS_MIN && waited >= users.max(1);
    let at = Nanos(from.abs_diff(earliest));
    is_pause.then_some(Pause { at, length, waited, is_last: true, all: None })
}

/// The time (Unix ns) at which a cell begins.
fn begin(timeline: &Timeline, at: usize) -> i64 {
    timeline.start().saturating_add_unsigned(timeline.width().0.saturating_mul(at as u64))
}

/// Requests that were due before a moment (Unix ns) and ended after it.
fn waited(timeline: &Timeline, moment: i64) -> u64 {
    let late = |(at, cell): (usize, &Cell)| {
        let due = begin(timeline, at).saturating_add_unsigned(timeline.width().0 / 2);
        let least = Nanos(moment.saturating_sub(due).max(0).unsigned_abs());
        cell.response.count() - cell.response.count_below(least)
    };
    let before = timeline.cells().enumerate().filter(|(at, _)| begin(timeline, *at) < moment);
    before.map(late).sum()
}

/// The longest span of cells without an answer in which so many were expected.
fn longest(
    timeline: &Timeline,
    (earliest, end): (i64, i64),
    expected: &dyn Fn(usize, usize) -> f64,
) -> Option<Pause> {
    let width = timeline.width().0;
    let cells: Vec<&Cell> = timeline.cells().collect();
    let first = cells.iter().position(|cell| cell.answered > 0)?;
    let last = (first..cells.len()).take_while(|at| begin(timeline, *at) < end).last()?;
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
    let pause = |(at, count): (usize, usize)| {
        let seen = Nanos(width.saturating_mul(count as u64));
        let (before, after) = beside(cells[at - 1], cells[at], (seen, Nanos(width)));
        let from = Nanos(begin(timeline, at).abs_diff(earliest)).saturating_sub(before);
        let moment = begin(timeline, at).saturating_add_unsigned(seen.0);
        let waited = waited(timeline, moment);
        Pause { at: from, length: before + seen + after, waited, ..Pause::default() }
    };
    let pauses = spans.filter(is_pause).map(pause).filter(|one| one.length >= PAUSE_MIN);
    let pauses: Vec<Pause> = pauses.collect();
    let times: Vec<_> = pauses.iter().map(|one| (one.at, one.length)).collect();
    let longest = pauses.iter().max_by_key(|one| one.length)?;
    Some(Pause { all: Repeat::of(&times), ..*longest })
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
